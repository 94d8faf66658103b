//! Features and target as atoms of a least-squares problem: one centred Gram matrix each.

mod features;
mod low_rank;
mod output;
mod packed;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fewest_core::{Context, Dataset, Error};
use fewest_kernels::{Gram, ScalarKernel};
use fewest_solver::{InnerProducts, Remembered};
use rayon::prelude::*;

use crate::dependence::Dependence;
use features::Features;
use low_rank::LowRank;
use output::Output;
use packed::Packed;

pub(crate) use features::standardise;

pub use features::InputKernel;
pub use output::OutputKernel;

/// Features of a first pass between two looks at the clock.
const ROUND: usize = 512;

/// Requests for more rows than this are passes over everything; what smaller ones build is kept.
const SMALL_REQUEST: usize = 1024;

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
    fn check(self) -> Result<(), Error> {
        match self {
            Measure::Nocco { epsilon } if !(epsilon.is_finite() && epsilon > 0.0) => {
                Err(Error::parameter("epsilon", epsilon, "above 0"))
            }
            _ => Ok(()),
        }
    }
}

/// Which pairs of samples enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Estimator {
    /// All pairs.
    #[default]
    Full,
    /// Pairs within blocks of `size` samples, averaged over all blocks of `permutations` shuffles
    /// (Climente-González, Azencott, Kaski and Yamada 2019). Kept for comparison: the full estimator is
    /// exact.
    Block {
        /// Samples in a block, from 2 to the number of samples. A ragged last block of at least 2 is used too.
        size: usize,
        /// Number of shuffles, at least 1.
        permutations: usize,
    },
}

/// How Gram matrices are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Whichever costs less.
    #[default]
    Auto,
    /// Every entry, exact: `n²/2` numbers a feature, recomputed when needed.
    Exact,
    /// A low-rank factor to a stated tolerance: `n · rank` numbers a feature.
    LowRank,
}

/// A way to hold centred Gram matrices and to multiply them.
pub(crate) trait Representation: Send + Sync {
    type Atom: Send + Sync;
    /// Several atoms laid out for multiplication.
    type Stack: Send + Sync;

    /// The atom of one feature: `points` under `kernel`.
    fn input(&self, kernel: &dyn ScalarKernel, points: &[f64]) -> Result<Self::Atom, Error>;

    /// How many atoms are multiplied at a time: enough to run near the processor's peak, few enough to stay
    /// in its cache. A constant of the data, so that results do not depend on the number of threads.
    fn panel(&self) -> usize;

    /// Memory an atom takes.
    fn bytes(&self, atom: &Self::Atom) -> usize;

    fn stack(&self, atoms: &[Arc<Self::Atom>]) -> Result<Self::Stack, Error>;

    /// `out[i + j · rows] = ⟨rows[i], columns[j]⟩`.
    fn products(&self, rows: &Self::Stack, columns: &Self::Stack, out: &mut [f64]);

    fn squared_norm(&self, atom: &Self::Atom) -> f64;
}

/// The atoms of `data`: one a feature, by `measure` and `dependence`.
pub(crate) fn build<'a>(
    data: &'a Dataset,
    measure: Measure,
    dependence: &'a Dependence,
    context: &Context<'_>,
) -> Result<Box<dyn InnerProducts + Send + 'a>, Error> {
    let n = data.n_samples();
    if n < 2 {
        return Err(Error::TooFew { what: "samples", minimum: 2, found: n });
    }
    if data.sample_weights().is_some() {
        return Err(Error::Unsupported {
            method: "hsic",
            what: "weighting samples".to_owned(),
            instead: "leave the weights out, or repeat rows".to_owned(),
        });
    }
    dependence.check()?;
    measure.check()?;
    let features = Features::new(data, &dependence.input)?;
    let output = Output::new(data.target(), &dependence.output)?;
    let exact = match (dependence.form, dependence.estimator) {
        (Form::LowRank, Estimator::Block { .. }) => {
            return Err(Error::Unsupported {
                method: "the block estimator",
                what: "a low-rank form".to_owned(),
                instead: "blocks are small: leave the form at auto or exact".to_owned(),
            });
        }
        (Form::Exact, _) | (_, Estimator::Block { .. }) => true,
        (Form::LowRank, _) => false,
        (Form::Auto, _) => packed::is_cheaper(n, data.n_features(), dependence.cache_bytes),
    };
    if exact {
        let packed = Packed::new(n, measure, dependence.estimator, context.seed)?;
        let target = packed.output(&output)?;
        let atoms = KernelAtoms::new(features, packed, target, dependence.cache_bytes, context)?;
        Ok(Box::new(Remembered::new(atoms, dependence.cache_bytes)))
    } else {
        let low_rank = LowRank::new(n, measure, dependence.factor_tolerance);
        let target = low_rank.output(&output)?;
        let atoms = KernelAtoms::new(features, low_rank, target, dependence.cache_bytes, context)?;
        Ok(Box::new(Remembered::new(atoms, dependence.cache_bytes)))
    }
}

/// The centred Gram matrix `L̄` of the target, every entry.
pub(crate) fn centred_target(data: &Dataset, kernel: &OutputKernel) -> Result<Gram, Error> {
    let rows: Vec<usize> = (0..data.n_samples()).collect();
    Ok(Output::new(data.target(), kernel)?.gram(&rows)?.centre())
}

/// One atom a feature, built when asked for.
struct KernelAtoms<'a, R: Representation> {
    features: Features<'a>,
    representation: R,
    target_products: Vec<f64>,
    target_squared_norm: f64,
    squared_norms: Vec<f64>,
    cache: Cache<R::Atom>,
    atoms_at_hand: usize,
}

/// Atoms kept for the next request, up to a number of bytes.
struct Cache<A> {
    atoms: Mutex<(BTreeMap<usize, Arc<A>>, usize)>,
    most_bytes: usize,
}

impl<A> Cache<A> {
    fn get(&self, j: usize) -> Option<Arc<A>> {
        self.atoms.lock().unwrap_or_else(PoisonError::into_inner).0.get(&j).cloned()
    }

    fn keep(&self, j: usize, atom: &Arc<A>, bytes: usize) {
        let mut held = self.atoms.lock().unwrap_or_else(PoisonError::into_inner);
        if held.1 + bytes <= self.most_bytes && held.0.insert(j, Arc::clone(atom)).is_none() {
            held.1 += bytes;
        }
    }
}

impl<'a, R: Representation> KernelAtoms<'a, R> {
    /// One pass over all features: their products with the target and their norms.
    fn new(
        features: Features<'a>,
        representation: R,
        target: R::Atom,
        most_bytes: usize,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let d = features.len();
        let target = Arc::new(target);
        let target_squared_norm = representation.squared_norm(&target);
        let stack = representation.stack(std::slice::from_ref(&target))?;
        let panel_size = representation.panel();
        let cache = Cache { atoms: Mutex::default(), most_bytes };
        let (mut target_products, mut squared_norms) = (Vec::with_capacity(d), Vec::with_capacity(d));
        let mut largest_atom = 1;
        // Rounds, so that progress is told and a request to stop is heard between them.
        let round = ROUND.max(panel_size);
        for first in (0..d).step_by(round) {
            if context.interrupted() || context.time_left().is_some_and(|left| left.is_zero()) {
                return Err(Error::Stopped { before: "every feature had been seen once" });
            }
            let panels: Vec<Vec<usize>> = (first..d.min(first + round))
                .collect::<Vec<_>>()
                .chunks(panel_size)
                .map(<[usize]>::to_vec)
                .collect();
            let seen: Vec<Vec<(f64, f64, usize)>> = panels
                .par_iter()
                .map(|panel| {
                    let mut atoms = Vec::with_capacity(panel.len());
                    for &j in panel {
                        atoms.push(features.atom(j, &representation)?.map(Arc::new));
                    }
                    let present: Vec<Arc<R::Atom>> = atoms.iter().flatten().cloned().collect();
                    let mut products = vec![0.0; present.len()];
                    representation.products(&representation.stack(&present)?, &stack, &mut products);
                    let mut products = products.into_iter();
                    let mut seen = Vec::with_capacity(panel.len());
                    for (&j, atom) in panel.iter().zip(&atoms) {
                        seen.push(match atom {
                            None => (0.0, 0.0, 0),
                            Some(atom) => {
                                let bytes = representation.bytes(atom);
                                if bytes.saturating_mul(d) <= most_bytes {
                                    cache.keep(j, atom, bytes);
                                }
                                (products.next().unwrap_or(0.0), representation.squared_norm(atom), bytes)
                            }
                        });
                    }
                    Ok(seen)
                })
                .collect::<Result<_, Error>>()?;
            for (product, squared_norm, bytes) in seen.into_iter().flatten() {
                largest_atom = largest_atom.max(bytes);
                let zero = squared_norm <= ZERO_NORM * features.n_samples() as f64;
                target_products.push(if zero { 0.0 } else { product });
                squared_norms.push(if zero { 0.0 } else { squared_norm });
            }
            context.report("dependence on the target", target_products.len(), d);
        }
        let atoms_at_hand = most_bytes / largest_atom;
        Ok(Self {
            features,
            representation,
            target_products,
            target_squared_norm,
            squared_norms,
            cache,
            atoms_at_hand,
        })
    }

    /// Atom `j`, or `None` for a constant feature.
    fn atom(&self, j: usize, keep: bool) -> Option<Arc<R::Atom>> {
        if self.squared_norms[j] == 0.0 {
            return None;
        }
        if let Some(atom) = self.cache.get(j) {
            return Some(atom);
        }
        // The first pass built every atom without an error, and columns do not change.
        let atom = Arc::new(self.features.atom(j, &self.representation).ok().flatten()?);
        if keep {
            self.cache.keep(j, &atom, self.representation.bytes(&atom));
        }
        Some(atom)
    }
}

impl<R: Representation> InnerProducts for KernelAtoms<'_, R> {
    fn n_atoms(&self) -> usize {
        self.features.len()
    }

    fn target_squared_norm(&self) -> f64 {
        self.target_squared_norm
    }

    fn target_products(&self) -> &[f64] {
        &self.target_products
    }

    fn squared_norms(&self) -> &[f64] {
        &self.squared_norms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        out.fill(0.0);
        let present: Vec<(usize, Arc<R::Atom>)> = columns
            .par_iter()
            .enumerate()
            .filter_map(|(position, &j)| Some((position, self.atom(j, true)?)))
            .collect();
        if present.is_empty() {
            return;
        }
        let (positions, atoms): (Vec<usize>, Vec<Arc<R::Atom>>) = present.into_iter().unzip();
        let panel_size = self.representation.panel();
        let keep = rows.len() <= SMALL_REQUEST;
        // Atoms of one data set have one length: stacking them cannot fail.
        let Ok(columns) = self.representation.stack(&atoms) else { return };
        let panels: Vec<(Vec<usize>, Vec<f64>)> = rows
            .par_chunks(panel_size)
            .enumerate()
            .map(|(panel, panel_rows)| {
                let (inside, atoms): (Vec<usize>, Vec<Arc<R::Atom>>) = panel_rows
                    .iter()
                    .enumerate()
                    .filter_map(|(i, &j)| Some((panel * panel_size + i, self.atom(j, keep)?)))
                    .unzip();
                let mut products = vec![0.0; inside.len() * positions.len()];
                if let Ok(stack) = self.representation.stack(&atoms) {
                    self.representation.products(&stack, &columns, &mut products);
                }
                (inside, products)
            })
            .collect();
        for (inside, products) in panels {
            for (position, products) in positions.iter().zip(products.chunks_exact(inside.len().max(1))) {
                for (row, product) in inside.iter().zip(products) {
                    out[row + position * rows.len()] = *product;
                }
            }
        }
    }

    fn atoms_at_hand(&self) -> usize {
        self.atoms_at_hand
    }

    fn products_are_nonnegative(&self) -> bool {
        self.features.is_positive_semidefinite()
    }
}
