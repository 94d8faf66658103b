//! Many factors in one matrix, and all inner products with them by one matrix product.

use fewest_core::Error;

use super::Factor;
use fewest_linalg::{LaidOut, dispatched, multiply_add};

/// Factors of the same samples side by side: an `n x Σ r` matrix with the columns where each one begins.
///
/// ```
/// use fewest_kernels::{Factor, Gaussian, Stacked, squared_cross_norms};
/// let kernel = Gaussian::new(1.0)?;
/// let features = [[0.0, 1.0, 2.0, 3.0], [1.0, 0.0, 2.0, 2.0]];
/// let mut factors = Vec::new();
/// for feature in &features {
///     let mut factor = Factor::new(&kernel, feature, 1e-10, 4)?;
///     factor.centre();
///     factors.push(factor);
/// }
/// let mut hsic = [0.0; 2];
/// let (one, both) = (Stacked::from_factors(4, &factors[..1])?, Stacked::from_factors(4, &factors)?);
/// squared_cross_norms(&one, &both, &mut hsic);
/// assert!((hsic[1] - factors[0].inner(&factors[1])).abs() < 1e-12);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stacked {
    n_samples: usize,
    pub(super) columns: LaidOut,
    signs: Option<Vec<f64>>,
    /// Where each factor begins, and the total rank at the end.
    starts: Vec<usize>,
}

impl Stacked {
    /// All of `factors`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless all have `n_samples` samples.
    pub fn from_factors<'a>(
        n_samples: usize,
        factors: impl IntoIterator<Item = &'a Factor>,
    ) -> Result<Self, Error> {
        let factors: Vec<&Factor> = factors.into_iter().collect();
        let total_rank: usize = factors.iter().map(|factor| factor.rank).sum();
        // Allocated at once: growing vectors would fragment the memory for thousands of stacks.
        let mut columns = LaidOut::with_capacity(n_samples, total_rank);
        let mut starts = vec![0];
        for factor in &factors {
            if factor.n_samples != n_samples {
                return Err(Error::ShapeMismatch {
                    what: "samples of a factor",
                    expected: n_samples,
                    found: factor.n_samples,
                });
            }
            columns.extend(&factor.values);
            starts.push(starts[starts.len() - 1] + factor.rank);
        }
        let signs = factors.iter().any(|factor| factor.signs.is_some()).then(|| {
            let signs = |factor: &&Factor| factor.signs.clone().unwrap_or_else(|| vec![1.0; factor.rank]);
            factors.iter().flat_map(signs).collect()
        });
        Ok(Self { n_samples, columns, signs, starts })
    }

    /// Nothing but `factor`, in the memory of what there was.
    pub(super) fn renew(&mut self, factor: &Factor) {
        self.n_samples = factor.n_samples;
        self.columns.clear(factor.n_samples);
        self.columns.extend(&factor.values);
        self.signs.clone_from(&factor.signs);
        self.starts.clear();
        self.starts.extend([0, factor.rank]);
    }

    /// Number of factors.
    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The sum of all ranks, the number of columns.
    pub(crate) fn total_rank(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The signs of factor `l`.
    fn signs(&self, l: usize) -> Option<&[f64]> {
        self.signs.as_ref().map(|signs| &signs[self.starts[l]..self.starts[l + 1]])
    }
}

/// `out[k + l left.len()] = ‖Φ_kᵀΨ_l‖²_F` (with signs `Σ_ab s_a t_b (φ_aᵀψ_b)²`) for every factor `Φ_k` of
/// `left` and `Ψ_l` of `stacked`, by one matrix product. For centred factors these are the values
/// `tr(K_kHL_lH)`. `O(n Σ r_k Σ r_l)`.
///
/// # Panics
/// Unless both have the same number of samples and `out.len() == left.len() stacked.len()`.
pub fn squared_cross_norms(left: &Stacked, stacked: &Stacked, out: &mut [f64]) {
    assert_eq!(left.n_samples, stacked.n_samples, "factors of the same samples");
    let height = left.len();
    assert_eq!(out.len(), height * stacked.len(), "one result for each pair of factors");
    let total = stacked.total_rank();
    let mut products = vec![0.0; left.total_rank() * total];
    stacked.columns.products(&left.columns, &mut products);
    let mut squares = vec![0.0; total];
    for k in 0..height {
        squares.fill(0.0);
        let products = &products[left.starts[k] * total..left.starts[k + 1] * total];
        for (a, column) in products.chunks_exact(total.max(1)).enumerate() {
            add_squares(column, left.signs(k).map_or(1.0, |signs| signs[a]), &mut squares);
        }
        for l in 0..stacked.len() {
            let squares = &squares[stacked.starts[l]..stacked.starts[l + 1]];
            out[k + l * height] = match stacked.signs(l) {
                None => squares.iter().sum(),
                Some(signs) => squares.iter().zip(signs).map(|(square, sign)| sign * square).sum(),
            };
        }
    }
}

dispatched! {
    /// `out[i] += weight values[i]²`.
    fn add_squares(values: &[f64], weight: f64, out: &mut [f64]) = add_squares_body
}

#[inline(always)]
fn add_squares_body<const FMA: bool>(values: &[f64], weight: f64, out: &mut [f64]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = multiply_add::<FMA>(weight * value, *value, *out);
    }
}
