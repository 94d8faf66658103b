//! The penalty that the data choose: by cross-validation, or by an information criterion.

use std::collections::BTreeMap;

use fewest_columns::{StandardOutput, Weights, deal, seeded_order};
use fewest_core::method::Regularization;
use fewest_core::{Classes, Context, Dataset, Error, Path, PathChoice, Status};

use super::columns::{LinearColumns, MOST_BYTES};

/// Penalties tried, from the smallest that selects nothing down, evenly spaced in their logarithm.
const N_LAMBDAS: usize = 100;

/// The last of them as a share of the first: where there are more columns than samples, and else.
const SMALLEST_WIDE: f64 = 1e-2;
const SMALLEST_TALL: f64 = 1e-4;

/// Duality gap to reach in the folds, relative to the objective at zero.
pub(super) const FOLD_TOLERANCE: f64 = 1e-5;

/// No smaller penalty is tried where a fold has only this share of its loss at the largest left.
const LEFT: f64 = 1e-3;

/// Most coefficients that are not zero of a candidate of an information criterion, as a share of the samples:
/// the likelihood of a model that fits every sample has no bound.
const MOST_COEFFICIENTS: f64 = 0.5;

const CHOSEN: &str = "the penalty was chosen";

/// The coefficients at a penalty.
pub(super) struct Step {
    /// By output, those that are not zero, by increasing column.
    pub(super) coefficients: Vec<Vec<(usize, f64)>>,
    /// One an output, or none.
    pub(super) intercepts: Vec<f64>,
    pub(super) status: Status,
}

/// Looks at a solution, and says whether another is wanted.
pub(super) type Visit<'v, L> = dyn FnMut(&L, <L as Ladder>::Fit) -> Result<bool, Error> + 'v;

/// A linear model that can be solved at one penalty after the other.
pub(super) trait Ladder {
    /// A solution.
    type Fit;

    fn columns(&self) -> &LinearColumns<'_>;

    /// The smallest penalty that selects nothing.
    fn largest(&self) -> f64;

    /// Solves at each of `lambdas`, which decrease, from the one before, until `visit` says that no other is
    /// wanted or the run is stopped: then it returns how.
    ///
    /// # Errors
    /// Those of a solution and of `visit`; [`Error::Stopped`] where there is no solution yet.
    fn walk(&mut self, lambdas: &[f64], visit: &mut Visit<'_, Self>) -> Result<Option<Status>, Error>;

    fn step(&self, fit: &Self::Fit) -> Step;

    /// Makes `status` that of a solution.
    fn end_with(fit: &mut Self::Fit, status: Status);

    /// `X w + b`, output after output, with what has no penalty.
    ///
    /// # Errors
    /// Those of reading the columns.
    fn fitted(&self, step: &Step) -> Result<Vec<f64>, Error> {
        let columns = self.columns();
        let mut fitted = columns.fitted(&step.coefficients)?;
        for (fitted, intercept) in fitted.chunks_exact_mut(columns.n_samples().max(1)).zip(&step.intercepts) {
            fitted.iter_mut().for_each(|value| *value += intercept);
        }
        Ok(fitted)
    }

    /// The score of each feature with a coefficient.
    fn scores(&self, step: &Step) -> BTreeMap<usize, f64> {
        self.columns().feature_scores(&step.coefficients)
    }
}

/// Penalties from `first` to `last`, both among them, evenly spaced in their logarithm.
pub(super) fn spaced(first: f64, last: f64, n: usize) -> Vec<f64> {
    let share = |at: usize| 1.0 - at as f64 / (n.max(2) - 1) as f64;
    let mut lambdas: Vec<f64> = (0..n).map(|at| last * (first / last).powf(share(at))).collect();
    if let Some(end) = lambdas.last_mut() {
        *end = last;
    }
    lambdas
}

/// The solution at `lambda`, and the path of `n` penalties from the smallest that selects nothing down to it;
/// of it alone where that is no larger. Where the run is stopped before, the last one.
pub(super) fn down_to<L: Ladder>(ladder: &mut L, lambda: f64, n: usize) -> Result<(L::Fit, Path), Error> {
    let first = ladder.largest();
    let lambdas = if lambda < first { spaced(first, lambda, n) } else { vec![lambda] };
    let (mut path, mut last) = (Path::default(), None);
    ladder.walk(&lambdas, &mut |ladder, fit| {
        let scores = ladder.scores(&ladder.step(&fit));
        path.push(lambdas[path.points.len()], scores.into_iter().collect());
        last = Some(fit);
        Ok(true)
    })?;
    Ok((last.ok_or(Error::Stopped { before: "a feature had a coefficient" })?, path))
}

/// The penalties to choose from.
pub(super) fn candidates<L: Ladder>(ladder: &L) -> Vec<f64> {
    let columns = ladder.columns();
    let wide = columns.features().count() > columns.n_counting();
    let largest = ladder.largest();
    if largest == 0.0 {
        // No column is correlated with the target: every penalty selects nothing.
        return vec![0.0];
    }
    spaced(largest, largest * if wide { SMALLEST_WIDE } else { SMALLEST_TALL }, N_LAMBDAS)
}

/// The held-out losses of one fold at each of some penalties, or at the first of them.
pub(super) type Fold<'a> = dyn Fn(&Held<'_>, &[f64]) -> Result<Vec<f64>, Error> + Sync + 'a;

/// The data of one fold.
pub(super) struct Held<'a> {
    /// All samples; those of the fold have a weight of 0.
    pub(super) training: &'a Dataset,
    /// What each sample of the fold counts, 0 for the others.
    pub(super) test: &'a [f64],
    /// Bytes that copies of its standardised columns may take: folds are computed side by side.
    pub(super) bytes: usize,
    pub(super) context: &'a Context<'a>,
}

impl Held<'_> {
    /// The loss of the samples that are held out, from its mean over all samples and that over the others:
    /// also for a loss that is no sum over samples (Verweij and van Houwelingen 1993).
    ///
    /// `unknown` are samples of classes that no training sample has, left out of `all`; their loss is that of
    /// the share of their class.
    pub(super) fn difference(&self, all: f64, training: f64, unknown: &Unknown) -> Losses {
        let held: f64 = self.test.iter().sum();
        let others: f64 = self.training.sample_weights().map_or(0.0, |weights| weights.iter().sum());
        let known = held - unknown.weight;
        Losses { training, held_out: (all * (known + others) - training * others + unknown.loss) / held }
    }

    /// The samples of the fold whose class, of `classes`, no training sample has.
    pub(super) fn unknown(&self, classes: Option<&Classes>) -> Unknown {
        let n = self.test.len();
        let mut unknown = Unknown { rows: vec![false; n], weight: 0.0, loss: 0.0 };
        let Some(classes) = classes else { return unknown };
        let training = self.training.sample_weights().unwrap_or_default();
        let (mut learnt, mut sizes) = (vec![0.0; classes.n_classes()], vec![0.0; classes.n_classes()]);
        for ((&code, test), weight) in classes.codes().iter().zip(self.test).zip(training) {
            learnt[code as usize] += weight;
            sizes[code as usize] += weight + test;
        }
        let total: f64 = sizes.iter().sum();
        for ((i, &code), weight) in classes.codes().iter().enumerate().zip(self.test) {
            if *weight > 0.0 && learnt[code as usize] == 0.0 {
                unknown.rows[i] = true;
                unknown.weight += weight;
                unknown.loss -= weight * (sizes[code as usize] / total).ln();
            }
        }
        unknown
    }
}

/// Samples of a fold of which its model can say nothing.
pub(super) struct Unknown {
    /// Whether a sample is one of them.
    pub(super) rows: Vec<bool>,
    weight: f64,
    /// Their loss, all in all, by the constant that the shares of the classes are.
    loss: f64,
}

/// What the loss of a fitted model is, per unit of weight.
pub(super) struct Losses {
    pub(super) training: f64,
    pub(super) held_out: f64,
}

/// The held-out loss at each of `lambdas`, or at the first of them, up to where the training samples are
/// fitted almost exactly.
pub(super) fn fold_losses<L: Ladder>(
    ladder: &mut L,
    lambdas: &[f64],
    losses: impl Fn(&[f64]) -> Losses,
) -> Result<Vec<f64>, Error> {
    let (mut found, mut first) = (Vec::new(), None);
    let stopped = ladder.walk(lambdas, &mut |ladder, fit| {
        let step = ladder.step(&fit);
        let losses = losses(&ladder.fitted(&step)?);
        found.push(losses.held_out);
        Ok(losses.training > LEFT * *first.get_or_insert(losses.training))
    })?;
    // Part of the losses of a fold would be compared with all of another's.
    stopped.map_or(Ok(found), |_| Err(Error::Stopped { before: CHOSEN }))
}

/// The penalties tried, and the one that was chosen.
pub(super) struct Choice {
    lambdas: Vec<f64>,
    how: PathChoice,
    note: String,
}

/// How a cross-validation chooses.
#[derive(Clone, Copy)]
pub(super) struct CrossValidation {
    pub(super) folds: usize,
    /// The largest penalty whose loss is within one standard error of the least, not that of the least.
    pub(super) one_standard_error: bool,
}

impl CrossValidation {
    /// The cross-validation that a regularisation asks for, if it does.
    pub(super) fn of(given: Regularization) -> Option<Self> {
        match given {
            Regularization::CrossValidated { folds } => Some(Self { folds, one_standard_error: false }),
            Regularization::OneStandardError { folds } => Some(Self { folds, one_standard_error: true }),
            _ => None,
        }
    }
}

/// Chooses among `lambdas` by the loss of samples that were held out; `fold` computes it for one fold.
///
/// Samples are dealt to the folds in an order that the seed decides, class by class. The mean over folds
/// counts each by the weight of its samples, and so does its standard error.
pub(super) fn cross_validate(
    rule: CrossValidation,
    data: &Dataset,
    lambdas: Vec<f64>,
    context: &Context<'_>,
    fold: &Fold<'_>,
) -> Result<Choice, Error> {
    let n = data.n_samples();
    // Of a sum that cannot overflow.
    let all = Weights::of(data)?.map_or_else(|| vec![1.0; n], |weights| weights.values().to_vec());
    let mut rows = seeded_order(data, context.seed);
    rows.retain(|&row| all[row] > 0.0);
    let places: Vec<usize> = (0..rows.len()).collect();
    let of_place = deal(&places, rule.folds, "lambda_folds")?;
    let bytes = MOST_BYTES / rule.folds;
    // Progress is reported from one thread.
    let inner = Context { progress: None, ..*context };
    let found = fewest_parallel::try_map(rule.folds, |at| {
        let (mut training, mut test) = (all.clone(), vec![0.0; n]);
        for (&row, _) in rows.iter().zip(&of_place).filter(|(_, fold)| **fold == at) {
            (training[row], test[row]) = (0.0, all[row]);
        }
        let training = data.clone().with_sample_weights(training)?;
        let losses = fold(&Held { training: &training, test: &test, bytes, context: &inner }, &lambdas)
            .map_err(|error| error.in_fold("lambda_folds", at + 1))?;
        Ok::<_, Error>((test.iter().sum::<f64>(), losses))
    })?;
    let n_tried = found.iter().map(|(_, losses)| losses.len()).min().unwrap_or(0);
    let total: f64 = found.iter().map(|(weight, _)| weight).sum();
    let mean = |at: usize| found.iter().map(|(weight, losses)| weight * losses[at]).sum::<f64>() / total;
    let values: Vec<f64> = (0..n_tried).map(mean).collect();
    let error = |(at, mean): (usize, &f64)| {
        let squares: f64 = found.iter().map(|(weight, losses)| weight * (losses[at] - mean).powi(2)).sum();
        (squares / total / (rule.folds - 1) as f64).sqrt()
    };
    let standard_errors: Vec<f64> = values.iter().enumerate().map(error).collect();
    let best = least(&values).ok_or(Error::Numerical {
        what: "the cross-validation that chooses lambda",
        hint: "no penalty has a finite loss in every fold: fewer folds leave more samples to learn from"
            .to_owned(),
    })?;
    let allowed = values[best] + standard_errors[best];
    let chosen = match rule.one_standard_error {
        true => values.iter().position(|value| *value <= allowed).unwrap_or(best),
        false => best,
    };
    let told = format!(
        "{} ± {} in a cross-validation of {} folds",
        short(values[best]),
        short(standard_errors[best]),
        rule.folds
    );
    let mut note = match rule.one_standard_error {
        true => format!(
            "lambda = {} is the largest whose loss is within one standard error of the least, {told}",
            short(lambdas[chosen])
        ),
        false => format!("lambda = {} has the least loss, {told}", short(lambdas[chosen])),
    };
    if chosen + 1 == n_tried {
        note.push_str("; it is the smallest that was tried");
    }
    let lambdas = lambdas[..n_tried].to_vec();
    let criterion = "cross-validated loss".to_owned();
    Ok(Choice { lambdas, how: PathChoice { criterion, values, standard_errors, chosen }, note })
}

/// The place of the least of some values, of equal ones the first; `None` where none is finite.
fn least(values: &[f64]) -> Option<usize> {
    let finite = values.iter().enumerate().filter(|(_, value)| value.is_finite());
    finite.fold(None, |best: Option<usize>, (at, value)| match best {
        Some(best) if values[best] <= *value => Some(best),
        _ => Some(at),
    })
}

/// Three digits, for notes.
fn short(value: f64) -> String {
    let digits = (2.0 - value.abs().log10().floor()).clamp(0.0, 9.0);
    if value == 0.0 || !digits.is_finite() {
        value.to_string()
    } else {
        format!("{value:.*}", digits as usize)
    }
}

/// A solution, the path it is on, and what is to be told.
pub(super) struct Chosen<F> {
    pub(super) fit: F,
    pub(super) path: Path,
    pub(super) note: String,
}

/// The solution at the penalty that was chosen, with the path over all that were tried. Where the run is
/// stopped before, the last one.
pub(super) fn solve<L: Ladder>(ladder: &mut L, choice: Choice) -> Result<Chosen<L::Fit>, Error> {
    let Choice { lambdas, how, note } = choice;
    let mut path = Path::default();
    let mut kept = None;
    let stopped = ladder.walk(&lambdas, &mut |ladder, fit| {
        let step = ladder.step(&fit);
        let at = path.points.len();
        path.push(lambdas[at], ladder.scores(&step).into_iter().collect());
        if at <= how.chosen {
            kept = Some(fit);
        }
        Ok(true)
    })?;
    let is_whole = path.points.len() > how.chosen;
    path.choice = is_whole.then_some(how).map(|how| cut(how, path.points.len()));
    let note = match (is_whole, stopped) {
        (false, _) => format!("the run was stopped on the way to the penalty: {note}"),
        (true, Some(_)) => format!("{note}; the run was stopped: the path to smaller penalties is cut"),
        (true, None) => note,
    };
    let mut fit = kept.ok_or(Error::Stopped { before: "a feature had a coefficient" })?;
    if let Some(status) = stopped {
        L::end_with(&mut fit, status);
    }
    Ok(Chosen { fit, path, note })
}

/// The values at the points that a path has.
fn cut(mut how: PathChoice, n_points: usize) -> PathChoice {
    how.values.truncate(n_points);
    how.standard_errors.truncate(n_points);
    how
}

/// What an information criterion needs to know of a model.
#[derive(Clone, Copy)]
pub(super) struct Likelihood<'a> {
    /// `−2 ln L` of fitted values, but for a constant.
    pub(super) deviance: &'a dyn Fn(&[f64]) -> f64,
    /// What the likelihood is a product over: samples with a weight above 0, or events among them.
    pub(super) n_observations: usize,
    /// Which of the two.
    pub(super) what: &'static str,
    /// Number of coefficients to choose from.
    pub(super) n_coefficients: usize,
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
pub(super) fn by_information<L: Ladder>(
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
pub(super) fn normal_deviance(columns: &LinearColumns<'_>, fitted: &[f64]) -> f64 {
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

/// The losses `of` the errors of one fold, in units of the deviation that each output has in the `whole`;
/// summed over outputs. One that is the same in all training samples, such as the indicator of a class that
/// none of them has, is predicted to be that.
pub(super) fn residual_losses(
    columns: &LinearColumns<'_>,
    whole: &[StandardOutput],
    test: &[f64],
    fitted: &[f64],
    of: impl Fn(f64) -> f64,
) -> Losses {
    let n = columns.n_samples();
    let training = columns.weights().map_or(&[][..], |weights| weights.values());
    let mut losses = Losses { training: 0.0, held_out: 0.0 };
    let total: f64 = test.iter().sum();
    let learnt = |output: &StandardOutput| columns.targets().iter().any(|own| own.number == output.number);
    for output in whole.iter().filter(|output| !learnt(output)) {
        let constant = training.iter().position(|weight| *weight > 0.0).map_or(0.0, |i| output.values[i]);
        let squares = output.values.iter().zip(test).map(|(y, weight)| weight * of(y - constant));
        losses.held_out += squares.sum::<f64>() / total;
    }
    for (target, fitted) in columns.targets().iter().zip(fitted.chunks_exact(n.max(1))) {
        let of_whole = whole.iter().find(|output| output.number == target.number);
        let unit = of_whole.map_or(1.0, |output| target.deviation / output.deviation);
        for (i, (y, z)) in target.values.iter().zip(fitted).enumerate() {
            let loss = of(unit * (y - z));
            losses.training += training.get(i).copied().unwrap_or(1.0) * loss / n as f64;
            losses.held_out += test[i] * loss / total;
        }
    }
    losses
}

#[cfg(test)]
mod tests;
