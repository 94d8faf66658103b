//! HSIC of samples that arrive, by sums.

mod axis;
mod counts;
mod joint;

use fewest_core::method::{KernelWidth, Options};
use fewest_core::{
    Accumulator, Arrives, Budget, Context, Dataset, Error, Held, Scores, Selection, StreamMethod,
    StreamSelector, stream_state,
};
use fewest_kernels::Form;

use crate::dependence::{Dependence, Hsic, Normalization};
use crate::{HsicEstimator, InputKernel, OutputKernel};
pub(crate) use axis::{Axis, entry_error};
pub(crate) use counts::{Axes, Counts};
pub(crate) use joint::Joint;
use joint::NodeKernel;

const METHOD: &str = "hsic of samples that arrive";

/// The sums behind [`Hsic`] of samples that arrive, for the Gaussian kernel.
///
/// ```text
/// score(k) = tr(K̄⁽ᵏ⁾ L̄) ≈ ‖Φᵀ (T − r cᵀ / n) Ψ‖²_F
/// ```
///
/// `T` counts for each feature how often its values come with those of the target: a category and classes at
/// one node for each level, numbers shared among the eight nodes around them, by the weights that interpolate
/// polynomials of degree 7. `r` and `c` are its row and column sums, and `Φ` and `Ψ` factors of the two
/// kernels between nodes. The nodes do not know the kernel: its width, which is that on standardised values,
/// follows at the end from the variance that `T` has. They are multiples of a power of two, the smallest one
/// for which 128 are enough for the range of the values so far (512 with few classes), and become coarser
/// with it. So what is summed depends neither on how samples come together nor, but for rounding and the
/// error below, on their order.
///
/// Levels are exact. An entry of the kernel of numbers is wrong by at most about `0.56 u⁸`, where `u` is the
/// distance of two nodes in widths of the kernel; it is told as a share of the largest score. Values of which
/// few are far away, such that 128 nodes over all of them are wider than half a width, have a large error:
/// take a transformation, such as the logarithm, or a wider kernel.
///
/// Cost: eight sums for a sample and a feature, 64 with a real target, and for an answer `O(g² (m + r))` a
/// feature with `g` and `m` nodes and a factor of rank `r`. Memory: `g m` numbers a feature, whatever
/// arrives.
///
/// # Errors
/// Another kernel than the Gaussian, a width of `median`, the block estimator, `form` and `factor_tolerance`
/// other than their defaults; a target other than classes or one real output; batches with other features,
/// classes or levels than the first; a NaN or an infinity, naming the cell; sample weights. An error leaves
/// the sums as they were.
///
/// ```
/// use fewest_core::{Accumulator, Context, Dataset, DenseColumns, Scorer, Target};
/// use fewest_dependence::{Hsic, HsicSums};
///
/// let part = |rows: std::ops::Range<u32>| -> Result<Dataset, fewest_core::Error> {
///     let x: Vec<f64> = rows.map(|i| f64::from(i * 7 % 90) / 45.0 - 1.0).collect();
///     let y = x.iter().map(|x| x * x).collect();
///     Dataset::new(DenseColumns::from_columns(&[x])?, Target::real(y)?)
/// };
/// let mut sums = HsicSums::new(&Hsic::default())?;
/// sums.update(&part(0..20)?)?;
/// let mut later = HsicSums::new(&Hsic::default())?;
/// later.update(&part(20..90)?)?;
/// sums.merge(later)?;
/// let exact = Hsic::default().score(&part(0..90)?, &Context::default())?.values[0];
/// assert!((sums.finish()?.values[0] / exact - 1.0).abs() < 1e-6);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct HsicSums {
    dependence: Dependence,
    counts: Counts,
}

/// The width of a Gaussian kernel, where it is a number.
fn width(width: KernelWidth, instead: &str) -> Result<f64, Error> {
    match width {
        KernelWidth::Value(sigma) => Ok(sigma),
        _ => Err(unsupported("a width that all samples decide", instead)),
    }
}

fn unsupported(what: &str, instead: &str) -> Error {
    Error::Unsupported { method: METHOD, what: what.to_owned(), instead: instead.to_owned() }
}

/// The error about a target that does not vary.
pub(crate) fn varying(found: &str) -> Error {
    Error::UnsupportedTarget {
        method: METHOD,
        expected: "at least 2 classes with samples, or numbers that vary",
        found: found.to_owned(),
    }
}

impl Dependence {
    /// What the kernel of the target is for two samples of each class, of which there are so many.
    ///
    /// # Errors
    /// [`Error::UnsupportedTarget`] for one class.
    pub(crate) fn class_weights(&self, counts: &[f64]) -> Result<Vec<f64>, Error> {
        if counts.iter().filter(|count| **count > 0.0).count() < 2 {
            return Err(varying("1 class"));
        }
        let is_plain = matches!(self.output, OutputKernel::PlainDelta);
        let weight = |count: &f64| match is_plain {
            true => 1.0,
            false if *count > 0.0 => count.recip(),
            false => 0.0,
        };
        Ok(counts.iter().map(weight).collect())
    }

    /// The width of the features' kernel and, of a Gaussian one, that of the target's.
    pub(crate) fn widths(&self) -> Result<(f64, Option<f64>), Error> {
        let InputKernel::Gaussian { sigma_x } = &self.kernel else {
            return Err(unsupported("a kernel that is not smooth", "take kernel=gaussian"));
        };
        let sigma_y = match &self.output {
            OutputKernel::Auto => Some(1.0),
            OutputKernel::Delta | OutputKernel::PlainDelta => None,
            OutputKernel::Gaussian { sigma_y } => Some(width(*sigma_y, "give sigma_y as a number")?),
            OutputKernel::Given(_) => return Err(unsupported("a given Gram matrix", "leave it out")),
        };
        if self.estimator != HsicEstimator::Full {
            return Err(unsupported("the estimator of blocks", "leave out `estimator`"));
        }
        let default = Self::default();
        if self.form != Form::Auto || self.factor_tolerance.to_bits() != default.factor_tolerance.to_bits() {
            return Err(unsupported(
                "a form of Gram matrices",
                "leave out `form` and `factor_tolerance`: counts at nodes are summed, and their error is told",
            ));
        }
        Ok((width(*sigma_x, "give sigma_x as a number")?, sigma_y))
    }

    /// Whether the kernel of these classes is that of their codes.
    pub(crate) fn takes_codes(&self) -> bool {
        matches!(self.output, OutputKernel::Gaussian { .. })
    }
}

impl HsicSums {
    /// Of no samples.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a parameter out of range, [`Error::Unsupported`] for those that
    /// samples that arrive do not have.
    pub fn new(hsic: &Hsic) -> Result<Self, Error> {
        hsic.check()?;
        let dependence = hsic.dependence.clone();
        dependence.widths()?;
        Ok(Self { dependence, counts: Counts::default() })
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.counts.n
    }

    /// Floating-point numbers that it holds.
    pub fn size(&self) -> usize {
        self.counts.features.iter().map(Joint::size).sum()
    }

    /// The kernel of the target, and the norm of its Gram matrix.
    fn target_kernel(&self) -> Result<(NodeKernel, f64), Error> {
        let counts = self.counts.target.counts();
        let kernel = match &self.counts.target.axis {
            Axis::Levels(_) => NodeKernel::Levels(self.dependence.class_weights(counts)?),
            Axis::Numbers(numbers) => {
                let sigma = self.dependence.widths()?.1.unwrap_or(1.0);
                let spacing = numbers.spacing(counts, sigma).ok_or_else(|| varying("one value"))?;
                NodeKernel::gaussian(spacing, counts.len())?
            }
        };
        let norm = kernel.norm(counts);
        Ok((kernel, norm))
    }

    /// The score of a feature, and how far it may be from the exact one.
    fn score(&self, feature: &Joint, target: &NodeKernel, target_norm: f64) -> Result<(f64, f64), Error> {
        let counts = feature.marginal();
        let own = match &feature.axis {
            Axis::Levels(_) if counts.iter().filter(|count| **count > 0.0).count() < 2 => {
                return Ok((0.0, 0.0));
            }
            Axis::Levels(n) => NodeKernel::Levels(vec![1.0; *n]),
            Axis::Numbers(numbers) => match numbers.spacing(&counts, self.dependence.widths()?.0) {
                None => return Ok((0.0, 0.0)),
                Some(spacing) => NodeKernel::gaussian(spacing, counts.len())?,
            },
        };
        let n = self.counts.n as f64;
        let norm = own.norm(&counts);
        let product = feature.dependence(&own, target);
        // |⟨K − K̂, L⟩| ≤ ‖K − K̂‖ ‖L‖, and the norm of a matrix of n² entries is at most n times the largest.
        let error = n * (own.error() * target_norm + target.error() * norm);
        Ok(match self.dependence.normalization {
            Normalization::None => (product, error),
            Normalization::Unit => (product / (norm * target_norm), 2.0 * error / (norm * target_norm)),
        })
    }

    /// The features of which all values were equal.
    fn constant_features(&self) -> Vec<usize> {
        let is_constant = |feature: &Joint| match &feature.axis {
            Axis::Levels(_) => feature.marginal().iter().filter(|count| **count > 0.0).count() < 2,
            Axis::Numbers(_) => feature.axis.len() < 2,
        };
        (0..self.counts.features.len()).filter(|&j| is_constant(&self.counts.features[j])).collect()
    }

    /// The score of every feature from all samples so far, with a note about their error.
    ///
    /// # Errors
    /// [`Error::TooFew`] below two samples; [`Error::UnsupportedTarget`] for a target that does not vary.
    pub fn scores(&self) -> Result<Scores, Error> {
        if self.counts.n < 2 {
            return Err(Error::TooFew { what: "samples", minimum: 2, found: self.counts.n });
        }
        let (target, norm) = self.target_kernel()?;
        let scored = fewest_parallel::try_map(self.counts.features.len(), |j| {
            self.score(&self.counts.features[j], &target, norm)
        })?;
        let (values, errors): (Vec<f64>, Vec<f64>) = scored.into_iter().unzip();
        let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let (score, error) = (largest(&values), largest(&errors));
        let mut scores = Scores::descending(values);
        if error > 0.0 {
            // Rounding has an error, too.
            let share = (error / score).max(1e-12);
            scores
                .notes
                .push(format!("scores to {share:.0e} of the largest: numbers count at nodes of a grid"));
        }
        Ok(scores)
    }
}

impl Accumulator for HsicSums {
    type Output = Scores;

    fn update(&mut self, batch: &Dataset) -> Result<(), Error> {
        self.counts.add(batch, &self.dependence)
    }

    fn merge(&mut self, later: Self) -> Result<(), Error> {
        self.counts.merge(later.counts)
    }

    fn finish(self) -> Result<Scores, Error> {
        self.scores()
    }
}

/// [`Hsic`] of samples that arrive: the best features by the score of [`HsicSums`].
#[derive(Debug, Clone)]
pub struct HsicStream {
    sums: HsicSums,
}

impl HsicStream {
    /// Of no samples.
    ///
    /// # Errors
    /// Those of [`HsicSums::new`].
    pub fn new(hsic: &Hsic) -> Result<Self, Error> {
        Ok(Self { sums: HsicSums::new(hsic)? })
    }

    /// The sums so far.
    pub fn sums(&self) -> &HsicSums {
        &self.sums
    }
}

impl StreamSelector for HsicStream {
    fn update(&mut self, arrived: &Dataset, _: &Context<'_>) -> Result<(), Error> {
        self.sums.counts.add(arrived, &self.sums.dependence)
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        budget.check(self.sums.counts.features.len())?;
        let scores = self.sums.scores()?;
        let constant = self.sums.constant_features();
        let mut order = scores.ranking();
        order.retain(|j| constant.binary_search(j).is_err());
        match budget {
            Budget::Count(k) => order.truncate(k),
            Budget::Threshold(threshold) => order.retain(|&j| scores.values[j] >= threshold),
            _ => {}
        }
        let mut selection = scores.selection(order);
        selection.note_constant_features(constant.len());
        selection.note_missing_features(budget, "the others are constant or have no score");
        Ok(selection)
    }

    fn held(&self) -> Held {
        Held::new(self.sums.counts.features.len(), self.sums.size())
    }

    stream_state!(sums.dependence; sums.counts);
}

impl StreamMethod for Hsic {
    const ARRIVES: Arrives = Arrives::Samples;

    fn open(&self, _: Budget, _: u64) -> Result<Box<dyn StreamSelector>, Error> {
        Ok(Box::new(HsicStream::new(self)?))
    }
}
