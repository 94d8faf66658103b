//! Penalties: what makes coefficients zero.

use crate::Error;

/// A partition of the coefficients into blocks that a penalty treats together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    offsets: Vec<usize>,
    members: Vec<usize>,
}

impl Blocks {
    /// `n` blocks of one coefficient each.
    pub fn separable(n: usize) -> Self {
        Self { offsets: (0..=n).collect(), members: (0..n).collect() }
    }

    /// One block for each distinct number in `groups`, by increasing number; `groups[j]` is the group of
    /// coefficient `j`.
    pub fn from_groups(groups: &[usize]) -> Self {
        let mut members: Vec<usize> = (0..groups.len()).collect();
        members.sort_by_key(|&j| groups[j]);
        let mut offsets: Vec<usize> =
            (0..members.len()).filter(|&i| i == 0 || groups[members[i]] != groups[members[i - 1]]).collect();
        offsets.push(members.len());
        Self { offsets, members }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of coefficients.
    pub fn n_coefficients(&self) -> usize {
        self.members.len()
    }

    /// The coefficients of block `b`, increasing.
    pub fn block(&self, b: usize) -> &[usize] {
        &self.members[self.offsets[b]..self.offsets[b + 1]]
    }

    /// All blocks in order.
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        (0..self.len()).map(|b| self.block(b))
    }
}

/// A penalty `Ω(w) = Σ_b Ω_b(w_b)` over blocks of coefficients.
///
/// The block functions see the entries of one block only, so weights, groups and signs cost the solvers
/// nothing. All penalties here are convex; one that is not says so, and solvers that need convexity
/// refuse it.
pub trait Penalty: Send + Sync {
    /// The blocks.
    fn blocks(&self) -> &Blocks;

    /// `Ω_b(w)`; infinite where a sign constraint is broken.
    fn value_block(&self, block: usize, w: &[f64]) -> f64;

    /// `w ← argmin_u Ω_b(u) + ‖u − w‖² / (2 step)`.
    fn prox_block(&self, block: usize, w: &mut [f64], step: f64);

    /// A symmetric generalised Jacobian of the prox at `w` (before the prox), `len × len` into `out`.
    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]);

    /// The convex conjugate `Ω_b*(v)`; infinite outside its domain, to within rounding.
    fn conjugate_block(&self, block: usize, v: &[f64]) -> f64;

    /// The largest `t ∈ [0, 1]` for which `Ω_b*(t v)` is finite.
    fn dual_scale_block(&self, block: usize, v: &[f64]) -> f64;

    /// Whether `w_b = 0` for sure, when the correlations at the dual optimum differ from `v` by at most
    /// `radius[i]` in entry `i`: the gap-safe test.
    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool;

    /// The penalty of the coefficients `coefficients` (increasing; whole blocks) alone.
    fn restrict(&self, coefficients: &[usize]) -> Box<dyn Penalty>;

    /// Whether the penalty is convex.
    fn is_convex(&self) -> bool {
        true
    }

    /// The penalty as a weighted l1 norm, for solvers that follow its piecewise linear path.
    fn as_l1(&self) -> Option<&L1> {
        None
    }

    /// `Ω(w)`.
    fn value(&self, w: &[f64]) -> f64 {
        let mut entries = Vec::new();
        let blocks = self.blocks();
        (0..blocks.len()).map(|b| self.value_block(b, gather(w, blocks.block(b), &mut entries))).sum()
    }

    /// `w ← argmin_u Ω(u) + ‖u − w‖² / (2 step)`.
    fn prox(&self, w: &mut [f64], step: f64) {
        let mut entries = Vec::new();
        let blocks = self.blocks();
        for b in 0..blocks.len() {
            let block = blocks.block(b);
            gather(w, block, &mut entries);
            self.prox_block(b, &mut entries, step);
            for (&j, &value) in block.iter().zip(&entries) {
                w[j] = value;
            }
        }
    }

    /// `Ω*(v)`.
    fn conjugate(&self, v: &[f64]) -> f64 {
        let mut entries = Vec::new();
        let blocks = self.blocks();
        (0..blocks.len()).map(|b| self.conjugate_block(b, gather(v, blocks.block(b), &mut entries))).sum()
    }

    /// The largest `t ∈ [0, 1]` for which `Ω*(t v)` is finite.
    fn dual_scale(&self, v: &[f64]) -> f64 {
        let mut entries = Vec::new();
        let blocks = self.blocks();
        (0..blocks.len())
            .map(|b| self.dual_scale_block(b, gather(v, blocks.block(b), &mut entries)))
            .fold(1.0, f64::min)
    }
}

fn gather<'a>(values: &[f64], block: &[usize], entries: &'a mut Vec<f64>) -> &'a mut [f64] {
    entries.clear();
    entries.extend(block.iter().map(|&j| values[j]));
    entries
}

/// Rounding allowed when a dual point is checked against the conjugate's domain.
const DOMAIN_SLACK: f64 = 1e-12;

fn check_level(name: &'static str, value: f64) -> Result<(), Error> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        Err(Error::parameter(name, value, "finite and at least 0"))
    }
}

/// `soft(w, t)`: towards zero by `t`; with `nonnegative`, negative values become zero.
fn shrink(w: f64, threshold: f64, nonnegative: bool) -> f64 {
    if w > threshold {
        w - threshold
    } else if !nonnegative && w < -threshold {
        w + threshold
    } else {
        0.0
    }
}

/// `λ Σⱼ weightⱼ |wⱼ|`, optionally with `w ≥ 0`.
#[derive(Debug, Clone, PartialEq)]
pub struct L1 {
    blocks: Blocks,
    levels: Vec<f64>,
    nonnegative: bool,
}

impl L1 {
    /// The same `lambda ≥ 0` for `n` coefficients, of any sign.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a `lambda` that is negative or not finite.
    pub fn new(lambda: f64, n: usize) -> Result<Self, Error> {
        check_level("lambda", lambda)?;
        Ok(Self { blocks: Blocks::separable(n), levels: vec![lambda; n], nonnegative: false })
    }

    /// A level of its own, `lambda · weights[j]`, for each coefficient.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a level that is negative or not finite.
    pub fn weighted(lambda: f64, weights: &[f64]) -> Result<Self, Error> {
        check_level("lambda", lambda)?;
        weights.iter().try_for_each(|&weight| check_level("weight", weight))?;
        let levels: Vec<f64> = weights.iter().map(|weight| lambda * weight).collect();
        levels.iter().try_for_each(|&level| check_level("lambda * weight", level))?;
        Ok(Self { blocks: Blocks::separable(weights.len()), levels, nonnegative: false })
    }

    /// With the constraint `w ≥ 0`.
    #[must_use]
    pub fn nonnegative(mut self) -> Self {
        self.nonnegative = true;
        self
    }

    /// The level of each coefficient, `lambda · weight`.
    pub fn levels(&self) -> &[f64] {
        &self.levels
    }

    /// Whether `w ≥ 0` is imposed.
    pub fn is_nonnegative(&self) -> bool {
        self.nonnegative
    }

    /// The part of a correlation that the penalty must hold down.
    fn pull(&self, v: f64) -> f64 {
        if self.nonnegative { v } else { v.abs() }
    }
}

impl Penalty for L1 {
    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn as_l1(&self) -> Option<&L1> {
        Some(self)
    }

    fn value_block(&self, block: usize, w: &[f64]) -> f64 {
        if self.nonnegative && w[0] < 0.0 { f64::INFINITY } else { self.levels[block] * w[0].abs() }
    }

    fn prox_block(&self, block: usize, w: &mut [f64], step: f64) {
        w[0] = shrink(w[0], step * self.levels[block], self.nonnegative);
    }

    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        out[0] = if shrink(w[0], step * self.levels[block], self.nonnegative) == 0.0 { 0.0 } else { 1.0 };
    }

    fn conjugate_block(&self, block: usize, v: &[f64]) -> f64 {
        if self.pull(v[0]) <= self.levels[block] * (1.0 + DOMAIN_SLACK) { 0.0 } else { f64::INFINITY }
    }

    fn dual_scale_block(&self, block: usize, v: &[f64]) -> f64 {
        let pull = self.pull(v[0]);
        if pull <= self.levels[block] { 1.0 } else { self.levels[block] / pull }
    }

    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool {
        self.pull(v[0]) + radius[0] < self.levels[block]
    }

    fn restrict(&self, coefficients: &[usize]) -> Box<dyn Penalty> {
        Box::new(Self {
            blocks: Blocks::separable(coefficients.len()),
            levels: coefficients.iter().map(|&j| self.levels[j]).collect(),
            nonnegative: self.nonnegative,
        })
    }
}

/// `Σⱼ λ|wⱼ| + ½ ridge wⱼ²`, optionally with `w ≥ 0` (Zou and Hastie 2005).
#[derive(Debug, Clone, PartialEq)]
pub struct ElasticNet {
    l1: L1,
    ridge: f64,
}

impl ElasticNet {
    /// An l1 penalty with a ridge above 0 added. (With a ridge of 0, use [`L1`] itself.)
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a ridge that is not finite and above 0.
    pub fn new(l1: L1, ridge: f64) -> Result<Self, Error> {
        if ridge.is_finite() && ridge > 0.0 {
            Ok(Self { l1, ridge })
        } else {
            Err(Error::parameter("ridge", ridge, "finite and above 0"))
        }
    }
}

impl Penalty for ElasticNet {
    fn blocks(&self) -> &Blocks {
        &self.l1.blocks
    }

    fn value_block(&self, block: usize, w: &[f64]) -> f64 {
        self.l1.value_block(block, w) + 0.5 * self.ridge * w[0] * w[0]
    }

    fn prox_block(&self, block: usize, w: &mut [f64], step: f64) {
        self.l1.prox_block(block, w, step);
        w[0] /= 1.0 + step * self.ridge;
    }

    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        self.l1.prox_jacobian_block(block, w, step, out);
        out[0] /= 1.0 + step * self.ridge;
    }

    fn conjugate_block(&self, block: usize, v: &[f64]) -> f64 {
        let excess = (self.l1.pull(v[0]) - self.l1.levels[block]).max(0.0);
        0.5 * excess * excess / self.ridge
    }

    fn dual_scale_block(&self, _block: usize, _v: &[f64]) -> f64 {
        1.0
    }

    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool {
        self.l1.is_screened(block, v, radius)
    }

    fn restrict(&self, coefficients: &[usize]) -> Box<dyn Penalty> {
        let levels = coefficients.iter().map(|&j| self.l1.levels[j]).collect();
        let blocks = Blocks::separable(coefficients.len());
        Box::new(Self { l1: L1 { blocks, levels, nonnegative: self.l1.nonnegative }, ridge: self.ridge })
    }
}

/// `λ Σ_g weight_g ‖w_g‖₂`, optionally with `w ≥ 0` (Section 2.6 of the HSIC Lasso paper; Yuan and Lin 2006).
#[derive(Debug, Clone, PartialEq)]
pub struct GroupLasso {
    blocks: Blocks,
    levels: Vec<f64>,
    nonnegative: bool,
}

impl GroupLasso {
    /// `groups[j]` is the group of coefficient `j`; every group's weight is 1.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a `lambda` that is negative or not finite.
    pub fn new(lambda: f64, groups: &[usize]) -> Result<Self, Error> {
        check_level("lambda", lambda)?;
        let blocks = Blocks::from_groups(groups);
        let levels = vec![lambda; blocks.len()];
        Ok(Self { blocks, levels, nonnegative: false })
    }

    /// With every group's level multiplied by the square root of its size.
    #[must_use]
    pub fn weighted_by_size(mut self) -> Self {
        for (level, block) in self.levels.iter_mut().zip(self.blocks.iter()) {
            *level *= (block.len() as f64).sqrt();
        }
        self
    }

    /// With the constraint `w ≥ 0`.
    #[must_use]
    pub fn nonnegative(mut self) -> Self {
        self.nonnegative = true;
        self
    }

    /// The part of an entry that counts towards the group's norm.
    fn part(&self, value: f64) -> f64 {
        if self.nonnegative { value.max(0.0) } else { value }
    }

    fn norm(&self, values: &[f64]) -> f64 {
        values.iter().map(|&value| self.part(value).powi(2)).sum::<f64>().sqrt()
    }
}

impl Penalty for GroupLasso {
    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn value_block(&self, block: usize, w: &[f64]) -> f64 {
        if self.nonnegative && w.iter().any(|&value| value < 0.0) {
            return f64::INFINITY;
        }
        self.levels[block] * self.norm(w)
    }

    fn prox_block(&self, block: usize, w: &mut [f64], step: f64) {
        let norm = self.norm(w);
        let threshold = step * self.levels[block];
        let scale = if norm > threshold { 1.0 - threshold / norm } else { 0.0 };
        for value in w {
            *value = scale * self.part(*value);
        }
    }

    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        let norm = self.norm(w);
        let threshold = step * self.levels[block];
        out.fill(0.0);
        if norm <= threshold {
            return;
        }
        // Of p ↦ (1 − threshold / ‖p‖) p at the part p of w that counts.
        let (scale, curve) = (1.0 - threshold / norm, threshold / norm.powi(3));
        let counts = |value: f64| !self.nonnegative || value > 0.0;
        for (j, &b) in w.iter().enumerate().filter(|&(_, &b)| counts(b)) {
            for (i, &a) in w.iter().enumerate().filter(|&(_, &a)| counts(a)) {
                out[i + j * w.len()] = curve * (a * b) + if i == j { scale } else { 0.0 };
            }
        }
    }

    fn conjugate_block(&self, block: usize, v: &[f64]) -> f64 {
        if self.norm(v) <= self.levels[block] * (1.0 + DOMAIN_SLACK) { 0.0 } else { f64::INFINITY }
    }

    fn dual_scale_block(&self, block: usize, v: &[f64]) -> f64 {
        let norm = self.norm(v);
        if norm <= self.levels[block] { 1.0 } else { self.levels[block] / norm }
    }

    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool {
        let farthest =
            v.iter().zip(radius).map(|(&v, r)| (self.part(v).abs() + r).powi(2)).sum::<f64>().sqrt();
        farthest < self.levels[block]
    }

    fn restrict(&self, coefficients: &[usize]) -> Box<dyn Penalty> {
        let mut group_of = vec![0; self.blocks.n_coefficients()];
        for (b, block) in self.blocks.iter().enumerate() {
            for &j in block {
                group_of[j] = b;
            }
        }
        let groups: Vec<usize> = coefficients.iter().map(|&j| group_of[j]).collect();
        let blocks = Blocks::from_groups(&groups);
        let levels =
            blocks.iter().filter_map(|block| block.first()).map(|&i| self.levels[groups[i]]).collect();
        Box::new(Self { blocks, levels, nonnegative: self.nonnegative })
    }
}
