//! Centred Gram matrices, every entry: the upper triangle as one vector.

use std::sync::Arc;

use fewest_core::{Error, derive_seed};
use fewest_kernels::{Gram, SampleBlocks, ScalarKernel, centred_packed, nocco, packed_len};
use fewest_linalg::{dot, dot_products};

use super::output::Output;
use super::{HsicEstimator, Measure, Outline, Representation};

/// Whether all entries cost less than a factor: for few samples, as long as they need not be built again for
/// every pass.
pub(super) fn is_cheaper(n_samples: usize, n_features: usize, cache_bytes: usize) -> bool {
    let bytes = packed_len(n_samples).saturating_mul(size_of::<f64>()).saturating_mul(n_features);
    n_samples <= 32 || n_samples <= 64 && bytes <= cache_bytes
}

/// Numbers in a panel of atoms: 4 MB.
const PANEL_NUMBERS: usize = 1 << 19;

/// Each atom is the concatenated packed triangles of its blocks, each times the square root of its weight, so
/// that products are means over blocks; the full estimator has one block.
pub(super) struct Packed {
    measure: Measure,
    blocks: SampleBlocks,
    length: usize,
}

impl Packed {
    pub(super) fn new(
        n: usize,
        measure: Measure,
        estimator: HsicEstimator,
        seed: u64,
    ) -> Result<Self, Error> {
        let blocks = match estimator {
            HsicEstimator::Full => SampleBlocks::new(n, n, 1, seed)?,
            HsicEstimator::Block { block_size, permutations } => {
                SampleBlocks::new(n, block_size, permutations, derive_seed(seed, 0))?
            }
        };
        let length = blocks.packed_len();
        Ok(Self { measure, blocks, length })
    }

    pub(super) fn output(&self, output: &Output) -> Result<Vec<f64>, Error> {
        self.concatenate(Vec::new(), |block, _, out| self.pack(&output.gram(block)?, out))
    }

    fn concatenate(
        &self,
        mut atom: Vec<f64>,
        mut fill: impl FnMut(&[usize], &mut Vec<f64>, &mut [f64]) -> Result<(), Error>,
    ) -> Result<Vec<f64>, Error> {
        atom.resize(self.length, 0.0);
        let mut rest = atom.as_mut_slice();
        let mut scratch = Vec::new();
        for block in self.blocks.iter() {
            let (out, after) = rest.split_at_mut(packed_len(block.len()));
            fill(block, &mut scratch, out)?;
            let weight = self.blocks.weight(block.len());
            if weight != 1.0 {
                out.iter_mut().for_each(|value| *value *= weight.sqrt());
            }
            rest = after;
        }
        Ok(atom)
    }

    fn pack(&self, gram: &Gram, out: &mut [f64]) -> Result<(), Error> {
        let centred = gram.centre();
        match self.measure {
            Measure::Hsic => pack(&centred, out),
            Measure::Nocco { epsilon } => pack(&nocco::normalise(&centred, epsilon)?, out),
        }
        Ok(())
    }
}

/// The upper triangle, off-diagonal entries times √2, in the order of [`centred_packed`].
fn pack(gram: &Gram, out: &mut [f64]) {
    let mut out = out.iter_mut();
    for j in 0..gram.n() {
        let column = &gram.column(j)[..=j];
        // The column first: a zip takes from its first side before it knows that the second has ended.
        for (i, (entry, value)) in column.iter().zip(out.by_ref()).enumerate() {
            *value = if i == j { *entry } else { std::f64::consts::SQRT_2 * entry };
        }
    }
}

impl Representation for Packed {
    type Atom = Vec<f64>;
    type Stack = Vec<f64>;
    type Buffers = ();

    fn input(&self, kernel: &dyn ScalarKernel, points: &[f64], memory: Vec<f64>) -> Result<Vec<f64>, Error> {
        let mut inside = Vec::new();
        self.concatenate(memory, |block, scratch, out| {
            inside.clear();
            inside.extend(block.iter().map(|&row| points[row]));
            match self.measure {
                Measure::Hsic => centred_packed(kernel, &inside, scratch, out),
                Measure::Nocco { .. } => self.pack(&Gram::new(kernel, &inside), out)?,
            }
            Ok(())
        })
    }

    fn recycled(&self, atom: Vec<f64>) -> Vec<f64> {
        atom
    }

    fn panel(&self) -> usize {
        (PANEL_NUMBERS / self.length).clamp(16, 128)
    }

    fn bytes(&self, atom: &Vec<f64>) -> usize {
        size_of_val(atom.as_slice())
    }

    fn stack(&self, atoms: &[Arc<Vec<f64>>]) -> Result<Vec<f64>, Error> {
        let mut stack = Vec::with_capacity(atoms.len() * self.length);
        for atom in atoms {
            stack.extend_from_slice(atom);
        }
        Ok(stack)
    }

    fn products(&self, rows: &Vec<f64>, columns: &Vec<f64>, out: &mut [f64]) {
        dot_products(rows, columns, self.length, out);
    }

    fn outline(&self, atom: &Vec<f64>, target: &Vec<f64>, _: &mut ()) -> Outline<Vec<f64>> {
        Outline {
            target_product: dot(atom, target),
            approximation_error: 0.0,
            squared_norm: dot(atom, atom),
            leading: None,
        }
    }
}
