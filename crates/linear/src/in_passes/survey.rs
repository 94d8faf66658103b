//! What the first pass sums of each feature and of the target, and what standardises them.

use std::ops::Range;

use fewest_columns::ColumnSums;
use fewest_columns::moments::{Moments, is_safe};
use fewest_core::{Column, Error, FeatureKind, State, Target, order};

/// What is summed of a feature, with what is summed of the target.
#[derive(Clone)]
pub(super) struct Sums {
    pub(super) n: usize,
    feature: FeatureSums,
    target: TargetSums,
}

fewest_core::state!(Sums { n, feature, target });

#[derive(Clone)]
pub(super) enum FeatureSums {
    Number(Moments),
    /// Levels that occur, by increasing value, each with its number of samples.
    Levels(Vec<(f64, usize)>),
}

#[derive(Clone)]
pub(super) enum TargetSums {
    /// Of each output.
    Real(Vec<Moments>),
    /// Samples of each class.
    Classes(Vec<usize>),
}

/// A number, or something for each level or class.
impl State for FeatureSums {
    fn save(&self, to: &mut Vec<u8>) {
        let (number, levels) = match self {
            Self::Number(moments) => (Some(*moments), Vec::new()),
            Self::Levels(levels) => (None, levels.clone()),
        };
        (number, levels).save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let (number, levels): (Option<Moments>, _) = State::load(from)?;
        Ok(number.map_or(Self::Levels(levels), Self::Number))
    }
}

impl State for TargetSums {
    fn save(&self, to: &mut Vec<u8>) {
        let (real, classes) = match self {
            Self::Real(outputs) => (Some(outputs.clone()), Vec::new()),
            Self::Classes(counts) => (None, counts.clone()),
        };
        (real, classes).save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let (real, classes): (Option<Vec<Moments>>, _) = State::load(from)?;
        Ok(real.map_or(Self::Classes(classes), Self::Real))
    }
}

pub(super) struct Survey {
    pub(super) method: &'static str,
}

impl ColumnSums for Survey {
    type Batch = (usize, TargetSums);
    type Sums = Sums;

    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<Self::Batch, Error> {
        let n = rows.len();
        let sums = match target {
            Target::Real(real) => {
                let of = |o: usize| Moments::new(&real.output(o)[rows.clone()], 0);
                TargetSums::Real((0..real.n_outputs()).map(of).collect())
            }
            Target::Class(classes) => {
                let mut counts = vec![0; classes.n_classes()];
                classes.codes()[rows].iter().for_each(|&code| counts[code as usize] += 1);
                TargetSums::Classes(counts)
            }
            other => return Err(unsupported_target(self.method, other.describe())),
        };
        Ok((n, sums))
    }

    fn sums(
        &self,
        _: usize,
        kind: &FeatureKind,
        (n, target): &Self::Batch,
        column: Column<'_>,
    ) -> Result<Sums, Error> {
        let feature = match kind {
            FeatureKind::Categorical { .. } => {
                // Both zeros are one level.
                let levels = column.to_vec(*n).into_iter().map(|level| level + 0.0).collect();
                FeatureSums::Levels(order::counted(levels))
            }
            _ => FeatureSums::Number(Moments::of(column, *n)),
        };
        Ok(Sums { n: *n, feature, target: target.clone() })
    }

    fn merge(&self, sums: &mut Sums, later: Sums) {
        match (&mut sums.feature, later.feature) {
            (FeatureSums::Number(own), FeatureSums::Number(other)) => own.merge(sums.n, &other, later.n),
            (FeatureSums::Levels(own), FeatureSums::Levels(other)) => {
                for (level, count) in other {
                    match own.binary_search_by(|(known, _)| known.total_cmp(&level)) {
                        Ok(at) => own[at].1 += count,
                        Err(at) => own.insert(at, (level, count)),
                    }
                }
            }
            // One feature is of one kind in all batches of a table.
            _ => {}
        }
        match (&mut sums.target, later.target) {
            (TargetSums::Real(own), TargetSums::Real(other)) => {
                own.iter_mut().zip(other).for_each(|(own, other)| own.merge(sums.n, &other, later.n));
            }
            (TargetSums::Classes(own), TargetSums::Classes(other)) => {
                own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
            }
            // One target is of one kind in all batches.
            _ => {}
        }
        sums.n += later.n;
    }
}

pub(super) fn unsupported_target(method: &'static str, found: String) -> Error {
    Error::UnsupportedTarget { method, expected: "real outputs or classes that vary", found }
}

/// A column of mean 0 and standard deviation 1: `(value / divisor − origin − offset) / deviation`, of a level
/// `1` or `0` in place of the value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standardised {
    level: Option<f64>,
    divisor: f64,
    /// A value, from which the others differ by what can be squared.
    origin: f64,
    /// The mean less `origin`.
    offset: f64,
    /// 0 of one that does not vary.
    deviation: f64,
}

fewest_core::state!(Standardised { level, divisor, origin, offset, deviation });

impl Standardised {
    fn of_moments(moments: &Moments, n: usize, divisor: f64) -> Self {
        let deviation = (moments.deviations / n as f64).sqrt();
        let origin = moments.origin;
        Self { level: None, divisor, origin, offset: moments.mean_from(origin), deviation }
    }

    /// The indicator of what occurs `count` times in `n`.
    fn of_level(level: f64, count: usize, n: usize) -> Self {
        let share = count as f64 / n as f64;
        let deviation = (share * ((n - count) as f64 / n as f64)).sqrt();
        Self { level: Some(level), divisor: 1.0, origin: 0.0, offset: share, deviation }
    }

    pub(super) fn write(&self, values: &[f64], out: &mut [f64]) {
        if self.deviation == 0.0 {
            out.fill(0.0);
            return;
        }
        let Self { level, divisor, origin, offset, deviation } = *self;
        let inverse = deviation.recip();
        let each = out.iter_mut().zip(values);
        match level {
            Some(level) => {
                each.for_each(|(out, value)| *out = (f64::from(*value == level) - offset) * inverse)
            }
            // A division takes longer than all of the rest.
            None if divisor == 1.0 => {
                each.for_each(|(out, value)| *out = ((value - origin) - offset) * inverse);
            }
            None => each.for_each(|(out, value)| *out = ((value / divisor - origin) - offset) * inverse),
        }
    }
}

/// The columns of a feature, each with its level where there is one for each.
pub(super) type Columns = Vec<(Option<f64>, Standardised)>;

/// The columns of the feature with these sums, of values divided by `divisor`.
pub(super) fn columns_of(sums: &Sums, divisor: f64) -> Columns {
    let n = sums.n;
    match &sums.feature {
        FeatureSums::Number(moments) => vec![(None, Standardised::of_moments(moments, n, divisor))],
        FeatureSums::Levels(levels) if levels.len() > 2 => levels
            .iter()
            .map(|&(level, count)| (Some(level), Standardised::of_level(level, count, n)))
            .collect(),
        // The larger of two codes against the other.
        FeatureSums::Levels(levels) => {
            let &(level, count) = levels.last().unwrap_or(&(0.0, n));
            vec![(None, Standardised::of_level(level, count, n))]
        }
    }
}

/// The outputs that vary: each a number of an output, or a class, with what standardises it.
pub(super) fn outputs_of(sums: &Sums, method: &'static str) -> Result<Vec<(usize, Standardised)>, Error> {
    let outputs: Vec<(usize, Standardised)> = match &sums.target {
        TargetSums::Real(outputs) => {
            // Squares of what differs by little may vanish.
            let differs = |moments: &Moments| moments.mean_from(moments.origin) != 0.0;
            let varies = |moments: &Moments| moments.deviations != 0.0 || differs(moments);
            let varying = outputs.iter().enumerate().filter(|(_, moments)| varies(moments));
            let standardised = |(o, moments): (usize, &Moments)| {
                if !is_safe(moments.deviations) {
                    let hint = "take the target in another unit: its squares overflow or vanish".to_owned();
                    return Err(Error::Numerical { what: "the variance of the target", hint });
                }
                Ok((o, Standardised::of_moments(moments, sums.n, 1.0)))
            };
            varying.map(standardised).collect::<Result<_, _>>()?
        }
        TargetSums::Classes(counts) => {
            let mut occurring: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 0).collect();
            if occurring.len() <= 2 {
                // One class is no target, and of two the second says it.
                occurring.drain(..1.min(occurring.len()));
            }
            let output = |class: usize| (class, Standardised::of_level(class as f64, counts[class], sums.n));
            occurring.into_iter().map(output).collect()
        }
    };
    if outputs.is_empty() {
        return Err(unsupported_target(method, "the same in every sample".to_owned()));
    }
    Ok(outputs)
}

impl Sums {
    /// Whether no square has overflowed or vanished.
    pub(super) fn is_safe(&self) -> bool {
        match &self.feature {
            FeatureSums::Number(moments) => is_safe(moments.deviations),
            FeatureSums::Levels(_) => true,
        }
    }
}
