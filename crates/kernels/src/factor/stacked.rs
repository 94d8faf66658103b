//! Many factors in one matrix, and all inner products with them by one matrix product.

use fewest_core::Error;

use super::{Factor, signed_square};
use fewest_linalg::dot_products;

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
#[derive(Debug, Clone, PartialEq)]
pub struct Stacked {
    n_samples: usize,
    values: Vec<f64>,
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
        let mut values = Vec::with_capacity(n_samples * total_rank);
        let mut starts = vec![0];
        for factor in &factors {
            if factor.n_samples != n_samples {
                return Err(Error::ShapeMismatch {
                    what: "samples of a factor",
                    expected: n_samples,
                    found: factor.n_samples,
                });
            }
            values.extend_from_slice(&factor.values);
            starts.push(starts[starts.len() - 1] + factor.rank);
        }
        let signs = factors.iter().any(|factor| factor.signs.is_some()).then(|| {
            let signs = |factor: &&Factor| factor.signs.clone().unwrap_or_else(|| vec![1.0; factor.rank]);
            factors.iter().flat_map(signs).collect()
        });
        Ok(Self { n_samples, values, signs, starts })
    }

    /// Number of factors.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The sum of all ranks, the number of columns.
    pub(crate) fn total_rank(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Rank of factor `l < len()`.
    pub(crate) fn rank(&self, l: usize) -> usize {
        self.starts[l + 1] - self.starts[l]
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
    dot_products(&stacked.values, &left.values, left.n_samples, &mut products);
    for k in 0..height {
        let products = &products[left.starts[k] * total..left.starts[k + 1] * total];
        reduce(products, stacked, left.rank(k), left.signs(k), |l, value| out[k + l * height] = value);
    }
}

/// Sums the squares in `products`, `total_rank x rank`, over the rows of each stacked factor.
fn reduce(
    products: &[f64],
    stacked: &Stacked,
    rank: usize,
    signs: Option<&[f64]>,
    mut write: impl FnMut(usize, f64),
) {
    let total = stacked.total_rank();
    for l in 0..stacked.len() {
        let rows = stacked.starts[l]..stacked.starts[l + 1];
        let mut sum = 0.0;
        for a in 0..rank {
            let column = &products[a * total..(a + 1) * total][rows.clone()];
            sum += signs.map_or(1.0, |signs| signs[a]) * signed_square(column, stacked.signs(l));
        }
        write(l, sum);
    }
}
