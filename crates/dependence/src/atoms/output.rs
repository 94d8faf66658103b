//! The target's kernel: a kernel like any other.

use fewest_columns::{standardise, standardised_outputs};
use fewest_core::method::KernelWidth;
use fewest_core::{Classes, Context, Dataset, Error, Target, choice, order};
use fewest_kernels::{
    Delta, Factor, Gaussian, GaussianRows, Gram, NormalisedDelta, ScalarKernel, kernel_width,
};
use fewest_linalg::lanes::sum;

/// Rank up to which the factor of a target's Gram matrix may grow.
const MOST_OUTPUT_RANK: usize = 1000;

/// Columns computed between two looks at the clock.
const AT_ONCE: usize = 64;

const KNOWN: &str = "the kernel of the target was known";

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
    /// Of the target, for `method`, which messages name.
    pub(super) fn new(target: &Target, kernel: &OutputKernel, method: &'static str) -> Result<Self, Error> {
        let unsupported = |expected| Error::UnsupportedTarget { method, expected, found: target.describe() };
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
                Self::classes(classes, true, method)
            }
            (OutputKernel::PlainDelta, Target::Class(classes)) => Self::classes(classes, false, method),
            (OutputKernel::Auto, Target::Real(_)) => Self::real(target, KernelWidth::Value(1.0), method),
            (OutputKernel::Gaussian { sigma_y }, Target::Real(_)) => Self::real(target, *sigma_y, method),
            (OutputKernel::Gaussian { sigma_y }, Target::Class(classes)) => {
                let mut codes = codes(classes, method)?;
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

    fn classes(classes: &Classes, normalised: bool, method: &'static str) -> Result<Self, Error> {
        Ok(Self::Classes { codes: codes(classes, method)?, normalised })
    }

    fn real(target: &Target, width: KernelWidth, method: &'static str) -> Result<Self, Error> {
        // Each output on its own scale: one with large numbers must not drown the others.
        let outputs = standardised_outputs(target, method, &Context::default())?;
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

    /// The whole Gram matrix, not centred, column by column.
    fn columns(self) -> Result<Columns, Error> {
        Ok(match self {
            Self::Classes { codes, normalised: true } => {
                Columns::Scalar(Box::new(NormalisedDelta::from_points(&codes)), codes)
            }
            Self::Classes { codes, normalised: false } => Columns::Scalar(Box::new(Delta), codes),
            Self::Real { outputs, sigma } => {
                let n = outputs.first().map_or(0, Vec::len);
                Columns::Rows(gaussian(outputs.into_iter().flatten(), n, sigma)?)
            }
            Self::Given(gram) => Columns::Given(gram),
        })
    }

    /// A factor of the whole Gram matrix, not centred.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for more classes than a factor may have columns: theirs has a rank that
    /// is their number.
    pub(super) fn factor(&self, tolerance: f64) -> Result<Factor, Error> {
        match self {
            Self::Classes { codes, normalised } => {
                let n_classes = order::distinct(codes.clone()).len();
                if n_classes > MOST_OUTPUT_RANK {
                    return Err(Error::Unsupported {
                        method: "form=low-rank",
                        what: format!("a target of {n_classes} classes"),
                        instead: format!("use form=exact, or at most {MOST_OUTPUT_RANK} classes"),
                    });
                }
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

/// The kernel of a target between one sample and all.
enum Columns {
    Scalar(Box<dyn ScalarKernel>, Vec<f64>),
    Rows(GaussianRows),
    Given(Gram),
}

impl Columns {
    fn write(&self, j: usize, out: &mut [f64]) {
        match self {
            Self::Scalar(kernel, points) => kernel.eval_many(points[j], points, out),
            Self::Rows(rows) => rows.column(j, out),
            Self::Given(gram) => out.copy_from_slice(gram.column(j)),
        }
    }
}

/// The centred Gram matrix `L̄` of a target, column by column: with many samples the matrix is the work of
/// seconds and gigabytes, and who needs it looks at the clock between two blocks of columns.
pub(crate) struct CentredTarget {
    n: usize,
    columns: Columns,
    /// One of the entries, which is subtracted first: so a constant matrix becomes exactly 0.
    first: f64,
    means: Vec<f64>,
    mean: f64,
}

impl CentredTarget {
    /// Of the target of `data`, for `method`.
    ///
    /// # Errors
    /// [`Error::UnsupportedTarget`] for a target without this kernel; [`Error::Stopped`] when the context
    /// says so.
    pub(crate) fn new(
        data: &Dataset,
        kernel: &OutputKernel,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let n = data.n_samples();
        let columns = Output::new(data.target(), kernel, method)?.columns()?;
        let mut column = vec![0.0; n];
        columns.write(0, &mut column);
        let first = column[0];
        let means = fewest_parallel::try_map(n.div_ceil(AT_ONCE), |block| {
            context.go_on(KNOWN)?;
            let mut column = vec![0.0; n];
            let mean = |j: usize| {
                columns.write(j, &mut column);
                column.iter_mut().for_each(|value| *value -= first);
                sum(&column) / n as f64
            };
            Ok((block * AT_ONCE..n.min((block + 1) * AT_ONCE)).map(mean).collect::<Vec<f64>>())
        })?
        .concat();
        let mean = sum(&means) / n as f64;
        Ok(Self { n, columns, first, means, mean })
    }

    /// Hands every column to `work`, in their order.
    ///
    /// # Errors
    /// [`Error::Stopped`] when the context says so.
    pub(crate) fn each(
        &self,
        context: &Context<'_>,
        mut work: impl FnMut(usize, &[f64]),
    ) -> Result<(), Error> {
        let mut block = vec![0.0; self.n * AT_ONCE];
        for start in (0..self.n).step_by(AT_ONCE) {
            context.go_on(KNOWN)?;
            let block = &mut block[..self.n * AT_ONCE.min(self.n - start)];
            fewest_parallel::chunks(block, self.n, |at, column| {
                let j = start + at;
                self.columns.write(j, column);
                for (value, mean) in column.iter_mut().zip(&self.means) {
                    // The two means first: their sum is the same for (i, j) and (j, i).
                    *value = (*value - self.first) - ((mean + self.means[j]) - self.mean);
                }
            });
            for (at, column) in block.chunks_exact(self.n).enumerate() {
                work(start + at, column);
            }
        }
        Ok(())
    }
}

fn codes(classes: &Classes, method: &'static str) -> Result<Vec<f64>, Error> {
    let present = classes.occurring().len();
    if present < 2 {
        return Err(Error::UnsupportedTarget {
            method,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_classes_than_a_factor_has_columns_name_the_way_out() {
        let codes: Vec<f64> = (0..2 * MOST_OUTPUT_RANK).map(|i| (i / 2) as f64).collect();
        let output = |codes: &[f64]| Output::Classes { codes: codes.to_vec(), normalised: true }.factor(1e-4);
        assert!(output(&codes[..10]).is_ok());
        let more = [codes, vec![1e6]].concat();
        let message = output(&more).map(|_| ()).map_err(|error| error.to_string());
        let expected = "a target of 1001 classes is not supported by form=low-rank: use form=exact, or at most \
                        1000 classes";
        assert_eq!(message, Err(expected.to_owned()));
    }
}
