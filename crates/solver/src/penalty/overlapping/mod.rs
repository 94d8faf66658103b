//! The group lasso with groups that overlap.

mod split;

use nalgebra::DMatrix;

use self::split::{Group, Split, split};
use super::l1::shrink;
use super::{BlockPenalty, Blocks, Penalty, check_level, find, holds_around};
use crate::Error;

/// Rounding of a prox allowed for when a dual point is checked against its bound.
const DUAL_SLACK: f64 = 1e-9;

/// Steps of the search for a dual norm.
const MOST_NORMS: usize = 60;

/// Distance of its bounds, as a share of it, at which it ends.
const NORM_ACCURACY: f64 = 1e-12;

/// Shares of the dual norm known so far at which the prox is taken where that at the norm brings no more.
const SMALLER: [f64; 6] = [1.0, 1.0 - 1e-8, 1.0 - 1e-6, 1.0 - 1e-4, 0.999, 0.99];

/// `Σ_g λ √|g| ‖w_g‖₂ + λ₁ ‖w‖₁` over groups that may share coefficients (Jenatton, Audibert and Bach 2011;
/// Eq. 88 of the survey). The zeros of `w` are a union of groups, and by the l1 norm single coefficients.
///
/// A block is a connected component of groups. Its prox is that of the l1 norm first, then that of the
/// groups, found to rounding by descent in the dual and Newton steps. The cost of a sweep or of a product in
/// a Newton step is the number of members of all groups.
///
/// The correlations at a solution are on the border of what the penalty holds, where their prox is hard to
/// tell from zero. So [`dual_point`](BlockPenalty::dual_point) takes the prox at the coefficients plus a
/// multiple of the correlations, which at a solution is the coefficients.
#[derive(Debug, Clone, PartialEq)]
pub struct OverlappingGroupLasso {
    blocks: Blocks,
    groups: Vec<Vec<Group>>,
    l1: f64,
}

impl OverlappingGroupLasso {
    /// Groups of coefficients `0 .. n`, each with the level `lambda · √size`. A coefficient in no group has
    /// no penalty unless [`with_l1`](Self::with_l1) adds one.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a `lambda` that is negative or not finite; [`Error::InvalidPart`]
    /// names a group that is empty or has a coefficient twice or out of range.
    ///
    /// ```
    /// use fewest_solver::{OverlappingGroupLasso, Penalty};
    /// let penalty = OverlappingGroupLasso::new(1.0, 3, &[vec![0, 1], vec![1, 2]])?;
    /// assert!((penalty.value(&[3.0, 4.0, 0.0]) - 2.0_f64.sqrt() * (5.0 + 4.0)).abs() < 1e-12);
    /// let mut w = [0.5, 5.0, 0.0];
    /// penalty.prox(&mut w, 1.0);
    /// assert!(w[1] > w[0] && w[0] > 0.0 && w[2] == 0.0);
    /// # Ok::<(), fewest_solver::Error>(())
    /// ```
    pub fn new(lambda: f64, n: usize, groups: &[Vec<usize>]) -> Result<Self, Error> {
        check_level("lambda", lambda)?;
        let mut last = vec![usize::MAX; n];
        for (number, group) in groups.iter().enumerate() {
            let mut problem = group.is_empty().then(|| "has no coefficient: leave it out".to_owned());
            for &j in group {
                match last.get_mut(j) {
                    None => {
                        problem = Some(format!("names coefficient {j}, but there are {n}, counted from 0"));
                    }
                    Some(last) if *last == number => {
                        problem = Some(format!("has coefficient {j} twice: name it once"));
                    }
                    Some(last) => *last = number,
                }
            }
            if let Some(problem) = problem {
                return Err(Error::InvalidPart { part: "group", number, problem });
            }
        }
        let levels = groups.iter().map(|group| lambda * (group.len() as f64).sqrt());
        Ok(Self::from_levels(n, groups.iter().map(Vec::as_slice).zip(levels), 0.0))
    }

    /// With `level · ‖w‖₁` added.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a level that is negative or not finite.
    pub fn with_l1(mut self, level: f64) -> Result<Self, Error> {
        check_level("l1 level", level)?;
        self.l1 = level;
        Ok(self)
    }

    fn from_levels<'a>(n: usize, groups: impl Iterator<Item = (&'a [usize], f64)> + Clone, l1: f64) -> Self {
        let mut first: Vec<usize> = (0..n).collect();
        for (group, _) in groups.clone() {
            for pair in group.windows(2) {
                let (a, b) = (find(&mut first, pair[0]), find(&mut first, pair[1]));
                first[a.max(b)] = a.min(b);
            }
        }
        let component: Vec<usize> = (0..n).map(|j| find(&mut first, j)).collect();
        let blocks = Blocks::from_groups(&component);
        let mut place = vec![(0, 0); n];
        for (b, block) in blocks.iter().enumerate() {
            block.iter().enumerate().for_each(|(at, &j)| place[j] = (b, at));
        }
        let mut of_block = vec![Vec::new(); blocks.n_blocks()];
        for (group, level) in groups {
            if let Some(&any) = group.first() {
                let members = group.iter().map(|&j| place[j].1).collect();
                of_block[place[any].0].push(Group { members, level });
            }
        }
        Self { blocks, groups: of_block, l1 }
    }

    fn soft(&self, v: &[f64], step: f64) -> Vec<f64> {
        v.iter().map(|&v| shrink(v, step * self.l1, false)).collect()
    }

    /// A bound of the dual norm of `x` in a block: by the l1 norm, or by dividing each entry among its groups
    /// in proportion to their levels.
    fn dual_bound(&self, block: usize, x: &[f64]) -> f64 {
        let most = |sizes: &mut dyn Iterator<Item = f64>| {
            sizes.map(|size| if size.is_nan() { f64::INFINITY } else { size }).fold(0.0, f64::max)
        };
        let by_l1 = most(&mut x.iter().filter(|x| **x != 0.0).map(|x| x.abs() / self.l1));
        let mut levels = vec![0.0; x.len()];
        for group in &self.groups[block] {
            group.members.iter().for_each(|&i| levels[i] += group.level);
        }
        let shares: Vec<f64> =
            x.iter().zip(&levels).map(|(&x, level)| if x == 0.0 { 0.0 } else { x / level }).collect();
        // What no group can take is infinite here.
        let alone = most(&mut shares.iter().map(|share| share.abs()).filter(|share| !share.is_finite()));
        let by_groups = most(&mut self.groups[block].iter().map(|group| group.norm(&shares)));
        by_l1.min(by_groups.max(alone))
    }

    /// The dual norm of `v` in a block, from below and from above, if it is at least `least`, above 0.
    ///
    /// What the prox of the penalty times `t` takes from `v` has at most the dual norm `t`, and what it
    /// leaves, `x`, gives the rest, and a larger `t`: `⟨v, x⟩ / Ω(x)`, which is at most the dual norm and
    /// differs by the square of the length of `x` (Dinkelbach 1967). A prox close to zero may not be found:
    /// then one at a smaller `t`, which is longer, gives nearly the same direction.
    fn dual_norm_block(&self, block: usize, v: &[f64], least: f64) -> (f64, f64) {
        let (mut t, mut above) = (least, f64::INFINITY);
        if v.iter().any(|v| !v.is_finite()) {
            return (above, above);
        }
        let mut near: Option<Split> = None;
        let mut smaller = SMALLER.iter();
        let mut at = t;
        for _ in 0..MOST_NORMS {
            let found = split(&self.groups[block], &self.soft(v, at), at, near.as_ref());
            let left: Vec<f64> = found.x.iter().zip(&found.error).map(|(x, error)| x + error).collect();
            above = above.min(at + self.dual_bound(block, &left));
            // Every direction bounds the norm from below: also what is left where the prox is not found.
            let ratio = |x: &[f64]| {
                let product: f64 = v.iter().zip(x).map(|(v, x)| v * x).sum();
                product / self.value_block(block, x)
            };
            let next = ratio(&found.x).max(ratio(&left));
            if next > t {
                (t, at, near) = (next, next, Some(found));
                smaller = SMALLER.iter();
                continue;
            }
            if above <= t * (1.0 + NORM_ACCURACY) {
                break;
            }
            let Some(share) = smaller.next() else { break };
            (at, near) = (share * t, None);
        }
        (t, above)
    }
}

impl Penalty for OverlappingGroupLasso {
    fn name(&self) -> &'static str {
        "overlapping group lasso"
    }

    fn n_coefficients(&self) -> usize {
        self.blocks.n_coefficients()
    }

    fn value(&self, w: &[f64]) -> f64 {
        self.sum_of_blocks(w)
    }

    fn prox(&self, w: &mut [f64], step: f64) {
        self.prox_of_blocks(w, step);
    }

    fn by_blocks(&self) -> Option<&dyn BlockPenalty> {
        Some(self)
    }

    fn dual_norm(&self, v: &[f64]) -> f64 {
        let of_block = |(b, block): (usize, &[usize])| {
            let entries: Vec<f64> = block.iter().map(|&j| v[j]).collect();
            match (entries.iter().all(|v| *v == 0.0), entries.iter().all(|v| v.is_finite())) {
                (true, _) => 0.0,
                (false, true) => {
                    let least = entries.iter().map(|v| v * v).sum::<f64>() / self.value_block(b, &entries);
                    if !least.is_finite() {
                        return f64::INFINITY;
                    }
                    let (below, above) = self.dual_norm_block(b, &entries, least);
                    // Above by what rounding leaves of a prox, which is more than is missing below.
                    if above.is_finite() { below } else { above }
                }
                (false, false) => f64::INFINITY,
            }
        };
        self.blocks.iter().enumerate().map(of_block).fold(0.0, f64::max)
    }
}

impl BlockPenalty for OverlappingGroupLasso {
    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn value_block(&self, block: usize, w: &[f64]) -> f64 {
        let groups: f64 = self.groups[block].iter().map(|group| group.level * group.norm(w)).sum();
        if self.l1 > 0.0 { groups + self.l1 * w.iter().map(|w| w.abs()).sum::<f64>() } else { groups }
    }

    fn prox_block(&self, block: usize, w: &mut [f64], step: f64) {
        w.copy_from_slice(&split(&self.groups[block], &self.soft(w, step), step, None).x);
    }

    /// The inverse of `I + Σ_g level_g (I_g / ‖x_g‖ − x_g x_gᵀ / ‖x_g‖³)` on the coefficients that are not
    /// zero.
    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        let n = w.len();
        out.fill(0.0);
        let Split { x, is_zero, .. } = split(&self.groups[block], &self.soft(w, step), step, None);
        let kept: Vec<usize> = (0..n).filter(|&i| x[i] != 0.0).collect();
        let mut place = vec![None; n];
        kept.iter().enumerate().for_each(|(at, &i)| place[i] = Some(at));
        let mut matrix = DMatrix::<f64>::identity(kept.len(), kept.len());
        for (group, _) in self.groups[block].iter().zip(is_zero).filter(|(_, is_zero)| !is_zero) {
            let members: Vec<(usize, f64)> =
                group.members.iter().filter_map(|&i| Some((place[i]?, x[i]))).collect();
            let norm = group.norm(&x);
            if norm == 0.0 {
                continue;
            }
            let scale = step * group.level / norm;
            for &(i, a) in &members {
                matrix[(i, i)] += scale;
                for &(j, b) in &members {
                    matrix[(i, j)] -= scale * (a / norm) * (b / norm);
                }
            }
        }
        // At least the identity, so this fails only where values overflow.
        let Some(factor) = matrix.cholesky() else { return };
        let inverse = factor.inverse();
        for (a, &i) in kept.iter().enumerate() {
            for (b, &j) in kept.iter().enumerate() {
                out[i + j * n] = inverse[(a.min(b), a.max(b))];
            }
        }
    }

    fn conjugate_block(&self, block: usize, v: &[f64]) -> f64 {
        let (below, _) = self.dual_norm_block(block, v, 1.0);
        if below <= 1.0 + DUAL_SLACK { 0.0 } else { f64::INFINITY }
    }

    fn dual_scale_block(&self, block: usize, v: &[f64]) -> f64 {
        if v.iter().all(|v| *v == 0.0) {
            return 1.0;
        }
        let (_, norm) = self.dual_norm_block(block, v, 1.0);
        if norm.is_finite() { norm.max(1.0).recip() } else { 0.0 }
    }

    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool {
        holds_around(self, block, v, radius)
    }

    fn restrict(&self, coefficients: &[usize]) -> Box<dyn BlockPenalty> {
        let mut place = vec![None; self.blocks.n_coefficients()];
        coefficients.iter().enumerate().for_each(|(at, &j)| place[j] = Some(at));
        let mut groups: Vec<(Vec<usize>, f64)> = Vec::new();
        for (block, of_block) in self.blocks.iter().zip(&self.groups) {
            for group in of_block {
                let members = group.members.iter().filter_map(|&i| place[block[i]]).collect();
                groups.push((members, group.level));
            }
        }
        let groups = groups.iter().map(|(members, level)| (members.as_slice(), *level));
        Box::new(Self::from_levels(coefficients.len(), groups, self.l1))
    }

    /// With `u = w + s v` and its prox `x`, `v = (u − x) / s + (x − w) / s`: the first has at most the dual
    /// norm 1, and the second is zero at a solution.
    fn dual_point(&self, w: &[f64], v: &[f64]) -> (f64, f64) {
        let mut most = 1.0_f64;
        for (b, block) in self.blocks.iter().enumerate() {
            let own = |values: &[f64]| block.iter().map(|&j| values[j]).collect::<Vec<f64>>();
            let (w, v) = (own(w), own(v));
            let size = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
            let step = size(&w) / size(&v);
            if step == 0.0 || !step.is_finite() || w.iter().any(|w| !w.is_finite()) {
                most = most.max(self.dual_scale_block(b, &v).recip());
                continue;
            }
            let shifted: Vec<f64> = w.iter().zip(&v).map(|(w, v)| w + step * v).collect();
            let Split { x, error, .. } = split(&self.groups[b], &self.soft(&shifted, step), step, None);
            let left: Vec<f64> =
                x.iter().zip(&error).zip(&w).map(|((x, error), w)| (x + error - w) / step).collect();
            most = most.max(1.0 + self.dual_bound(b, &left));
        }
        // At this scale the conjugate is 0.
        (if most.is_finite() { most.recip() } else { 0.0 }, 0.0)
    }
}
