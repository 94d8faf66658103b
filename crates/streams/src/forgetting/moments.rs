//! Means, squared deviations and products of weighted samples: scores that forget.

use fewest_core::{Accumulator, Dataset, Error, Scores, Target, state};

use super::{FadingSums, StreamSums};
use crate::samples::refuse_category;

/// What is summed of some samples of one weight each: their weight, their mean, their squared deviations.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Moments {
    pub(super) weight: f64,
    mean: f64,
    pub(super) deviations: f64,
}

state!(Moments { weight, mean, deviations });

impl Moments {
    pub(super) fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let weight = values.clone().count() as f64;
        if weight == 0.0 {
            return Self::default();
        }
        let first = values.clone().next().unwrap_or(0.0);
        // From the first value, so that equal values have no deviation; two passes, centred before squaring.
        let offset = values.clone().map(|value| value - first).sum::<f64>() / weight;
        let deviations = values.map(|value| (value - first - offset).powi(2)).sum();
        Self { weight, mean: first + offset, deviations }
    }

    /// Those of both (Chan, Golub and LeVeque 1979).
    pub(super) fn merge(&mut self, other: &Self) {
        let weight = self.weight + other.weight;
        if weight > 0.0 {
            let difference = other.mean - self.mean;
            self.mean += difference * (other.weight / weight);
            self.deviations +=
                other.deviations + difference * difference * (self.weight * other.weight / weight);
            self.weight = weight;
        }
    }

    pub(super) fn fade(&mut self, factor: f64) {
        self.weight *= factor;
        self.deviations *= factor;
    }
}

/// The columns of a batch, checked.
pub(super) fn columns(batch: &Dataset, method: &'static str) -> Result<Vec<Vec<f64>>, Error> {
    batch.refuse_sample_weights(method)?;
    let (n, d) = (batch.n_samples(), batch.n_features());
    let column = |j: usize| {
        refuse_category(batch, j, method)?;
        let mut column = vec![0.0; n];
        batch.x().copy_column(j, &mut column)?;
        batch.check_finite(j, &column)?;
        check_squares(&column, method, || format!("feature {j} (counted from 0)"))?;
        Ok(column)
    };
    (0..d).map(column).collect()
}

/// Values up to this size have differences whose squares can be summed.
const LARGEST: f64 = 1e150;

/// # Errors
/// [`Error::Unsupported`] for values of `what` that are too large.
fn check_squares(values: &[f64], method: &'static str, what: impl Fn() -> String) -> Result<(), Error> {
    if values.iter().all(|value| value.abs() <= LARGEST) {
        return Ok(());
    }
    let what = format!("{}, whose squares are too large,", what());
    Err(Error::Unsupported { method, what, instead: "multiply its values by a constant first".to_owned() })
}

pub(super) fn same_length(expected: usize, found: usize) -> Result<(), Error> {
    if expected == found {
        return Ok(());
    }
    Err(Error::ShapeMismatch { what: "features of a batch", expected, found })
}

/// Sums for the F statistic of classes.
///
/// ```text
/// F(j) = [Σ_c w_c (μ_jc − μ_j)² / (C − 1)] / [Σ_c Σ_{i in c} wᵢ (x_ij − μ_jc)² / (w − C)]
/// ```
///
/// `w` are the weights of the samples, of those of a class and of all; `C` is the number of classes that have
/// a weight. It is the one-way analysis of variance where every weight is 1. A constant feature has score 0,
/// one that is constant within each class but not over all infinity.
///
/// Cost: `O(d)` a sample. Memory: `3 d` numbers for each class.
///
/// # Errors
/// A target without classes; other features or names of classes than in the first batch; categories of more
/// than two levels; values that are not finite, or whose squares are too large; sample weights. Scores need
/// two classes, and a weight above their number.
#[derive(Debug, Clone, Default)]
pub struct ClassSums {
    names: Vec<String>,
    n_features: usize,
    /// By feature, then by class.
    moments: Vec<Moments>,
}

state!(ClassSums { names, n_features, moments });

const CLASS_SUMS: &str = "the F statistic of a stream";

impl Accumulator for ClassSums {
    type Output = Scores;

    fn update(&mut self, batch: &Dataset) -> Result<(), Error> {
        let Target::Class(classes) = batch.target() else {
            let (method, expected) = (CLASS_SUMS, "classes");
            return Err(Error::UnsupportedTarget { method, expected, found: batch.target().describe() });
        };
        let columns = columns(batch, CLASS_SUMS)?;
        let n_classes = classes.n_classes();
        let mut moments = Vec::with_capacity(columns.len() * n_classes);
        for column in &columns {
            moments.extend((0..n_classes).map(|class| {
                let own =
                    column.iter().zip(classes.codes()).filter(move |(_, code)| **code as usize == class);
                Moments::of(own.map(|(value, _)| *value))
            }));
        }
        self.merge(Self { names: classes.names().to_vec(), n_features: columns.len(), moments })
    }

    fn merge(&mut self, later: Self) -> Result<(), Error> {
        if self.moments.is_empty() {
            *self = later;
            return Ok(());
        }
        if later.moments.is_empty() {
            return Ok(());
        }
        same_length(self.n_features, later.n_features)?;
        if self.names != later.names {
            let expected = format!(
                "{} as in the first batch: name all classes in every batch, in one order",
                self.names.join(", ")
            );
            return Err(Error::parameter("classes of a batch", later.names.join(", "), expected));
        }
        self.moments.iter_mut().zip(&later.moments).for_each(|(own, later)| own.merge(later));
        Ok(())
    }

    fn finish(self) -> Result<Scores, Error> {
        let n_classes = self.names.len();
        let of_first = self.moments.get(..n_classes).unwrap_or_default();
        let n_present = of_first.iter().filter(|own| own.weight > 0.0).count();
        if n_present < 2 {
            return Err(Error::TooFew { what: "classes with samples", minimum: 2, found: n_present });
        }
        let weight: f64 = of_first.iter().map(|own| own.weight).sum();
        let (between_freedom, within_freedom) = (n_present as f64 - 1.0, weight - n_present as f64);
        if within_freedom <= 0.0 {
            let what = "samples (more than there are classes)";
            return Err(Error::TooFew { what, minimum: n_present + 1, found: weight as usize });
        }
        let score = |own: &[Moments]| {
            let within: f64 = own.iter().map(|own| own.deviations).sum();
            let mut all = Moments::default();
            own.iter().for_each(|own| all.merge(&Moments { deviations: 0.0, ..*own }));
            match all.deviations {
                0.0 => 0.0,
                between => (between / between_freedom) / (within / within_freedom),
            }
        };
        Ok(Scores::descending(self.moments.chunks_exact(n_classes).map(score).collect()))
    }
}

impl FadingSums for ClassSums {
    fn fade(&mut self, factor: f64) {
        self.moments.iter_mut().for_each(|own| own.fade(factor));
    }
}

impl StreamSums for ClassSums {
    fn cleared(&self) -> Self {
        Self { moments: vec![Moments::default(); self.moments.len()], ..self.clone() }
    }

    fn weight(&self) -> f64 {
        self.moments.iter().take(self.names.len()).map(|own| own.weight).sum()
    }

    fn size(&self) -> usize {
        3 * self.moments.len()
    }
}

/// Sums for the correlation with a real target, or with two classes as 0 and 1.
///
/// ```text
/// score(j) = |Σᵢ wᵢ (x_ij − μ_j)(yᵢ − ν)| / √(Σᵢ wᵢ (x_ij − μ_j)² Σᵢ wᵢ (yᵢ − ν)²)      in [0, 1]
/// ```
///
/// It is the absolute Pearson correlation where every weight is 1; 0 for a constant feature, and for all
/// features while the target is constant.
///
/// Cost: `O(d)` a sample. Memory: `4 d` numbers.
///
/// # Errors
/// A target other than one real output or two classes; other features than in the first batch; categories
/// of more than two levels; values that are not finite, or whose squares are too large; sample weights.
/// Scores need a weight of 2.
#[derive(Debug, Clone, Default)]
pub struct CorrelationSums {
    /// Of the target, which has the weight.
    target: Moments,
    /// Of each feature, with its weighted products with the target, both centred.
    features: Vec<(Moments, f64)>,
}

state!(CorrelationSums { target, features });

const CORRELATION_SUMS: &str = "the correlation of a stream";

impl Accumulator for CorrelationSums {
    type Output = Scores;

    fn update(&mut self, batch: &Dataset) -> Result<(), Error> {
        let y: Vec<f64> = match batch.target() {
            Target::Real(outputs) if outputs.n_outputs() == 1 => outputs.output(0).to_vec(),
            Target::Class(classes) if classes.n_classes() == 2 => {
                classes.codes().iter().map(|&code| f64::from(code)).collect()
            }
            other => {
                let (method, expected) = (CORRELATION_SUMS, "one real output or two classes");
                return Err(Error::UnsupportedTarget { method, expected, found: other.describe() });
            }
        };
        check_squares(&y, CORRELATION_SUMS, || "a target".to_owned())?;
        let target = Moments::of(y.iter().copied());
        let sums = |column: Vec<f64>| {
            let own = Moments::of(column.iter().copied());
            let product = |(x, y): (&f64, &f64)| (x - own.mean) * (y - target.mean);
            (own, column.iter().zip(&y).map(product).sum::<f64>())
        };
        let features = columns(batch, CORRELATION_SUMS)?.into_iter().map(sums).collect();
        self.merge(Self { target, features })
    }

    fn merge(&mut self, later: Self) -> Result<(), Error> {
        if self.features.is_empty() {
            *self = later;
            return Ok(());
        }
        if later.features.is_empty() {
            return Ok(());
        }
        same_length(self.features.len(), later.features.len())?;
        let weight = self.target.weight + later.target.weight;
        if weight > 0.0 {
            let share = self.target.weight * later.target.weight / weight;
            let apart = later.target.mean - self.target.mean;
            for ((own, products), (other, others)) in self.features.iter_mut().zip(&later.features) {
                *products += others + (other.mean - own.mean) * apart * share;
                own.merge(other);
            }
        }
        self.target.merge(&later.target);
        Ok(())
    }

    fn finish(self) -> Result<Scores, Error> {
        if self.target.weight < 2.0 {
            let found = self.target.weight as usize;
            return Err(Error::TooFew { what: "samples", minimum: 2, found });
        }
        let spread = self.target.deviations.sqrt();
        let score = |(own, products): &(Moments, f64)| match own.deviations.sqrt() * spread {
            0.0 => 0.0,
            scale => (products / scale).abs().min(1.0),
        };
        Ok(Scores::descending(self.features.iter().map(score).collect()))
    }
}

impl FadingSums for CorrelationSums {
    fn fade(&mut self, factor: f64) {
        self.target.fade(factor);
        for (own, products) in &mut self.features {
            own.fade(factor);
            *products *= factor;
        }
    }
}

impl StreamSums for CorrelationSums {
    fn cleared(&self) -> Self {
        Self { target: Moments::default(), features: vec![(Moments::default(), 0.0); self.features.len()] }
    }

    fn weight(&self) -> f64 {
        self.target.weight
    }

    fn size(&self) -> usize {
        4 * self.features.len() + 3
    }
}
