//! From a target to machines of two classes or of numbers, and from their weights to features.

use fewest_core::{Budget, Context, Dataset, Error, Selection, SolverReport, Status, order, words};
use fewest_solver::Control;

use super::design::Design;

words! {
    /// How a machine of two classes serves more of them.
    #[derive(Default)]
    pub enum Multiclass {
        /// A machine for each class against all others.
        #[default]
        OneVsRest = "one-vs-rest",
        /// A machine for each pair of classes, on the samples of these two.
        OneVsOne = "one-vs-one",
    }
}

/// Most machines of pairs of classes: of a thousand classes.
const MOST_PAIRS: usize = 500_000;

/// The error of a run that ended before all machines were trained.
pub(super) const TRAINED: &str = "every machine was trained";

/// A problem of two classes.
#[derive(Debug, Clone)]
pub(super) struct Binary {
    /// Its samples; `None`: all.
    pub(super) rows: Option<Vec<usize>>,
    /// Whether each of them is of the second class.
    pub(super) positive: Vec<bool>,
}

impl Binary {
    /// The samples of `design` that the problem is about; `None`: all.
    pub(super) fn samples(&self, design: &Design) -> Option<Design> {
        self.rows.as_ref().map(|rows| design.subset(rows))
    }

    /// `y`, −1 or +1.
    pub(super) fn labels(&self) -> Vec<f64> {
        self.positive.iter().map(|&positive| if positive { 1.0 } else { -1.0 }).collect()
    }
}

/// The [`binaries`] of `data` and its columns, for a budget that is in range.
pub(super) fn two_classes(
    data: &Dataset,
    budget: Budget,
    method: &'static str,
    multiclass: Multiclass,
    context: &Context<'_>,
) -> Result<(Vec<Binary>, Design), Error> {
    budget.check(data.n_features())?;
    Ok((binaries(data, method, multiclass)?, Design::new(data, method, context)?))
}

/// The problems of two classes that the target's classes make; of two classes the larger code is the positive
/// one.
pub(super) fn binaries(
    data: &Dataset,
    method: &'static str,
    multiclass: Multiclass,
) -> Result<Vec<Binary>, Error> {
    let classes = data.classes(method)?;
    let (codes, occurring) = (classes.codes(), classes.occurring());
    let against_rest =
        |&class: &u32| Binary { rows: None, positive: codes.iter().map(|&code| code == class).collect() };
    match (occurring.as_slice(), multiclass) {
        ([] | [_], _) => {
            Err(Error::TooFew { what: "classes with a sample", minimum: 2, found: occurring.len() })
        }
        ([_, second], _) => Ok(vec![against_rest(second)]),
        (_, Multiclass::OneVsRest) => Ok(occurring.iter().map(against_rest).collect()),
        (classes, Multiclass::OneVsOne) => {
            let n_pairs = classes.len() * (classes.len() - 1) / 2;
            if n_pairs > MOST_PAIRS {
                return Err(Error::Unsupported {
                    method,
                    what: format!("a machine for each of the {n_pairs} pairs of {} classes", classes.len()),
                    instead: "take `multiclass=one-vs-rest`".to_owned(),
                });
            }
            let pair = |([_, second], rows): ([u32; 2], Vec<usize>)| {
                let positive = rows.iter().map(|&i| codes[i] == second).collect();
                Binary { rows: Some(rows), positive }
            };
            Ok(order::code_pairs(codes).map(pair).collect())
        }
    }
}

/// The score of each feature: the weight where it has a single one, else the Euclidean norm of those of its
/// columns and of all machines.
pub(super) fn feature_scores(design: &Design, machines: &[Vec<f64>]) -> Vec<f64> {
    let mut scores = vec![0.0_f64; design.n_features()];
    let mut n_weights = vec![0_usize; design.n_features()];
    for weights in machines {
        for (j, &w) in weights.iter().enumerate() {
            let feature = design.feature(j);
            scores[feature] = if n_weights[feature] == 0 { w } else { scores[feature].hypot(w) };
            n_weights[feature] += 1;
        }
    }
    for (score, n) in scores.iter_mut().zip(n_weights) {
        if n > 1 {
            *score = score.abs();
        }
    }
    scores
}

/// The features whose score is not 0, by its size, within the budget; `no_others` says why there are no more,
/// and what to do.
///
/// # Errors
/// [`Error::Stopped`] where there is none since the run was stopped.
pub(super) fn select(
    scores: &[f64],
    budget: Budget,
    report: SolverReport,
    no_others: &str,
) -> Result<Selection, Error> {
    let weights = scores.iter().copied().enumerate().filter(|(_, score)| *score != 0.0).collect();
    let mut selection = Selection::by_weight(weights, scores.len(), budget, report.status);
    selection.note_missing_features(budget, no_others);
    selection.solver = Some(report);
    selection.unless_stopped_before("a feature had a weight")
}

/// One report of several machines: objectives and iterations added up, the largest gap, the worst status.
pub(super) fn combined(reports: impl IntoIterator<Item = SolverReport>) -> Option<SolverReport> {
    reports.into_iter().reduce(|mut whole, other| {
        whole.status = Status::worst([whole.status, other.status]);
        whole.objective += other.objective;
        whole.certificate = whole.certificate.worse(other.certificate);
        whole.iterations += other.iterations;
        whole
    })
}

/// Why there are no more features where each that varies has a weight.
pub(super) const NO_OTHERS: &str = "the others have a weight of 0, as constant features have";

/// When a solver within a method stops.
pub(super) fn control<'a>(tolerance: f64, context: &Context<'a>) -> Result<Control<'a>, Error> {
    let control = Control { tolerance, max_iterations: u64::MAX, ..Control::from(context) };
    control.check()?;
    Ok(control)
}

/// [`Error::InvalidParameter`] unless `value` is above 0 and finite.
pub(super) fn check_positive(name: &'static str, value: f64) -> Result<(), Error> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::parameter(name, value, "above 0 and finite"))
}
