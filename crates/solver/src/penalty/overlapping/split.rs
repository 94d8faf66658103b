//! The prox of a sum of Euclidean norms over groups that share coefficients.
//!
//! ```text
//! minimise over x   ½ ‖x − u‖² + Σ_g τ_g ‖x_g‖      u = x + Σ_g ξ_g,  ‖ξ_g‖ ≤ τ_g,  ξ_g = τ_g x_g / ‖x_g‖ unless x_g = 0
//! ```
//!
//! Descent over the groups in the dual (Yuan, Liu and Ye 2011) finds which groups are zero; on the others the
//! problem is smooth with a Hessian of at least 1, and Newton steps solve it to rounding. Then the parts
//! `ξ_g` of the zero groups have to be found, which is descent again. Where the groups were not the right
//! ones, descent goes on.

/// Sweeps of the first round of descent; each round has twice as many.
const FIRST_SWEEPS: usize = 8;

/// Rounds of descent and Newton steps.
const MOST_ROUNDS: u32 = 9;

/// Trials of Newton steps in a round.
const MOST_TRIALS: usize = 4;

/// Newton steps of a trial.
const MOST_NEWTON_STEPS: usize = 60;

/// Halvings of a Newton step.
const MOST_HALVINGS: usize = 40;

/// Error of a prox, as a share of the length of the point: the result is the prox of a point that is this
/// near.
const ACCURACY: f64 = 1e-15;

/// Residual of a Newton system, as a share of its right side.
const SYSTEM_ACCURACY: f64 = 1e-10;

/// A group, by its positions in a block.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub(super) members: Vec<usize>,
    pub(super) level: f64,
}

impl Group {
    pub(super) fn norm(&self, values: &[f64]) -> f64 {
        self.members.iter().map(|&i| values[i] * values[i]).sum::<f64>().sqrt()
    }
}

/// A prox with what shows that it is one.
pub(super) struct Split {
    /// The prox.
    pub(super) x: Vec<f64>,
    /// Of each group, whether it is zero as a whole.
    pub(super) is_zero: Vec<bool>,
    /// `u − x − Σ_g ξ_g`: `x` is the prox of `u` less this.
    pub(super) error: Vec<f64>,
    /// `ξ_g` of each group.
    parts: Vec<Vec<f64>>,
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The prox at `u` of the groups' norms, their levels times `step`, from the parts of another point if there
/// is one.
pub(super) fn split(groups: &[Group], u: &[f64], step: f64, near: Option<&Split>) -> Split {
    let mut descent = Descent {
        groups,
        thresholds: groups.iter().map(|group| step * group.level).collect(),
        parts: groups.iter().map(|group| vec![0.0; group.members.len()]).collect(),
        rest: u.to_vec(),
        // A group without a level is never zero as a whole.
        is_zero: vec![false; groups.len()],
    };
    let size = norm(u);
    let unsplit = Split {
        x: u.to_vec(),
        is_zero: descent.is_zero.clone(),
        error: vec![f64::NAN; u.len()],
        parts: Vec::new(),
    };
    if !size.is_finite() {
        return unsplit;
    }
    if let Some(near) = near {
        descent.start(&near.parts);
    }
    let mut best = (f64::INFINITY, unsplit);
    for round in 0..MOST_ROUNDS {
        let sweeps = FIRST_SWEEPS << round;
        descent.sweeps(sweeps, false, 0.0);
        // On the wrong groups, Newton steps lead away; sweeps from there correct the groups or come back.
        let mut trial = descent.clone();
        for _ in 0..MOST_TRIALS {
            let x = trial.newton(u);
            trial.take(u, &x);
            trial.sweeps(sweeps, true, ACCURACY * size);
            let error: Vec<f64> = trial.rest.iter().zip(&x).map(|(rest, x)| rest - x).collect();
            let length = norm(&error);
            if length < best.0 {
                best =
                    (length, Split { x, is_zero: trial.is_zero.clone(), error, parts: trial.parts.clone() });
            }
            // What rounding leaves is a few units in the last place.
            if length <= 10.0 * ACCURACY * size {
                return best.1;
            }
            trial.sweeps(sweeps, false, 0.0);
        }
        // Of two feasible points of the dual the better one.
        if norm(&trial.rest) < norm(&descent.rest) {
            descent = trial;
        }
    }
    best.1
}

/// The parts `ξ_g`, and what they leave of `u`.
#[derive(Clone)]
struct Descent<'a> {
    groups: &'a [Group],
    thresholds: Vec<f64>,
    parts: Vec<Vec<f64>>,
    rest: Vec<f64>,
    is_zero: Vec<bool>,
}

impl Descent<'_> {
    /// Sweeps over all groups, or over those that are zero only, until a sweep changes nothing or leaves at
    /// most `target` of these.
    fn sweeps(&mut self, most: usize, zero_only: bool, target: f64) {
        for _ in 0..most {
            let (mut left, mut has_changed) = (0.0, false);
            let parts = self.groups.iter().zip(&self.thresholds).zip(&mut self.parts);
            for (((group, threshold), part), is_zero) in parts.zip(&mut self.is_zero) {
                if *threshold == 0.0 || zero_only && !*is_zero {
                    continue;
                }
                // What the group would have to take for zero.
                for (&i, part) in group.members.iter().zip(&mut *part) {
                    *part += self.rest[i];
                }
                let size = norm(part);
                let stays = size <= *threshold;
                let keep = if stays { 0.0 } else { 1.0 - threshold / size };
                has_changed |= !zero_only && stays != *is_zero;
                if !zero_only {
                    *is_zero = stays;
                }
                for (&i, part) in group.members.iter().zip(part) {
                    let rest = keep * *part;
                    has_changed |= rest != self.rest[i];
                    left += if zero_only { rest * rest } else { 0.0 };
                    self.rest[i] = rest;
                    *part -= rest;
                }
            }
            if !has_changed || zero_only && left.sqrt() <= target {
                return;
            }
        }
    }

    /// Starts from these parts, each cut to its threshold.
    fn start(&mut self, parts: &[Vec<f64>]) {
        let own = self.groups.iter().zip(&self.thresholds).zip(&mut self.parts);
        for (((group, threshold), own), part) in own.zip(parts) {
            let size = norm(part);
            let keep = if size > *threshold { threshold / size } else { 1.0 };
            for ((&i, own), part) in group.members.iter().zip(own).zip(part) {
                *own = keep * part;
                self.rest[i] -= *own;
            }
        }
    }

    /// Takes `x` with its parts for the groups that are not zero, and what is left for the others.
    fn take(&mut self, u: &[f64], x: &[f64]) {
        self.rest.copy_from_slice(u);
        let parts = self.groups.iter().zip(&self.thresholds).zip(&mut self.parts).zip(&self.is_zero);
        for (((group, threshold), part), is_zero) in parts {
            let size = group.norm(x);
            for (&i, part) in group.members.iter().zip(part) {
                if !is_zero {
                    *part = if size > 0.0 { threshold * x[i] / size } else { 0.0 };
                }
                self.rest[i] -= *part;
            }
        }
    }

    /// The minimum where the groups that are zero are zero. A group that a step would turn round becomes
    /// zero, too.
    fn newton(&mut self, u: &[f64]) -> Vec<f64> {
        let n = u.len();
        let size = norm(u);
        let mut x = self.rest.clone();
        let mut is_covered = vec![false; n];
        for group in self.groups.iter().zip(&self.thresholds).filter(|(_, threshold)| **threshold > 0.0) {
            group.0.members.iter().for_each(|&i| is_covered[i] = true);
        }
        for _ in 0..MOST_NEWTON_STEPS {
            for (group, _) in self.groups.iter().zip(&self.is_zero).filter(|(_, is_zero)| **is_zero) {
                group.members.iter().for_each(|&i| x[i] = 0.0);
            }
            let smooth = Smooth::at(self, &x);
            if smooth.active.iter().any(|&(g, _, size)| {
                let is_zero = size == 0.0;
                self.is_zero[g] |= is_zero;
                is_zero
            }) {
                continue;
            }
            let slope = smooth.gradient(u, &x, &is_covered);
            let steepness = norm(&slope);
            if steepness <= ACCURACY * size {
                break;
            }
            let direction = smooth.solve(&x, &slope);
            let point =
                |length: f64| x.iter().zip(&direction).map(|(x, d)| x - length * d).collect::<Vec<f64>>();
            let full = point(1.0);
            let turns = |&&(g, ..): &&(usize, f64, f64)| {
                self.groups[g].members.iter().map(|&i| x[i] * full[i]).sum::<f64>() <= 0.0
            };
            let turned: Vec<usize> = smooth.active.iter().filter(turns).map(|(g, ..)| *g).collect();
            if !turned.is_empty() {
                turned.iter().for_each(|&g| self.is_zero[g] = true);
                continue;
            }
            let mut length = 1.0;
            let next = (0..MOST_HALVINGS).find_map(|_| {
                let moved = point(length);
                let slope = Smooth::at(self, &moved).gradient(u, &moved, &is_covered);
                let falls = norm(&slope) <= (1.0 - 1e-4 * length) * steepness;
                length *= 0.5;
                falls.then_some(moved)
            });
            // Where none falls, the rest is rounding, or the groups are not the right ones: the error tells.
            let Some(next) = next else { break };
            x = next;
        }
        x
    }
}

/// The problem where no group is zero but those of a descent: numbers, thresholds and sizes of the groups.
struct Smooth<'a> {
    groups: &'a [Group],
    active: Vec<(usize, f64, f64)>,
}

impl<'a> Smooth<'a> {
    fn at(descent: &Descent<'a>, x: &[f64]) -> Self {
        let groups = descent.groups;
        let active = (0..groups.len())
            .filter(|&g| !descent.is_zero[g] && descent.thresholds[g] > 0.0)
            .map(|g| (g, descent.thresholds[g], groups[g].norm(x)))
            .collect();
        Self { groups, active }
    }

    /// Of each group: its members, `τ_g / ‖x_g‖` and `‖x_g‖`.
    fn groups(&self) -> impl Iterator<Item = (&Group, f64, f64)> {
        self.active.iter().map(|&(g, threshold, size)| (&self.groups[g], threshold / size, size))
    }

    /// `x − u + Σ_g τ_g x_g / ‖x_g‖`, zero where `x` is zero.
    fn gradient(&self, u: &[f64], x: &[f64], is_covered: &[bool]) -> Vec<f64> {
        let mut out: Vec<f64> = x.iter().zip(u).map(|(x, u)| x - u).collect();
        for (group, scale, _) in self.groups() {
            group.members.iter().for_each(|&i| out[i] += scale * x[i]);
        }
        // A zero of a group that is not zero is that of another group, or has no pull.
        for (i, out) in out.iter_mut().enumerate() {
            if is_covered[i] && x[i] == 0.0 {
                *out = 0.0;
            }
        }
        out
    }

    /// The product with `I + Σ_g τ_g (I_g / ‖x_g‖ − x_g x_gᵀ / ‖x_g‖³)`.
    fn multiply(&self, x: &[f64], d: &[f64], diagonal: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = d.iter().zip(diagonal).map(|(d, diagonal)| d * diagonal).collect();
        for (group, scale, size) in self.groups() {
            let along: f64 = group.members.iter().map(|&i| x[i] / size * d[i]).sum();
            group.members.iter().for_each(|&i| out[i] -= scale * along * (x[i] / size));
        }
        out
    }

    /// By conjugate gradients, each entry divided by the root of `I + Σ_g τ_g I_g / ‖x_g‖`.
    fn solve(&self, x: &[f64], right: &[f64]) -> Vec<f64> {
        let n = right.len();
        let mut diagonal = vec![1.0; n];
        for (group, scale, _) in self.groups() {
            group.members.iter().for_each(|&i| diagonal[i] += scale);
        }
        let mut solution = vec![0.0; n];
        let mut residual = right.to_vec();
        // What is fixed at zero has no residual.
        let weighted = |values: &[f64]| -> Vec<f64> {
            values.iter().zip(&diagonal).map(|(value, diagonal)| value / diagonal).collect()
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut direction = weighted(&residual);
        let mut product = dot(&residual, &direction);
        let target = SYSTEM_ACCURACY * norm(right);
        for _ in 0..2 * n + 20 {
            let image = self.multiply(x, &direction, &diagonal);
            let curvature = dot(&direction, &image);
            if curvature <= 0.0 || !curvature.is_finite() {
                break;
            }
            let length = product / curvature;
            for ((solution, residual), (d, image)) in
                solution.iter_mut().zip(&mut residual).zip(direction.iter().zip(&image))
            {
                *solution += length * d;
                *residual -= length * image;
            }
            if norm(&residual) <= target {
                break;
            }
            let scaled = weighted(&residual);
            let next = dot(&residual, &scaled);
            let share = next / product;
            product = next;
            for (d, scaled) in direction.iter_mut().zip(&scaled) {
                *d = scaled + share * *d;
            }
        }
        solution
    }
}
