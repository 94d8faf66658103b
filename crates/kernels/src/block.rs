//! The block estimator of HSIC (Climente-González et al. 2019): averages over small blocks of samples,
//! linear in n for a given block size.

use fewest_core::{Error, derive_seed};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use crate::hsic::{self, HsicScaling};
use crate::{Gram, ScalarKernel, packed_len};

/// `permutations` random partitions of `n` samples into blocks of at most `size`.
///
/// Each partition has `ceil(n / size)` blocks. Where `size` does not divide `n` their sizes differ by one
/// at most: no sample is dropped, and there is no tiny last block. Blocks of all samples are one block in
/// the original order.
///
/// ```
/// use fewest_kernels::SampleBlocks;
/// let blocks = SampleBlocks::new(50, 20, 3, 0)?;
/// assert_eq!(blocks.iter().map(<[usize]>::len).collect::<Vec<_>>(), [17, 17, 16].repeat(3));
/// assert!(SampleBlocks::new(10, 20, 3, 0).is_err());
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleBlocks {
    n_samples: usize,
    permutations: usize,
    /// The permutations, one after the other.
    order: Vec<usize>,
    /// Sizes of the blocks of one permutation.
    sizes: Vec<usize>,
}

impl SampleBlocks {
    /// From ChaCha8 streams, one for each permutation. The paper uses sizes of 5 to 50 and 1 to 30
    /// permutations; 20 and 3 are usual.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `2 <= size <= n_samples` and `permutations >= 1`.
    pub fn new(n_samples: usize, size: usize, permutations: usize, seed: u64) -> Result<Self, Error> {
        if size < 2 || size > n_samples {
            let expected = format!("from 2 to the number of samples, {n_samples}");
            return Err(Error::parameter("block_size", size, expected));
        }
        if permutations == 0 {
            return Err(Error::parameter("permutations", permutations, "at least 1"));
        }
        let count = n_samples.div_ceil(size);
        let (small, larger) = (n_samples / count, n_samples % count);
        let sizes: Vec<usize> = (0..count).map(|block| small + usize::from(block < larger)).collect();
        let mut order = Vec::with_capacity(n_samples.saturating_mul(permutations));
        for permutation in 0..permutations {
            let start = order.len();
            order.extend(0..n_samples);
            if count > 1 {
                let mut random = ChaCha8Rng::seed_from_u64(derive_seed(seed, permutation as u64));
                order[start..].shuffle(&mut random);
            }
        }
        Ok(Self { n_samples, permutations, order, sizes })
    }

    /// The samples of every block, permutation after permutation.
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        self.order.chunks_exact(self.n_samples).flat_map(|permutation| {
            let mut rest = permutation;
            self.sizes.iter().map(move |&size| {
                let (block, after) = rest.split_at(size);
                rest = after;
                block
            })
        })
    }

    /// The weight of a block of this many samples: `size/(n M)` for `M` permutations. All weights sum to one.
    pub fn weight(&self, size: usize) -> f64 {
        size as f64 / (self.n_samples as f64 * self.permutations as f64)
    }

    /// Length of all blocks' packed Gram matrices together, `Σ_b n_b(n_b+1)/2`.
    pub fn packed_len(&self) -> usize {
        self.permutations * self.sizes.iter().map(|&size| packed_len(size)).sum::<usize>()
    }
}

/// The estimate that is averaged over blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockEstimator {
    /// [`hsic::biased`].
    Biased(HsicScaling),
    /// [`hsic::unbiased`]; blocks of 4 samples at least.
    Unbiased,
    /// [`hsic::normalised`].
    Normalised,
}

/// The block estimate of HSIC between `x` and `y`: the mean of `estimator` over all blocks, each weighted
/// by its size. `O(n B M)` for `M` permutations and blocks of `B`, against `O(n²)`.
///
/// ```
/// use fewest_kernels::{BlockEstimator, SampleBlocks, Gaussian, block_hsic};
/// let kernel = Gaussian::new(1.0)?;
/// let x: Vec<f64> = (0..60).map(|i| (i as f64).sin()).collect();
/// let (blocks, estimator) = (SampleBlocks::new(60, 20, 3, 7)?, BlockEstimator::Normalised);
/// assert!((block_hsic(&kernel, &x, &kernel, &x, &blocks, estimator)? - 1.0).abs() < 1e-12);
/// # Ok::<(), fewest_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::ShapeMismatch`] unless `x` and `y` have as many values as `blocks` has samples;
/// [`Error::TooFew`] when a block has below 4 samples and the estimator is the unbiased one.
pub fn block_hsic(
    kernel_x: &dyn ScalarKernel,
    x: &[f64],
    kernel_y: &dyn ScalarKernel,
    y: &[f64],
    blocks: &SampleBlocks,
    estimator: BlockEstimator,
) -> Result<f64, Error> {
    for values in [x, y] {
        if values.len() != blocks.n_samples {
            return Err(Error::ShapeMismatch {
                what: "values for the block estimator",
                expected: blocks.n_samples,
                found: values.len(),
            });
        }
    }
    let gram = |kernel: &dyn ScalarKernel, values: &[f64], block: &[usize]| {
        let points: Vec<f64> = block.iter().map(|&sample| values[sample]).collect();
        Gram::new(kernel, &points)
    };
    let mut total = 0.0;
    for block in blocks.iter() {
        let (k, l) = (gram(kernel_x, x, block), gram(kernel_y, y, block));
        let value = match estimator {
            BlockEstimator::Biased(scaling) => hsic::biased(&k, &l, scaling)?,
            BlockEstimator::Unbiased => hsic::unbiased(&k, &l)?,
            BlockEstimator::Normalised => hsic::normalised(&k, &l)?,
        };
        total += blocks.weight(block.len()) * value;
    }
    Ok(total)
}
