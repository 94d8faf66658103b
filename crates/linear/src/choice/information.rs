//! Information criteria.

use fewest_core::{Error, Path, PathChoice};

use super::{Chosen, Ladder, short};
use crate::columns::LinearColumns;

/// Most coefficients that are not zero of a candidate of an information criterion, as a share of the samples:
/// the likelihood of a model that fits every sample has no bound.
const MOST_COEFFICIENTS: f64 = 0.5;

/// What an information criterion needs to know of a model.
#[derive(Clone, Copy)]
pub(crate) struct Likelihood<'a> {
    /// `−2 ln L` of fitted values, but for a constant.
    pub(crate) deviance: &'a dyn Fn(&[f64]) -> f64,
    /// What the likelihood is a product over: samples with a weight above 0, or events among them.
    pub(crate) n_observations: usize,
    /// Which of the two.
    pub(crate) what: &'static str,
    /// Number of coefficients to choose from.
    pub(crate) n_coefficients: usize,
}

/// The solution with the least extended Bayesian information criterion (Chen and Chen 2008, 2012) on the path
/// over `lambdas`,
///
/// ```text
/// −2 ln L + k ln n + 2γ k ln d
/// ```
///
/// with `d` coefficients to choose from and `k` of them that are not zero. For the lasso these are the
/// degrees of freedom of the fit (Zou, Hastie and Tibshirani 2007); under a penalty that shrinks more than it
/// must, such as a ridge, they are a bound. A model of more than `n/2` coefficients is no candidate: the
/// likelihood of one that fits every sample has no bound.
pub(crate) fn by_information<L: Ladder>(
    ladder: &mut L,
    gamma: f64,
    lambdas: &[f64],
    likelihood: &Likelihood<'_>,
) -> Result<Chosen<L::Fit>, Error> {
    let n = likelihood.n_observations as f64;
    let mut path = Path::default();
    let (mut values, mut kept, mut best) = (Vec::new(), None, None);
    let stopped = ladder.walk(lambdas, &mut |ladder, fit| {
        let step = ladder.step(&fit);
        if step.status.is_stopped() && best.is_some() {
            // Not the least deviance at its penalty.
            return Ok(false);
        }
        let at = path.points.len();
        path.push(lambdas[at], ladder.scores(&step).into_iter().collect());
        let k: usize = step.coefficients.iter().map(Vec::len).sum();
        let fits = k as f64 <= MOST_COEFFICIENTS * n;
        let value = match fits {
            true => {
                let deviance = (likelihood.deviance)(&ladder.fitted(&step)?);
                deviance + k as f64 * (n.ln() + 2.0 * gamma * (likelihood.n_coefficients as f64).ln())
            }
            false => f64::INFINITY,
        };
        let is_least = best.is_none_or(|best| value < best);
        values.push(value);
        if is_least {
            (kept, best) = (Some((fit, at)), Some(value));
        }
        Ok(fits)
    })?;
    let (mut fit, chosen) = kept.ok_or(Error::Stopped { before: "a feature had a coefficient" })?;
    let criterion = if gamma == 0.0 { "BIC".to_owned() } else { format!("EBIC with gamma = {gamma}") };
    let mut note = format!("lambda = {} has the least {criterion}", short(lambdas[chosen]));
    if let Some(status) = stopped {
        // Smaller penalties, which nobody has seen, may have less.
        L::end_with(&mut fit, status);
        note.push_str(" of those that were tried before the run was stopped");
    } else if values.last() == Some(&f64::INFINITY) {
        let (what, most) = (likelihood.what, (MOST_COEFFICIENTS * n).floor());
        note.push_str(&format!(
            "; smaller ones give more than {most} coefficients, half of the {n} {what}, and are no candidates"
        ));
    } else if chosen + 1 == values.len() {
        note.push_str("; it is the smallest that was tried");
    }
    path.choice = Some(PathChoice { criterion, values, standard_errors: Vec::new(), chosen });
    Ok(Chosen { fit, path, note })
}

/// `−2 ln L` of normal errors whose variance in each output is what is left of it.
pub(crate) fn normal_deviance(columns: &LinearColumns<'_>, fitted: &[f64]) -> f64 {
    let n = columns.n_samples();
    let weights = columns.weights();
    let outputs = columns.targets().iter().zip(fitted.chunks_exact(n.max(1)));
    let of_output = outputs.map(|(target, fitted)| {
        let square = |(i, (y, z)): (usize, (&f64, &f64))| {
            weights.map_or(1.0, |weights| weights.values()[i]) * (y - z).powi(2)
        };
        let mean = target.values.iter().zip(fitted).enumerate().map(square).sum::<f64>() / n as f64;
        columns.n_counting() as f64 * mean.max(f64::MIN_POSITIVE).ln()
    });
    of_output.sum()
}
