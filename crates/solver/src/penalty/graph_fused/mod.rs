//! Total variation on a graph with signs, and the l1 norm.

mod chain;
mod flow;

use super::{BlockPenalty, Blocks, DOMAIN_SLACK, STRICTLY, bisect, check_level, find, holds_in_cross};
use crate::{Error, penalty_of_blocks};
use flow::Edge;

/// Most cuts on the way to a dual scale.
const MOST_CUTS: usize = 100;

/// Of up to so many coefficients a cross, with two proxes for each, costs little.
const FEW: usize = 8;

/// `Σ_edges weight |wᵢ − sign wⱼ| + level ‖w‖₁`: the fused lasso (Tibshirani and others 2005) on the edges of
/// a chain, the graph-guided fused lasso (Kim and Xing 2009) on those of a graph.
///
/// A block is a connected component. Its prox is exact: by dynamic programming where the component is a
/// chain, in a number of steps proportional to its length; else by minimum cuts. An edge with a sign becomes
/// two edges without one on a graph with two nodes `j⁺` and `j⁻` for each coefficient, whose values are `wⱼ`
/// and `−wⱼ`: those from `i⁺` to `j^sign` and from `i⁻` to `j^−sign`. `|wⱼ|` is half of the edge from `j⁺` to
/// `j⁻`.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphFusedLasso {
    blocks: Blocks,
    components: Vec<Component>,
}

/// An edge `weight |w_a − sign w_b|` of a [`GraphFusedLasso`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedEdge {
    /// The coefficients `a` and `b`.
    pub ends: (usize, usize),
    /// At least 0.
    pub weight: f64,
    /// Whether the sign is −1.
    pub opposite: bool,
}

impl SignedEdge {
    pub(crate) fn sign(self) -> f64 {
        if self.opposite { -1.0 } else { 1.0 }
    }
}

/// A connected component, by positions in its block.
#[derive(Debug, Clone, PartialEq)]
struct Component {
    /// The level of the l1 norm of each coefficient.
    levels: Vec<f64>,
    edges: Vec<SignedEdge>,
    chain: Option<Chain>,
}

/// A component that is a chain.
#[derive(Debug, Clone, PartialEq)]
struct Chain {
    order: Vec<usize>,
    /// By these signs, all edges have the sign 1.
    signs: Vec<f64>,
    weights: Vec<f64>,
}

impl GraphFusedLasso {
    /// The penalty of `n` coefficients with these edges. Several edges between two coefficients add up.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a level that is negative or not finite; [`Error::InvalidPart`] names
    /// the first edge with an end out of range, with two equal ends, or with a weight that is negative or not
    /// finite.
    ///
    /// ```
    /// use fewest_solver::{GraphFusedLasso, Penalty, SignedEdge};
    /// let edge = |a, b| SignedEdge { ends: (a, b), weight: 1.0, opposite: false };
    /// let chain = GraphFusedLasso::new(0.0, 3, &[edge(0, 1), edge(1, 2)])?;
    /// let mut w = [5.0, 4.5, 0.0];
    /// chain.prox(&mut w, 1.0);
    /// assert_eq!(w, [4.25, 4.25, 1.0]);
    /// # Ok::<(), fewest_solver::Error>(())
    /// ```
    pub fn new(level: f64, n: usize, edges: &[SignedEdge]) -> Result<Self, Error> {
        check_level("level", level)?;
        for (number, edge) in edges.iter().enumerate() {
            let (a, b) = edge.ends;
            let problem = if a.max(b) >= n {
                format!("names coefficient {}, but there are {n}, counted from 0", a.max(b))
            } else if a == b {
                format!("is from coefficient {a} to itself: leave it out")
            } else if !(edge.weight.is_finite() && edge.weight >= 0.0) {
                format!("has the weight {}, which must be finite and at least 0", edge.weight)
            } else {
                continue;
            };
            return Err(Error::InvalidPart { part: "edge", number, problem });
        }
        Ok(Self::from_levels(&vec![level; n], edges))
    }

    fn from_levels(levels: &[f64], edges: &[SignedEdge]) -> Self {
        let mut first: Vec<usize> = (0..levels.len()).collect();
        for edge in edges {
            let (a, b) = (find(&mut first, edge.ends.0), find(&mut first, edge.ends.1));
            first[a.max(b)] = a.min(b);
        }
        let component: Vec<usize> = (0..levels.len()).map(|j| find(&mut first, j)).collect();
        let blocks = Blocks::from_groups(&component);
        let mut place = vec![(0, 0); levels.len()];
        let mut components = Vec::with_capacity(blocks.n_blocks());
        for (b, block) in blocks.iter().enumerate() {
            block.iter().enumerate().for_each(|(at, &j)| place[j] = (b, at));
            let levels = block.iter().map(|&j| levels[j]).collect();
            components.push(Component { levels, edges: Vec::new(), chain: None });
        }
        for &edge in edges {
            let ((block, a), (_, b)) = (place[edge.ends.0], place[edge.ends.1]);
            components[block].edges.push(SignedEdge { ends: (a, b), ..edge });
        }
        for component in &mut components {
            component.chain = Chain::of(component);
        }
        Self { blocks, components }
    }
}

impl Chain {
    /// The chain that a component is, if it is one.
    fn of(component: &Component) -> Option<Self> {
        let n = component.levels.len();
        if component.edges.len() + 1 != n {
            return None;
        }
        let mut around: Vec<Vec<(usize, SignedEdge)>> = vec![Vec::new(); n];
        for &edge in &component.edges {
            around[edge.ends.0].push((edge.ends.1, edge));
            around[edge.ends.1].push((edge.ends.0, edge));
        }
        if around.iter().any(|edges| edges.len() > 2) {
            return None;
        }
        // A tree without branches.
        let mut node = (0..n).find(|&node| around[node].len() < 2)?;
        let mut chain =
            Self { order: vec![node], signs: vec![1.0], weights: Vec::with_capacity(component.edges.len()) };
        let (mut before, mut sign) = (None, 1.0);
        while let Some(&(next, edge)) = around[node].iter().find(|(next, _)| Some(*next) != before) {
            sign *= edge.sign();
            chain.order.push(next);
            chain.signs.push(sign);
            chain.weights.push(edge.weight);
            (before, node) = (Some(node), next);
        }
        Some(chain)
    }

    /// The prox of `w`, with levels and weights times `step`.
    fn prox(&self, levels: &[f64], w: &mut [f64], step: f64) {
        let mut values: Vec<f64> = self.order.iter().zip(&self.signs).map(|(&j, sign)| sign * w[j]).collect();
        let levels: Vec<f64> = self.order.iter().map(|&j| step * levels[j]).collect();
        let weights: Vec<f64> = self.weights.iter().map(|weight| step * weight).collect();
        chain::minimise(&mut values, &levels, &weights);
        for ((&j, sign), value) in self.order.iter().zip(&self.signs).zip(values) {
            w[j] = if value == 0.0 { 0.0 } else { sign * value };
        }
    }
}

impl Component {
    /// The edges of the graph with two nodes for each coefficient, `j` and `n + j`.
    fn doubled(&self, levels: &[f64], step: f64) -> Vec<Edge> {
        let n = levels.len();
        let mut edges = Vec::with_capacity(2 * self.edges.len() + n);
        for edge in &self.edges {
            let ((a, b), weight) = (edge.ends, step * edge.weight);
            let (same, other) = if edge.opposite { (n + b, b) } else { (b, n + b) };
            edges.extend([(a, same, weight), (n + a, other, weight)]);
        }
        edges.extend(levels.iter().enumerate().map(|(j, level)| (j, n + j, step * level)));
        edges
    }

    /// The nodes above zero; none exactly where the prox is zero.
    fn above_zero(&self, values: &[f64], edges: &[Edge]) -> Vec<bool> {
        let n = self.levels.len();
        let mut above = flow::best_set(values, edges);
        // Of two opposite numbers one is above zero, but for rounding.
        for j in 0..n {
            if above[j] && above[n + j] {
                (above[j], above[n + j]) = (false, false);
            }
        }
        above
    }

    /// Whether the prox of `v` with step 1 is zero, with these levels.
    fn holds(&self, levels: &[f64], v: &[f64]) -> bool {
        if let Some(chain) = &self.chain {
            let mut w = v.to_vec();
            chain.prox(levels, &mut w, 1.0);
            return w.iter().all(|&value| value == 0.0);
        }
        self.violating(levels, v).is_none()
    }

    /// A set of coefficients with signs that shows that the prox of `v` with step 1 is not zero: its gain and
    /// what it costs.
    fn violating(&self, levels: &[f64], v: &[f64]) -> Option<(f64, f64)> {
        let (values, edges) = (opposites(v), self.doubled(levels, 1.0));
        let above = self.above_zero(&values, &edges);
        let gain: f64 = values.iter().zip(&above).filter(|(_, above)| **above).map(|(value, _)| value).sum();
        let leaves = |edge: &&Edge| above[edge.0] != above[edge.1];
        let cost = edges.iter().filter(leaves).map(|(_, _, weight)| weight).sum();
        above.contains(&true).then_some((gain, cost))
    }
}

/// `v` and `−v`.
fn opposites(v: &[f64]) -> Vec<f64> {
    v.iter().copied().chain(v.iter().map(|value| -value)).collect()
}

penalty_of_blocks!(GraphFusedLasso, "graph-guided fused lasso");

impl BlockPenalty for GraphFusedLasso {
    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn value_block(&self, block: usize, w: &[f64]) -> f64 {
        let Component { levels, edges, .. } = &self.components[block];
        let fused = |edge: &SignedEdge| edge.weight * (w[edge.ends.0] - edge.sign() * w[edge.ends.1]).abs();
        levels.iter().zip(w).map(|(level, w)| level * w.abs()).sum::<f64>()
            + edges.iter().map(fused).sum::<f64>()
    }

    fn prox_block(&self, block: usize, w: &mut [f64], step: f64) {
        if step == 0.0 {
            // Sums that cancel would part what is fused by a rounding error.
            return;
        }
        let component = &self.components[block];
        if let Some(chain) = &component.chain {
            chain.prox(&component.levels, w, step);
            return;
        }
        let (values, edges) = (opposites(w), component.doubled(&component.levels, step));
        let above = component.above_zero(&values, &edges);
        let x = flow::minimise_above(&values, &edges, &above);
        let n = w.len();
        for (j, w) in w.iter_mut().enumerate() {
            *w = if above[j] {
                x[j].max(0.0)
            } else if above[n + j] {
                -x[n + j].max(0.0)
            } else {
                0.0
            };
        }
    }

    /// Coefficients that are fused are averaged, with their signs.
    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        let n = w.len();
        let mut x = w.to_vec();
        self.prox_block(block, &mut x, step);
        let mut first: Vec<usize> = (0..n).collect();
        for edge in &self.components[block].edges {
            let (a, b) = edge.ends;
            if x[a] != 0.0 && x[a] == edge.sign() * x[b] {
                let (a, b) = (find(&mut first, a), find(&mut first, b));
                first[a.max(b)] = a.min(b);
            }
        }
        let fused: Vec<usize> = (0..n).map(|j| find(&mut first, j)).collect();
        average(&x, &fused, out);
    }

    fn conjugate_block(&self, block: usize, v: &[f64]) -> f64 {
        if v.iter().any(|v| !v.is_finite()) {
            return f64::INFINITY;
        }
        let component = &self.components[block];
        // Correlations that cancel over coefficients that are fused have the rounding of the largest one, and
        // an l1 norm may be a small part of it. A duality gap is then off by at most the slack times the l1
        // norm of the coefficients.
        let slack = DOMAIN_SLACK * v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let levels: Vec<f64> = component.levels.iter().map(|level| level + slack).collect();
        if component.holds(&levels, v) { 0.0 } else { f64::INFINITY }
    }

    /// By a cut that `t v` violates, the next `t`, until none does (Dinkelbach 1967).
    fn dual_scale_block(&self, block: usize, v: &[f64]) -> f64 {
        let component = &self.components[block];
        let scaled = |t: f64| v.iter().map(|v| t * v).collect::<Vec<f64>>();
        if component.chain.is_some() {
            let holds = |t: f64| component.holds(&component.levels, &scaled(t));
            if holds(1.0) {
                return 1.0;
            }
            let (mut high, mut low) = (1.0, 0.0);
            bisect(&mut high, &mut low, holds);
            return low;
        }
        let mut t = 1.0;
        for _ in 0..MOST_CUTS {
            let Some((gain, cost)) = component.violating(&component.levels, &scaled(t)) else { break };
            let next = t * (cost / gain);
            if next.is_nan() || next >= t {
                break;
            }
            t = next;
        }
        t
    }

    /// By the l1 norm lowered by the radius, wherever the correlations are; of few coefficients also by the
    /// cross of the default, which finds more.
    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool {
        let component = &self.components[block];
        let levels: Vec<f64> =
            component.levels.iter().zip(radius).map(|(level, r)| level - r * (1.0 + STRICTLY)).collect();
        levels.iter().all(|level| *level > 0.0) && component.holds(&levels, v)
            || (2..=FEW).contains(&v.len()) && holds_in_cross(self, block, v, radius)
    }

    /// An edge to a coefficient that is zero is a part of the l1 norm.
    fn restrict(&self, coefficients: &[usize]) -> Box<dyn BlockPenalty> {
        let mut place = vec![None; self.blocks.n_coefficients()];
        coefficients.iter().enumerate().for_each(|(at, &j)| place[j] = Some(at));
        let (mut levels, mut edges) = (vec![0.0; coefficients.len()], Vec::new());
        for (block, component) in self.blocks.iter().zip(&self.components) {
            for (&j, level) in block.iter().zip(&component.levels) {
                if let Some(at) = place[j] {
                    levels[at] += level;
                }
            }
            for edge in &component.edges {
                match (place[block[edge.ends.0]], place[block[edge.ends.1]]) {
                    (Some(a), Some(b)) => edges.push(SignedEdge { ends: (a, b), ..*edge }),
                    (Some(at), None) | (None, Some(at)) => levels[at] += edge.weight,
                    (None, None) => {}
                }
            }
        }
        Box::new(Self::from_levels(&levels, &edges))
    }
}

/// The Jacobian of the mean of `x` over each group with the same number in `fused`, with the signs of `x`,
/// and of nothing where `x` is zero.
pub(super) fn average(x: &[f64], fused: &[usize], out: &mut [f64]) {
    let n = x.len();
    let mut sizes = vec![0.0; n];
    fused.iter().for_each(|&group| sizes[group] += 1.0);
    for j in 0..n {
        for i in 0..n {
            let together = fused[i] == fused[j] && x[i] != 0.0;
            out[i + j * n] = if together { x[i].signum() * x[j].signum() / sizes[fused[j]] } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of both signs without a pattern.
    fn numbers(n: usize, seed: usize) -> Vec<f64> {
        (0..n).map(|i| 3.0 * ((i * i + 7 * i + 13 * seed) as f64 * 0.731).sin()).collect()
    }

    fn chain(n: usize, seed: usize) -> Vec<SignedEdge> {
        (1..n)
            .map(|j| SignedEdge {
                ends: (j - 1, j),
                weight: 0.2 + 0.3 * ((j * seed) % 4) as f64,
                opposite: (j + seed).is_multiple_of(3),
            })
            .collect()
    }

    /// Correlations that cancel are known to the rounding of the largest, not to that of a small l1 norm.
    #[test]
    fn rounding_of_what_cancels_is_no_violation() -> Result<(), Error> {
        let level = 1e-6;
        for n in [2, 3, 4] {
            let mut edges: Vec<SignedEdge> =
                (1..n).map(|j| SignedEdge { ends: (j - 1, j), weight: 1.0, opposite: false }).collect();
            if n == 4 {
                // A ring is no chain.
                edges.push(SignedEdge { ends: (3, 0), weight: 1.0, opposite: false });
            }
            let penalty = GraphFusedLasso::new(level, n, &edges)?;
            // Their sum is that of the levels, and `more`.
            let conjugate = |more: f64| {
                let mut v = vec![0.0; n];
                (v[0], v[n - 1]) = (0.7, n as f64 * level + more - 0.7);
                penalty.conjugate(&v)
            };
            assert_eq!((conjugate(0.0), conjugate(4.0 * f64::EPSILON)), (0.0, 0.0), "{n}");
            assert_eq!(conjugate(1e-3 * level), f64::INFINITY, "{n}");
            for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut v = vec![0.0; n];
                v[0] = odd;
                assert_eq!(penalty.conjugate(&v), f64::INFINITY, "{n} {odd}");
            }
        }
        Ok(())
    }

    /// The two ways to the prox agree on chains, for any weights, levels and signs.
    #[test]
    fn a_chain_is_a_graph() {
        for seed in 0..60 {
            let n = 2 + seed % 11;
            let levels: Vec<f64> = (0..n).map(|j| 0.2 * ((j + seed) % 3) as f64).collect();
            let penalty = GraphFusedLasso::from_levels(&levels, &chain(n, seed));
            assert!(penalty.components[0].chain.is_some());
            let mut general = penalty.clone();
            general.components[0].chain = None;
            for step in [0.0, 0.1, 0.7, 3.0] {
                let mut a = numbers(n, seed);
                let mut b = a.clone();
                penalty.prox_block(0, &mut a, step);
                general.prox_block(0, &mut b, step);
                for (a, b) in a.iter().zip(&b) {
                    assert!((a - b).abs() < 1e-12, "{seed} {step}: {a} {b}");
                    assert_eq!(*a == 0.0, *b == 0.0, "{seed} {step}: {a} {b}");
                }
            }
            let v = numbers(n, seed + 100);
            let (a, b) = (penalty.dual_scale_block(0, &v), general.dual_scale_block(0, &v));
            assert!((a - b).abs() < 1e-12, "{seed}: {a} {b}");
        }
    }

    /// `max(|a|, |b|)` is an edge of each sign with the weight ½, on a graph that no signs make plain.
    #[test]
    fn the_prox_of_pairs_is_the_minimum() {
        let edge = |a: usize, b: usize, opposite: bool| SignedEdge { ends: (a, b), weight: 0.35, opposite };
        let edges: Vec<SignedEdge> = [(0, 1), (1, 2), (0, 2), (2, 3)]
            .iter()
            .flat_map(|&(a, b)| [edge(a, b, true), edge(a, b, false)])
            .collect();
        let Ok(penalty) = GraphFusedLasso::new(0.1, 4, &edges) else { panic!() };
        for seed in 0..40 {
            let v = numbers(4, seed);
            let mut x = v.clone();
            penalty.prox_block(0, &mut x, 1.3);
            let value = |x: &[f64]| {
                let far: f64 = x.iter().zip(&v).map(|(x, v)| (x - v).powi(2)).sum();
                penalty.value_block(0, x) + far / 2.6
            };
            let pairs: f64 =
                [(0, 1), (1, 2), (0, 2), (2, 3)].iter().map(|&(a, b)| x[a].abs().max(x[b].abs())).sum();
            let expected = 0.7 * pairs + 0.1 * x.iter().map(|x| x.abs()).sum::<f64>();
            assert!((penalty.value_block(0, &x) - expected).abs() < 1e-12);
            for direction in 0..81_i32 {
                let other: Vec<f64> = x
                    .iter()
                    .enumerate()
                    .map(|(i, x)| x + 1e-4 * f64::from(direction / 3_i32.pow(i as u32) % 3 - 1))
                    .collect();
                assert!(value(&x) <= value(&other) + 1e-15, "{seed} {direction}: {x:?}");
            }
        }
    }
}
