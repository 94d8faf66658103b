//! The target's kernel: a kernel like any other.

use fewest_columns::{standardise, standardised_outputs};
use fewest_core::method::KernelWidth;
use fewest_core::{Classes, Error, Target, choice};
use fewest_kernels::{
    Delta, Factor, Gaussian, GaussianRows, Gram, NormalisedDelta, ScalarKernel, kernel_width,
};

/// Rank up to which the factor of a target's Gram matrix may grow.
const MOST_OUTPUT_RANK: usize = 1000;

choice! {
    /// The kernel of the target.
    #[derive(Debug, Clone)]
    #[non_exhaustive]
    pub enum OutputKernel {
        /// By the target: classes get [`OutputKernel::Delta`], real outputs the Gaussian kernel of width 1,
        /// an affinity matrix is taken as it is.
        Auto = "auto",
        /// `1/n_y` for two samples of the same class y, else 0 (Section 2.3). Classes only.
        Delta = "delta",
        /// 1 for two samples of the same class, else 0. Classes only.
        PlainDelta = "plain-delta",
        /// `exp(−‖y − y′‖² / (2 p σ²))` over `p` outputs, each standardised on its own; classes by their
        /// codes.
        Gaussian {
            /// Width of the target's Gaussian kernel; median: the median distance of the first output.
            sigma_y: KernelWidth = KernelWidth::Value(1.0);
        } = "gaussian";
        /// A Gram matrix between samples, `n × n`, symmetric.
        Given(Gram),
    }
}

/// A target with its kernel.
pub(super) enum Output {
    Classes { codes: Vec<f64>, normalised: bool },
    Real { outputs: Vec<Vec<f64>>, sigma: f64 },
    Given(Gram),
}

impl Output {
    pub(super) fn new(target: &Target, kernel: &OutputKernel) -> Result<Self, Error> {
        let unsupported =
            |expected| Error::UnsupportedTarget { method: "hsic", expected, found: target.describe() };
        match (kernel, target) {
            (OutputKernel::Given(gram), _) => match target.n_samples() {
                Some(n) if n != gram.n() => Err(Error::ShapeMismatch {
                    what: "rows of the given Gram matrix",
                    expected: n,
                    found: gram.n(),
                }),
                _ => Ok(Self::Given(gram.clone())),
            },
            (OutputKernel::Auto, Target::Affinity(affinity)) => {
                Ok(Self::Given(Gram::from_values(affinity.values().to_vec(), affinity.n_samples())?))
            }
            (OutputKernel::Auto | OutputKernel::Delta, Target::Class(classes)) => {
                Self::classes(classes, true)
            }
            (OutputKernel::PlainDelta, Target::Class(classes)) => Self::classes(classes, false),
            (OutputKernel::Auto, Target::Real(_)) => Self::real(target, KernelWidth::Value(1.0)),
            (OutputKernel::Gaussian { sigma_y }, Target::Real(_)) => Self::real(target, *sigma_y),
            (OutputKernel::Gaussian { sigma_y }, Target::Class(classes)) => {
                let mut codes = codes(classes)?;
                standardise(&mut codes);
                let sigma = kernel_width(*sigma_y, &codes)?;
                Ok(Self::Real { outputs: vec![codes], sigma })
            }
            (OutputKernel::Delta | OutputKernel::PlainDelta, _) => {
                Err(unsupported("classes (for the delta kernel)"))
            }
            _ => Err(unsupported("classes, real outputs or an affinity matrix")),
        }
    }

    fn classes(classes: &Classes, normalised: bool) -> Result<Self, Error> {
        Ok(Self::Classes { codes: codes(classes)?, normalised })
    }

    fn real(target: &Target, width: KernelWidth) -> Result<Self, Error> {
        // Each output on its own scale: one with large numbers must not drown the others.
        let outputs = standardised_outputs(target, "hsic")?;
        let sigma = kernel_width(width, &outputs[0])?;
        Gaussian::new(sigma)?;
        Ok(Self::Real { outputs, sigma })
    }

    /// The Gram matrix of the samples `rows`, not centred. Class sizes are counted among them.
    pub(super) fn gram(&self, rows: &[usize]) -> Result<Gram, Error> {
        let pick = |values: &[f64]| -> Vec<f64> { rows.iter().map(|&row| values[row]).collect() };
        match self {
            Self::Classes { codes, normalised: true } => {
                let points = pick(codes);
                Ok(Gram::new(&NormalisedDelta::from_points(&points), &points))
            }
            Self::Classes { codes, normalised: false } => Ok(Gram::new(&Delta, &pick(codes))),
            Self::Real { outputs, sigma } => {
                Ok(gaussian(outputs.iter().flat_map(|output| pick(output)), rows.len(), *sigma)?.gram())
            }
            Self::Given(gram) => {
                let values = rows.iter().flat_map(|&j| rows.iter().map(move |&i| gram.get(i, j))).collect();
                Gram::from_values(values, rows.len())
            }
        }
    }

    /// A factor of the whole Gram matrix, not centred.
    pub(super) fn factor(&self, tolerance: f64) -> Result<Factor, Error> {
        match self {
            Self::Classes { codes, normalised } => {
                let delta = NormalisedDelta::from_points(codes);
                let kernel: &dyn ScalarKernel = if *normalised { &delta } else { &Delta };
                Factor::new(kernel, codes, tolerance, MOST_OUTPUT_RANK)
            }
            Self::Real { outputs, sigma } => match outputs.as_slice() {
                [output] => Factor::new(&Gaussian::new(*sigma)?, output, tolerance, MOST_OUTPUT_RANK),
                outputs => {
                    let n = outputs.first().map_or(0, Vec::len);
                    gaussian(outputs.iter().flatten().copied(), n, *sigma)?
                        .factor(tolerance, n.min(MOST_OUTPUT_RANK))
                }
            },
            Self::Given(gram) => Factor::from_gram(gram, tolerance),
        }
    }
}

fn codes(classes: &Classes) -> Result<Vec<f64>, Error> {
    let present = classes.occurring().len();
    if present < 2 {
        return Err(Error::UnsupportedTarget {
            method: "hsic",
            expected: "at least 2 classes with samples",
            found: format!("{present} class"),
        });
    }
    Ok(classes.codes().iter().map(|&code| f64::from(code)).collect())
}

/// `exp(−‖yᵢ − yⱼ‖² / (2 p σ²))` for `p` outputs: dividing by their number keeps the width's meaning.
fn gaussian(values: impl Iterator<Item = f64>, n_samples: usize, sigma: f64) -> Result<GaussianRows, Error> {
    let values: Vec<f64> = values.collect();
    let n_outputs = values.len() as f64 / n_samples as f64;
    GaussianRows::new(values, n_samples, sigma * n_outputs.sqrt())
}
