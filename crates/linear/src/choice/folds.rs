//! Cross-validation.

use fewest_columns::{StandardOutput, Weights, deal, seeded_order};
use fewest_core::method::Regularization;
use fewest_core::{Classes, Context, Dataset, Error, PathChoice};

use super::{CHOSEN, Choice, Ladder, short};
use crate::columns::{LinearColumns, MOST_BYTES};

/// Duality gap to reach in the folds, relative to the objective at zero.
pub(crate) const FOLD_TOLERANCE: f64 = 1e-5;

/// No smaller penalty is tried where a fold has only this share of its loss at the largest left.
const LEFT: f64 = 1e-3;

/// The held-out losses of one fold at each of some penalties, or at the first of them.
pub(crate) type Fold<'a> = dyn Fn(&Held<'_>, &[f64]) -> Result<Vec<f64>, Error> + Sync + 'a;

/// The data of one fold.
pub(crate) struct Held<'a> {
    /// All samples; those of the fold have a weight of 0.
    pub(crate) training: &'a Dataset,
    /// What each sample of the fold counts, 0 for the others.
    pub(crate) test: &'a [f64],
    /// Bytes that copies of its standardised columns may take: folds are computed side by side.
    pub(crate) bytes: usize,
    pub(crate) context: &'a Context<'a>,
}

impl Held<'_> {
    /// The loss of the samples that are held out, from its mean over all samples and that over the others:
    /// also for a loss that is no sum over samples (Verweij and van Houwelingen 1993).
    ///
    /// `unknown` are samples of classes that no training sample has, left out of `all`; their loss is that of
    /// the share of their class.
    pub(crate) fn difference(&self, all: f64, training: f64, unknown: &Unknown) -> Losses {
        let held: f64 = self.test.iter().sum();
        let others: f64 = self.training.sample_weights().map_or(0.0, |weights| weights.iter().sum());
        let known = held - unknown.weight;
        Losses { training, held_out: (all * (known + others) - training * others + unknown.loss) / held }
    }

    /// The samples of the fold whose class, of `classes`, no training sample has.
    pub(crate) fn unknown(&self, classes: Option<&Classes>) -> Unknown {
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
pub(crate) struct Unknown {
    /// Whether a sample is one of them.
    pub(crate) rows: Vec<bool>,
    weight: f64,
    /// Their loss, all in all, by the constant that the shares of the classes are.
    loss: f64,
}

/// What the loss of a fitted model is, per unit of weight.
pub(crate) struct Losses {
    pub(crate) training: f64,
    pub(crate) held_out: f64,
}

/// The held-out loss at each of `lambdas`, or at the first of them, up to where the training samples are
/// fitted almost exactly.
pub(crate) fn fold_losses<L: Ladder>(
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

/// How a cross-validation chooses.
#[derive(Clone, Copy)]
pub(crate) struct CrossValidation {
    pub(crate) folds: usize,
    /// The largest penalty whose loss is within one standard error of the least, not that of the least.
    pub(crate) one_standard_error: bool,
}

impl CrossValidation {
    /// The cross-validation that a regularisation asks for, if it does.
    pub(crate) fn of(given: Regularization) -> Option<Self> {
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
pub(crate) fn cross_validate(
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
pub(super) fn least(values: &[f64]) -> Option<usize> {
    let finite = values.iter().enumerate().filter(|(_, value)| value.is_finite());
    finite.fold(None, |best: Option<usize>, (at, value)| match best {
        Some(best) if values[best] <= *value => Some(best),
        _ => Some(at),
    })
}

/// The losses `of` the errors of one fold, in units of the deviation that each output has in the `whole`;
/// summed over outputs. One that is the same in all training samples, such as the indicator of a class that
/// none of them has, is predicted to be that.
pub(crate) fn residual_losses(
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
