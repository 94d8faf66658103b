//! The sums behind the scores of the command.

use fewest_core::{Accumulator, Dataset, Error, FadingScore, Scores, State, Target};

use super::moments::{Moments, columns, same_length};
use super::{ClassSums, CorrelationSums, FadingSums, StreamSums};

/// Sums for the variance, `Σᵢ wᵢ (x_ij − μ_j)² / Σᵢ wᵢ`.
///
/// Cost: `O(d)` a sample. Memory: `3 d` numbers.
///
/// # Errors
/// Other features than in the first batch; categories of more than two levels; values that are not finite, or
/// whose squares are too large; sample weights.
#[derive(Debug, Clone, Default)]
pub struct VarianceSums(Vec<Moments>);

impl State for VarianceSums {
    fn save(&self, to: &mut Vec<u8>) {
        self.0.save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        State::load(from).map(Self)
    }
}

impl Accumulator for VarianceSums {
    type Output = Scores;

    fn update(&mut self, batch: &Dataset) -> Result<(), Error> {
        let columns = columns(batch, "the variance of a stream")?;
        self.merge(Self(columns.iter().map(|column| Moments::of(column.iter().copied())).collect()))
    }

    fn merge(&mut self, later: Self) -> Result<(), Error> {
        if self.0.is_empty() {
            *self = later;
            return Ok(());
        }
        if later.0.is_empty() {
            return Ok(());
        }
        same_length(self.0.len(), later.0.len())?;
        self.0.iter_mut().zip(&later.0).for_each(|(own, later)| own.merge(later));
        Ok(())
    }

    fn finish(self) -> Result<Scores, Error> {
        if self.weight() == 0.0 {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        }
        Ok(Scores::descending(self.0.iter().map(|own| own.deviations / own.weight).collect()))
    }
}

impl StreamSums for VarianceSums {
    fn cleared(&self) -> Self {
        Self(vec![Moments::default(); self.0.len()])
    }

    fn weight(&self) -> f64 {
        self.0.first().map_or(0.0, |own| own.weight)
    }

    fn size(&self) -> usize {
        3 * self.0.len()
    }
}

impl FadingSums for VarianceSums {
    fn fade(&mut self, factor: f64) {
        self.0.iter_mut().for_each(|own| own.fade(factor));
    }
}

/// The sums of a [`FadingScore`].
///
/// ```text
/// F             of classes that of ClassSums; of a real target r² (w − 2) / (1 − r²), r the correlation
/// correlation   that of CorrelationSums
/// variance      that of VarianceSums
/// ```
///
/// `w` is the weight of all samples. The target of the first batch says which F it is. With equal weights the
/// scores are those of `f-score`, `correlation` and `variance` but for rounding.
///
/// # Errors
/// Those of the sums; a target of another kind than that of the first batch.
#[derive(Debug, Clone)]
pub struct ScoreSums {
    score: FadingScore,
    sums: Sums,
}

#[derive(Debug, Clone)]
enum Sums {
    /// Before any sample.
    None,
    Classes(ClassSums),
    Products(CorrelationSums),
    Spread(VarianceSums),
}

/// The same for all sums, whichever they are.
macro_rules! each {
    ($sums:expr, $none:expr, $own:ident => $then:expr) => {
        match $sums {
            Sums::None => $none,
            Sums::Classes($own) => $then,
            Sums::Products($own) => $then,
            Sums::Spread($own) => $then,
        }
    };
}

impl State for Sums {
    fn save(&self, to: &mut Vec<u8>) {
        let kind = match self {
            Self::None => 0_u8,
            Self::Classes(_) => 1,
            Self::Products(_) => 2,
            Self::Spread(_) => 3,
        };
        kind.save(to);
        each!(self, (), own => own.save(to));
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        Ok(match u8::load(from)? {
            0 => Self::None,
            1 => Self::Classes(State::load(from)?),
            2 => Self::Products(State::load(from)?),
            3 => Self::Spread(State::load(from)?),
            other => return Err(Error::parameter("sums in a state", other, "a number below 4")),
        })
    }
}

impl State for ScoreSums {
    fn save(&self, to: &mut Vec<u8>) {
        let score = match self.score {
            FadingScore::Correlation => 1_u8,
            FadingScore::Variance => 2,
            _ => 0,
        };
        score.save(to);
        self.sums.save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let score = match u8::load(from)? {
            0 => FadingScore::F,
            1 => FadingScore::Correlation,
            2 => FadingScore::Variance,
            other => return Err(Error::parameter("score in a state", other, "a number below 3")),
        };
        Ok(Self { score, sums: State::load(from)? })
    }
}

impl ScoreSums {
    /// Of no samples.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a score that has no sums here.
    pub fn new(score: FadingScore) -> Result<Self, Error> {
        match score {
            FadingScore::F | FadingScore::Correlation | FadingScore::Variance => {
                Ok(Self { score, sums: Sums::None })
            }
            _ => Err(FadingScore::missing()),
        }
    }
}

impl Accumulator for ScoreSums {
    type Output = Scores;

    fn update(&mut self, batch: &Dataset) -> Result<(), Error> {
        let begun = match (&self.sums, self.score, batch.target()) {
            (Sums::None, FadingScore::Variance, _) => Sums::Spread(VarianceSums::default()),
            (Sums::None, FadingScore::F, Target::Class(_)) => Sums::Classes(ClassSums::default()),
            (Sums::None, ..) => Sums::Products(CorrelationSums::default()),
            (begun, ..) => begun.clone(),
        };
        let mut sums = begun;
        each!(&mut sums, Ok(()), own => own.update(batch))?;
        self.sums = sums;
        Ok(())
    }

    fn merge(&mut self, later: Self) -> Result<(), Error> {
        match (&mut self.sums, later.sums) {
            (_, Sums::None) => Ok(()),
            (own @ Sums::None, later) => {
                *own = later;
                Ok(())
            }
            (Sums::Classes(own), Sums::Classes(later)) => own.merge(later),
            (Sums::Products(own), Sums::Products(later)) => own.merge(later),
            (Sums::Spread(own), Sums::Spread(later)) => own.merge(later),
            _ => Err(Error::parameter("target of a batch", "of another kind", "that of the first batch")),
        }
    }

    fn finish(self) -> Result<Scores, Error> {
        let weight = self.weight();
        let of_line = self.score == FadingScore::F && matches!(self.sums, Sums::Products(_));
        let few = || Error::TooFew { what: "samples", minimum: 3, found: weight as usize };
        if of_line && weight <= 2.0 {
            return Err(few());
        }
        let mut scores = each!(self.sums, Err(few()), own => own.finish())?;
        if of_line {
            scores.values.iter_mut().for_each(|score| *score = f_of_correlation(*score, weight));
        }
        Ok(scores)
    }
}

impl StreamSums for ScoreSums {
    fn cleared(&self) -> Self {
        let sums = match &self.sums {
            Sums::None => Sums::None,
            Sums::Classes(own) => Sums::Classes(own.cleared()),
            Sums::Products(own) => Sums::Products(own.cleared()),
            Sums::Spread(own) => Sums::Spread(own.cleared()),
        };
        Self { score: self.score, sums }
    }

    fn weight(&self) -> f64 {
        each!(&self.sums, 0.0, own => own.weight())
    }

    fn size(&self) -> usize {
        each!(&self.sums, 0, own => own.size())
    }
}

impl FadingSums for ScoreSums {
    fn fade(&mut self, factor: f64) {
        each!(&mut self.sums, (), own => own.fade(factor));
    }
}

/// What remains unexplained of a target that is a linear function but for rounding, as `f-score` has it.
const ROUNDING: f64 = 1e-12;

/// F of the regression on a feature of this correlation.
fn f_of_correlation(correlation: f64, weight: f64) -> f64 {
    let explained = correlation * correlation;
    let rest = 1.0 - explained;
    if rest <= ROUNDING { f64::INFINITY } else { explained * (weight - 2.0) / rest }
}
