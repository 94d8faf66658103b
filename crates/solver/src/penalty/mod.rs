//! Penalties, one file each.

mod blocks;
mod concave;
mod elastic_net;
mod graph_fused;
mod group_lasso;
mod l1;
mod mcp;
mod overlapping;
mod root;
mod scad;
mod sorted_l1;
mod tilted;
mod tree_lasso;

pub use blocks::Blocks;
pub use concave::{Concave, ConcaveMajorant, ConcavePenalty};
pub use elastic_net::ElasticNetPenalty;
pub use graph_fused::{GraphFusedLasso, SignedEdge};
pub use group_lasso::GroupLasso;
pub use l1::L1;
pub use mcp::Mcp;
pub use overlapping::OverlappingGroupLasso;
pub use root::Root;
pub use scad::Scad;
pub use sorted_l1::SortedL1;
pub use tilted::Tilted;
pub use tree_lasso::TreeLasso;

use crate::Error;

/// A penalty `Ω(w)`, with the functions that every solver of `f(w) + Ω(w)` needs.
///
/// Penalties are convex unless `is_convex` is false, and 0 at `w = 0`. One that is a sum over a partition
/// of the coefficients implements [`BlockPenalty`] and leaves this trait to
/// [`penalty_of_blocks!`](crate::penalty_of_blocks).
pub trait Penalty: Send + Sync {
    /// Its name in messages, such as `group lasso`.
    fn name(&self) -> &'static str;

    /// Number of coefficients.
    fn n_coefficients(&self) -> usize;

    /// `Ω(w)`; infinite where a constraint is violated.
    fn value(&self, w: &[f64]) -> f64;

    /// `w ← argmin_u Ω(u) + ‖u − w‖² / (2 step)`, for a `step` of at least 0; 0 projects on the domain.
    fn prox(&self, w: &mut [f64], step: f64);

    /// Whether the penalty is convex.
    fn is_convex(&self) -> bool {
        true
    }

    /// The penalty as a sum over blocks, if it is one.
    fn by_blocks(&self) -> Option<&dyn BlockPenalty> {
        None
    }

    /// The smallest factor `t` such that zero is the solution under `t Ω`, when `v` are the correlations at
    /// zero (the negative gradient there); infinite where none is large enough, as for correlations that are
    /// not finite. For a norm this is its dual norm.
    ///
    /// With the penalty at `λ = 1` it is the largest useful `λ`. The default bisects `prox_{tΩ}(v) = 0`, to
    /// the last bit up to rounding in the prox: about a hundred evaluations.
    fn dual_norm(&self, v: &[f64]) -> f64 {
        if v.iter().any(|value| !value.is_finite()) {
            return f64::INFINITY;
        }
        smallest_factor(v, 0.0, |moved, t| self.prox(moved, t))
    }
}

/// A convex penalty `Ω(w) = Σ_b Ω_b(w_b)` over blocks of coefficients, with the functions that working sets,
/// screening, duality gaps and Newton steps need.
///
/// The block functions get the entries of one block only, so weights, groups and signs cost the solvers
/// nothing. Required are the blocks, value and prox of a block, and the restriction to some blocks. The other
/// functions have defaults that follow from the prox: `v` is a subgradient of `Ω_b` at zero exactly where
/// `prox_{Ω_b}(v) = 0` (Moreau 1965), and there `Ω_b*(v) = 0`. The defaults assume that the conjugate is
/// infinite elsewhere. For a norm, with or without a sign constraint, this is exact. For any other convex
/// penalty it is an upper bound: gaps and screening stay valid but gaps need not close, so such a penalty
/// should override them.
pub trait BlockPenalty: Penalty {
    /// The blocks.
    fn blocks(&self) -> &Blocks;

    /// `Ω_b(w)`; infinite where a sign constraint is violated.
    fn value_block(&self, block: usize, w: &[f64]) -> f64;

    /// `w ← argmin_u Ω_b(u) + ‖u − w‖² / (2 step)`.
    fn prox_block(&self, block: usize, w: &mut [f64], step: f64);

    /// The penalty of the coefficients `coefficients` (increasing) when all others are zero. They need not be
    /// whole blocks.
    fn restrict(&self, coefficients: &[usize]) -> Box<dyn BlockPenalty>;

    /// A symmetric generalised Jacobian of the prox at `w` (before the prox), `len × len` into `out`.
    ///
    /// The default uses central differences: exact to about seven digits. Newton steps may be less
    /// efficient, but the certificate does not depend on it.
    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        let n = w.len();
        let size = w.iter().fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
        let shift = DIFFERENCE * size;
        let (mut ahead, mut behind) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for j in 0..n {
            for (moved, by) in [(&mut ahead, shift), (&mut behind, -shift)] {
                moved.clear();
                moved.extend_from_slice(w);
                moved[j] += by;
                self.prox_block(block, moved, step);
            }
            for i in 0..n {
                out[i + j * n] = (ahead[i] - behind[i]) / (2.0 * shift);
            }
        }
        for j in 0..n {
            for i in 0..j {
                let mean = 0.5 * (out[i + j * n] + out[j + i * n]);
                out[i + j * n] = mean;
                out[j + i * n] = mean;
            }
        }
    }

    /// The convex conjugate `Ω_b*(v)`; infinite outside its domain, to within rounding.
    fn conjugate_block(&self, block: usize, v: &[f64]) -> f64 {
        let inside = v.iter().map(|v| v * (1.0 - DOMAIN_SLACK)).collect();
        if is_held_at_zero(self, block, inside) { 0.0 } else { f64::INFINITY }
    }

    /// The largest `t ∈ [0, 1]` for which `Ω_b*(t v)` is finite.
    fn dual_scale_block(&self, block: usize, v: &[f64]) -> f64 {
        let holds = |t: f64| is_held_at_zero(self, block, v.iter().map(|v| t * v).collect());
        if holds(1.0) {
            return 1.0;
        }
        let (mut high, mut low) = (1.0, 0.0);
        bisect(&mut high, &mut low, holds);
        low
    }

    /// Whether `w_b = 0` is certain, if the correlations at the dual optimum differ from `v` by at most
    /// `radius[i]` in entry `i`: the gap-safe test.
    ///
    /// The points whose prox is zero are a convex set, so the default tests the corners of a cross that
    /// contains the box: exact for a block of one coefficient. It computes two proxes per
    /// coefficient of the block.
    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool {
        holds_in_cross(self, block, v, radius)
    }

    /// The penalty as a weighted l1 norm, for solvers that follow its piecewise linear path.
    fn as_l1(&self) -> Option<&L1> {
        None
    }

    /// `Σ_b Ω_b(w_b)`: the [`Penalty::value`] of a block penalty.
    fn sum_of_blocks(&self, w: &[f64]) -> f64 {
        let mut entries = Vec::new();
        let blocks = self.blocks();
        (0..blocks.n_blocks()).map(|b| self.value_block(b, gather(w, blocks.block(b), &mut entries))).sum()
    }

    /// The prox of every block in turn: the [`Penalty::prox`] of a block penalty.
    fn prox_of_blocks(&self, w: &mut [f64], step: f64) {
        let mut entries = Vec::new();
        let blocks = self.blocks();
        for b in 0..blocks.n_blocks() {
            let block = blocks.block(b);
            gather(w, block, &mut entries);
            self.prox_block(b, &mut entries, step);
            for (&j, &value) in block.iter().zip(&entries) {
                w[j] = value;
            }
        }
    }

    /// The [`Penalty::dual_norm`] of a block penalty: only the blocks that need more than those before them
    /// are bisected, few of many in random order.
    fn dual_norm_of_blocks(&self, v: &[f64]) -> f64 {
        if v.iter().any(|value| !value.is_finite()) {
            return f64::INFINITY;
        }
        let mut entries = Vec::new();
        let blocks = self.blocks();
        (0..blocks.n_blocks()).fold(0.0, |least: f64, b| {
            if least.is_infinite() {
                return least;
            }
            let v = gather(v, blocks.block(b), &mut entries);
            smallest_factor(v, least, |moved, t| self.prox_block(b, moved, t))
        })
    }

    /// `Ω*(v)`.
    fn conjugate(&self, v: &[f64]) -> f64 {
        let mut entries = Vec::new();
        let blocks = self.blocks();
        (0..blocks.n_blocks())
            .map(|b| self.conjugate_block(b, gather(v, blocks.block(b), &mut entries)))
            .sum()
    }

    /// The largest `t ∈ [0, 1]` for which `Ω*(t v)` is finite.
    fn dual_scale(&self, v: &[f64]) -> f64 {
        let mut entries = Vec::new();
        let blocks = self.blocks();
        (0..blocks.n_blocks())
            .map(|b| self.dual_scale_block(b, gather(v, blocks.block(b), &mut entries)))
            .fold(1.0, f64::min)
    }

    /// A `t ∈ [0, 1]` for which `Ω*(t v)` is finite, and `Ω*(t v)`: the dual point of a duality gap at `w`,
    /// where the correlations are `v`.
    ///
    /// The default takes the [`dual_scale`](Self::dual_scale). A penalty for which that is hard to compute on
    /// the border of the domain, where the correlations at a solution are, may find a scale with the help of
    /// `w`, which need be good at a solution only.
    fn dual_point(&self, _w: &[f64], v: &[f64]) -> (f64, f64) {
        let t = self.dual_scale(v);
        let scaled: Vec<f64> = v.iter().map(|v| t * v).collect();
        (t, self.conjugate(&scaled))
    }
}

/// Implements [`Penalty`] for a type that is a [`BlockPenalty`], with its name for messages.
///
/// ```
/// use fewest_solver::{BlockPenalty, Blocks, Penalty, penalty_of_blocks};
///
/// /// `Σ |wⱼ|` over blocks of one.
/// struct Lasso(Blocks);
///
/// penalty_of_blocks!(Lasso, "lasso");
///
/// impl BlockPenalty for Lasso {
///     fn blocks(&self) -> &Blocks {
///         &self.0
///     }
///
///     fn value_block(&self, _: usize, w: &[f64]) -> f64 {
///         w[0].abs()
///     }
///
///     fn prox_block(&self, _: usize, w: &mut [f64], step: f64) {
///         w[0] -= w[0].clamp(-step, step);
///     }
///
///     fn restrict(&self, coefficients: &[usize]) -> Box<dyn BlockPenalty> {
///         Box::new(Self(Blocks::separable(coefficients.len())))
///     }
/// }
///
/// let mut w = [3.0, -0.5];
/// Lasso(Blocks::separable(2)).prox(&mut w, 1.0);
/// assert_eq!(w, [2.0, 0.0]);
/// ```
#[macro_export]
macro_rules! penalty_of_blocks {
    ($penalty:ty, $name:literal) => {
        impl $crate::Penalty for $penalty {
            fn name(&self) -> &'static str {
                $name
            }

            fn n_coefficients(&self) -> usize {
                $crate::BlockPenalty::blocks(self).n_coefficients()
            }

            fn value(&self, w: &[f64]) -> f64 {
                $crate::BlockPenalty::sum_of_blocks(self, w)
            }

            fn prox(&self, w: &mut [f64], step: f64) {
                $crate::BlockPenalty::prox_of_blocks(self, w, step);
            }

            fn dual_norm(&self, v: &[f64]) -> f64 {
                $crate::BlockPenalty::dual_norm_of_blocks(self, v)
            }

            fn by_blocks(&self) -> Option<&dyn $crate::BlockPenalty> {
                Some(self)
            }
        }
    };
}

impl dyn Penalty + '_ {
    /// The penalty as a convex sum over blocks, for `solver`, which supports no other.
    ///
    /// # Errors
    /// [`Error::Unsupported`], which names the penalty, for one that is not convex or not a sum over blocks.
    pub fn convex_blocks(&self, solver: &'static str) -> Result<&dyn BlockPenalty, Error> {
        let refuse = |why: &str| Error::Unsupported {
            method: solver,
            what: format!("the penalty {}, which is not {why}", self.name()),
            instead: "use the solver pgd, or a penalty such as l1, elastic net or group lasso".to_owned(),
        };
        if !self.is_convex() {
            return Err(refuse("convex"));
        }
        self.by_blocks().ok_or_else(|| refuse("a sum over blocks of coefficients"))
    }
}

/// Whether the prox of `v` with step 1 is zero.
fn is_held_at_zero<P: BlockPenalty + ?Sized>(penalty: &P, block: usize, mut v: Vec<f64>) -> bool {
    penalty.prox_block(block, &mut v, 1.0);
    v.iter().all(|&value| value == 0.0)
}

/// The default of [`BlockPenalty::is_screened`].
fn holds_in_cross<P: BlockPenalty + ?Sized>(penalty: &P, block: usize, v: &[f64], radius: &[f64]) -> bool {
    // Inside, and not on the border of, the set.
    let reach = v.len() as f64 * (1.0 + STRICTLY);
    let is_bounded = v.iter().zip(radius).all(|(v, radius)| (v.abs() + reach * radius).is_finite());
    is_bounded
        && (0..v.len()).all(|i| {
            [-1.0, 1.0].into_iter().all(|sign| {
                let mut corner = v.to_vec();
                corner[i] += sign * reach * radius[i];
                is_held_at_zero(penalty, block, corner)
            })
        })
}

/// [`BlockPenalty::is_screened`] of a penalty that depends on the sizes of the coefficients only: its prox is
/// zero for all `|u| ≤ |v|` if it is zero for `v`.
fn holds_around<P: BlockPenalty + ?Sized>(penalty: &P, block: usize, v: &[f64], radius: &[f64]) -> bool {
    let farthest = |(v, r): (&f64, &f64)| (v.abs() + r) * (1.0 + STRICTLY);
    is_held_at_zero(penalty, block, v.iter().zip(radius).map(farthest).collect())
}

/// The smallest step of at least `least` with which `prox` takes `v` to zero, infinite where there is none.
fn smallest_factor(v: &[f64], least: f64, prox: impl Fn(&mut [f64], f64)) -> f64 {
    let mut moved = Vec::with_capacity(v.len());
    let mut is_zero = |t: f64| {
        moved.clear();
        moved.extend_from_slice(v);
        prox(&mut moved, t);
        moved.iter().all(|&value| value == 0.0)
    };
    if is_zero(least) {
        return least;
    }
    // Above 0, so that it can grow: a prox that moves zero itself fails here, too.
    let size = v.iter().fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
    let (mut low, mut high) = (least, size.max(least));
    while !is_zero(high) {
        low = high;
        high *= 4.0;
        if !high.is_finite() {
            return f64::INFINITY;
        }
    }
    bisect(&mut low, &mut high, is_zero);
    high
}

/// Halves the interval between `fails` and `holds` until no number is left between them.
fn bisect(fails: &mut f64, holds: &mut f64, mut test: impl FnMut(f64) -> bool) {
    loop {
        let middle = 0.5 * (*fails + *holds);
        if middle == *fails || middle == *holds {
            return;
        }
        *(if test(middle) { &mut *holds } else { &mut *fails }) = middle;
    }
}

/// The representative of `j` in a forest of pointers towards the first member of its set.
fn find(first: &mut [usize], mut j: usize) -> usize {
    while first[j] != j {
        first[j] = first[first[j]];
        j = first[j];
    }
    j
}

fn gather<'a>(values: &[f64], block: &[usize], entries: &'a mut Vec<f64>) -> &'a mut [f64] {
    entries.clear();
    entries.extend(block.iter().map(|&j| values[j]));
    entries
}

/// Rounding allowed when a dual point is checked against the conjugate's domain.
const DOMAIN_SLACK: f64 = 1e-12;

/// Share by which a sphere is made larger, so that no point inside is on the border.
const STRICTLY: f64 = 1e-6;

/// Step of the finite differences that approximate a Jacobian, relative to the largest entry.
const DIFFERENCE: f64 = 1e-6;

fn check_level(name: &'static str, value: f64) -> Result<(), Error> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        Err(Error::parameter(name, value, "finite and at least 0"))
    }
}
