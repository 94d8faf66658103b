//! Features and target as atoms of a least-squares problem: one centred Gram matrix each.

mod cache;
mod features;
mod low_rank;
mod output;
mod packed;

use std::sync::Arc;

use fewest_core::{Context, Dataset, Error, choice};
use fewest_kernels::{Form, ScalarKernel};
use fewest_solver::{Atoms, CachedProducts, InnerProducts};

use crate::dependence::Dependence;
use cache::{Cache, Memory};
use features::Features;
use low_rank::LowRank;
use output::Output;
use packed::Packed;

pub use features::InputKernel;
pub(crate) use output::CentredTarget;
pub use output::OutputKernel;

/// Features of a first pass between two checks of the clock.
const ROUND: usize = 2048;

/// Requests for more rows than this are passes over everything; what smaller ones build is kept.
const SMALL_REQUEST: usize = 1024;

const STOPPED: Error = Error::Stopped { before: "every feature had been seen once" };

/// A squared Frobenius norm up to this share of the sample number is a constant feature's rounding.
const ZERO_NORM: f64 = 1e-20;

/// What is measured between two Gram matrices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Measure {
    /// `tr(K̄ L̄)`.
    Hsic,
    /// `tr(K̃ L̃)` with `K̃ = K̄ (K̄ + ε n I)⁻¹` (Section 2.5).
    Nocco { epsilon: f64 },
}

impl Measure {
    /// The id of the method that scores by it.
    pub(crate) fn score(self) -> &'static str {
        match self {
            Self::Hsic => "hsic",
            Self::Nocco { .. } => "nocco",
        }
    }

    /// The id of the lasso on it.
    pub(crate) fn lasso(self) -> &'static str {
        match self {
            Self::Hsic => "hsic-lasso",
            Self::Nocco { .. } => "nocco-lasso",
        }
    }
}

choice! {
    /// Which pairs of samples enter.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HsicEstimator {
        /// All pairs.
        Full = "full",
        /// Pairs within blocks, averaged over all blocks of some shuffles (Climente-González, Azencott, Kaski
        /// and Yamada 2019). Kept for comparison: the full estimator is exact.
        Block {
            /// Samples in a block.
            ///
            /// At most as many as there are. A ragged last block of at least 2 is used too.
            block_size: usize = 20, Count(2);
            /// Shuffles that blocks are averaged over.
            permutations: usize = 3, Count(1);
        } = "block",
    }
}

/// The places of a panel's rows, and their products with all columns.
type Panel = (Vec<usize>, Vec<f64>);

/// A way to hold centred Gram matrices and to multiply them.
pub(crate) trait Representation: Send + Sync {
    type Atom: Clone + Send + Sync;
    /// Several atoms laid out for multiplication.
    type Stack: Send + Sync;
    /// Memory for [`outline`](Representation::outline), which can be used again for the next atom.
    type Buffers: Default;

    /// The atom of one feature: `points` under `kernel`, in `memory` that another one no longer needs.
    fn input(&self, kernel: &dyn ScalarKernel, points: &[f64], memory: Vec<f64>)
    -> Result<Self::Atom, Error>;

    /// The memory of an atom that is no longer needed.
    fn recycled(&self, atom: Self::Atom) -> Vec<f64>;

    /// The same atom at the least cost of later products.
    fn compact(&self, atom: Self::Atom) -> Result<Self::Atom, Error> {
        Ok(atom)
    }

    /// What is to be known of an atom from [`input`](Representation::input) that is not kept whole, beside a
    /// target.
    fn outline(
        &self,
        atom: &Self::Atom,
        target: &Self::Stack,
        buffers: &mut Self::Buffers,
    ) -> Outline<Self::Atom>;

    /// How many atoms are multiplied at a time: enough to run near the processor's peak, few enough to stay
    /// in its cache. A constant of the data, so that results do not depend on the number of threads.
    fn panel(&self) -> usize;

    /// Memory an atom takes.
    fn bytes(&self, atom: &Self::Atom) -> usize;

    fn stack(&self, atoms: &[Arc<Self::Atom>]) -> Result<Self::Stack, Error>;

    /// `out[i + j · rows] = ⟨rows[i], columns[j]⟩`.
    fn products(&self, rows: &Self::Stack, columns: &Self::Stack, out: &mut [f64]);
}

/// An atom in short.
pub(crate) struct Outline<A> {
    target_product: f64,
    squared_norm: f64,
    /// How far the atom may be from the Gram matrix it stands for, as a share of its norm.
    approximation_error: f64,
    /// A small atom below this one, and the share of the norm that it leaves out: what is left out of a
    /// positive semidefinite matrix is itself positive semidefinite, so that products of such parts are lower
    /// bounds.
    leading: Option<(A, f64)>,
}

/// The atoms of `data`: one a feature, by `measure` and `dependence`, whose values are in their ranges, for
/// `method`, which messages name.
///
/// # Errors
/// [`Error::Stopped`] when the context says so, and for data that do not fit.
pub(crate) fn build<'a>(
    data: &'a Dataset,
    measure: Measure,
    dependence: &'a Dependence,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Box<dyn InnerProducts + Send + 'a>, Error> {
    let atoms = build_first(data, measure, dependence, method, context)?;
    if atoms.n_atoms() < data.n_features() { Err(STOPPED) } else { Ok(atoms) }
}

/// [`build`], where a stopped run has the atoms of the first features only.
///
/// # Errors
/// As [`build`]; [`Error::Stopped`] where there are none.
pub(crate) fn build_first<'a>(
    data: &'a Dataset,
    measure: Measure,
    dependence: &'a Dependence,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Box<dyn InnerProducts + Send + 'a>, Error> {
    let n = data.n_samples();
    if n < 2 {
        return Err(Error::TooFew { what: "samples", minimum: 2, found: n });
    }
    data.refuse_sample_weights(method)?;
    let features = Features::new(data, &dependence.kernel);
    let output = Output::new(data.target(), &dependence.output, method)?;
    let exact = match (dependence.form, dependence.estimator) {
        (Form::LowRank, HsicEstimator::Block { .. }) => {
            return Err(Error::Unsupported {
                method: "the block estimator",
                what: "a low-rank form".to_owned(),
                instead: "blocks are small: leave the form at auto or exact".to_owned(),
            });
        }
        (Form::Exact, _) | (_, HsicEstimator::Block { .. }) => true,
        (Form::LowRank, _) => false,
        (Form::Auto, _) => packed::is_cheaper(n, data.n_features(), dependence.cache_bytes),
    };
    if exact {
        let packed = Packed::new(n, measure, dependence.estimator, context.seed)?;
        let target = packed.output(&output)?;
        let atoms = KernelAtoms::new(features, packed, target, dependence.cache_bytes, context)?;
        Ok(Box::new(CachedProducts::new(atoms, dependence.cache_bytes)))
    } else {
        let low_rank = LowRank::new(n, measure, dependence.factor_tolerance);
        let target = low_rank.output(&output)?;
        let atoms = KernelAtoms::new(features, low_rank, target, dependence.cache_bytes, context)?;
        Ok(Box::new(CachedProducts::new(atoms, dependence.cache_bytes)))
    }
}

/// One atom a feature, built when asked for.
struct KernelAtoms<'a, R: Representation> {
    features: Features<'a>,
    representation: R,
    target: R::Stack,
    /// The error of a lower bound is the share of the norm that the leading part of an atom leaves out.
    seen: Atoms,
    whole: Cache<R::Atom>,
    leading: Cache<R::Atom>,
    memory: Memory,
}

/// What the first pass finds of a feature.
#[derive(Clone, Copy, Default)]
struct Seen {
    target_product: f64,
    squared_norm: f64,
    lower_bound_error: f64,
    approximation_error: f64,
    bytes: usize,
}

impl<'a, R: Representation> KernelAtoms<'a, R> {
    /// One pass over all features: their products with the target and their norms; over the first of them
    /// where the run is stopped.
    fn new(
        features: Features<'a>,
        representation: R,
        target: R::Atom,
        most_bytes: usize,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let d = features.len();
        let n_samples = features.n_samples();
        let atom = Arc::new(target);
        let target = representation.stack(std::slice::from_ref(&atom))?;
        let outline = representation.outline(&atom, &target, &mut R::Buffers::default());
        let seen = Atoms {
            n_cached: most_bytes,
            approximation_error: outline.approximation_error,
            products_are_nonnegative: features.is_positive_semidefinite(),
            lower_bound_errors: Vec::with_capacity(d),
            target_squared_norm: outline.squared_norm,
            target_products: Vec::with_capacity(d),
            squared_norms: Vec::with_capacity(d),
        };
        let mut atoms = Self {
            features,
            representation,
            target,
            seen,
            whole: Cache::new(d),
            leading: Cache::new(d),
            memory: Memory::new(most_bytes),
        };
        let panel_size = atoms.representation.panel();
        let mut largest_atom = 1;
        // Rounds, so that progress is reported and a request to stop is heard between them.
        let round = ROUND.max(panel_size);
        for first in (0..d).step_by(round) {
            let features: Vec<usize> = (first..d.min(first + round)).collect();
            let seen = fewest_parallel::try_map(features.len().div_ceil(panel_size), |at| {
                if context.stopped().is_some() {
                    return Ok(None);
                }
                atoms.see(chunk(&features, panel_size, at)).map(Some)
            })?;
            let n_wanted = features.len() + atoms.n_atoms();
            for seen in seen.into_iter().map_while(|panel| panel).flatten() {
                largest_atom = largest_atom.max(seen.bytes);
                let zero = seen.squared_norm <= ZERO_NORM * n_samples as f64;
                let seen = if zero { Seen::default() } else { seen };
                let all = &mut atoms.seen;
                all.target_products.push(seen.target_product);
                all.squared_norms.push(seen.squared_norm);
                all.lower_bound_errors.push(seen.lower_bound_error);
                all.approximation_error = all.approximation_error.max(seen.approximation_error);
            }
            if atoms.n_atoms() < n_wanted {
                break;
            }
            context.report("dependence on the target", atoms.n_atoms(), d);
        }
        if atoms.n_atoms() == 0 && d > 0 {
            return Err(STOPPED);
        }
        atoms.seen.n_cached = most_bytes / largest_atom;
        Ok(atoms)
    }

    /// Looks at the features of a panel for the first time, and keeps what fits into memory for all features.
    fn see(&self, panel: &[usize]) -> Result<Vec<Seen>, Error> {
        let mut seen = Vec::with_capacity(panel.len());
        let (mut memory, mut buffers) = (Vec::new(), R::Buffers::default());
        for &j in panel {
            let Some(atom) = self.features.atom(j, &self.representation, std::mem::take(&mut memory))? else {
                seen.push(Seen::default());
                continue;
            };
            let bytes = self.representation.bytes(&atom);
            let Outline { target_product, squared_norm, approximation_error, leading } =
                self.representation.outline(&atom, &self.target, &mut buffers);
            let leading = leading.filter(|_| self.seen.products_are_nonnegative);
            let lower_bound_error = leading.as_ref().map_or(0.0, |(_, lower_bound_error)| *lower_bound_error);
            seen.push(Seen { target_product, squared_norm, lower_bound_error, approximation_error, bytes });
            let (cache, bytes) = match &leading {
                Some((leading, _)) => (&self.leading, self.representation.bytes(leading)),
                None => (&self.whole, bytes),
            };
            if self.memory.fits(bytes, self.features.len()) {
                // What is whole is copied: then it has no more memory than is counted.
                let kept = leading.map_or_else(|| atom.clone(), |(leading, _)| leading);
                cache.keep(j, &Arc::new(kept), bytes, &self.memory);
            }
            memory = self.representation.recycled(atom);
        }
        Ok(seen)
    }

    /// Atom `j`, or `None` for a constant feature.
    fn atom(&self, j: usize, keep: bool) -> Result<Option<Arc<R::Atom>>, Error> {
        if self.seen.squared_norms[j] == 0.0 {
            return Ok(None);
        }
        if let Some(atom) = self.whole.get(j) {
            return Ok(Some(atom));
        }
        let Some(atom) = self.features.atom(j, &self.representation, Vec::new())? else { return Ok(None) };
        let atom = Arc::new(self.representation.compact(atom)?);
        if keep {
            self.whole.keep(j, &atom, self.representation.bytes(&atom), &self.memory);
        }
        Ok(Some(atom))
    }

    /// The leading part of atom `j`, or all of it where that is hardly more.
    fn leading(&self, j: usize, keep: bool) -> Result<Option<Arc<R::Atom>>, Error> {
        if self.lower_bound_error(j) == 0.0 {
            return self.atom(j, keep);
        }
        if let Some(atom) = self.leading.get(j) {
            return Ok(Some(atom));
        }
        let Some(atom) = self.features.atom(j, &self.representation, Vec::new())? else { return Ok(None) };
        let outline = self.representation.outline(&atom, &self.target, &mut R::Buffers::default());
        Ok(outline.leading.map(|(leading, _)| Arc::new(leading)))
    }

    /// `⟨rows, columns⟩` of the atoms that `atom` gives.
    fn multiply(
        &self,
        rows: &[usize],
        columns: &[usize],
        out: &mut [f64],
        atom: impl Fn(usize, bool) -> Result<Option<Arc<R::Atom>>, Error> + Sync,
    ) -> Result<(), Error> {
        out.fill(0.0);
        let found = fewest_parallel::try_map(columns.len(), |at| atom(columns[at], true))?;
        let (mut positions, mut atoms) = (Vec::new(), Vec::new());
        for (position, found) in found.into_iter().enumerate() {
            if let Some(found) = found {
                positions.push(position);
                atoms.push(found);
            }
        }
        if positions.is_empty() {
            return Ok(());
        }
        let panel_size = self.representation.panel();
        let keep = rows.len() <= SMALL_REQUEST || self.seen.n_cached >= self.features.len();
        let columns = self.representation.stack(&atoms)?;
        let panels = fewest_parallel::try_map(rows.len().div_ceil(panel_size), |at| {
            let (mut inside, mut atoms) = (Vec::new(), Vec::new());
            for (i, &j) in chunk(rows, panel_size, at).iter().enumerate() {
                if let Some(found) = atom(j, keep)? {
                    inside.push(at * panel_size + i);
                    atoms.push(found);
                }
            }
            let mut products = vec![0.0; inside.len() * positions.len()];
            self.representation.products(&self.representation.stack(&atoms)?, &columns, &mut products);
            Ok::<Panel, Error>((inside, products))
        })?;
        for panel in panels {
            let (inside, products) = panel;
            for (position, products) in positions.iter().zip(products.chunks_exact(inside.len().max(1))) {
                for (row, product) in inside.iter().zip(products) {
                    out[row + position * rows.len()] = *product;
                }
            }
        }
        Ok(())
    }
}

/// Chunk `at` of `size` of `values`, the last perhaps shorter.
fn chunk(values: &[usize], size: usize, at: usize) -> &[usize] {
    &values[at * size..values.len().min((at + 1) * size)]
}

impl<R: Representation> InnerProducts for KernelAtoms<'_, R> {
    fn atoms(&self) -> &Atoms {
        &self.seen
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.multiply(rows, columns, out, |j, keep| self.atom(j, keep))
    }

    fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.multiply(rows, columns, out, |j, keep| self.leading(j, keep))
    }
}
