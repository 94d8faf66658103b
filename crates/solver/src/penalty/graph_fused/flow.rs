//! Total variation on a graph, by minimum cuts.

use std::collections::VecDeque;

/// Share of the largest gain below which what is left of a gain or of an edge is rounding: of few nodes less,
/// one bit for each.
const ROUNDING: f64 = 1e-14;

/// An edge between two nodes, with its weight.
pub(super) type Edge = (usize, usize, f64);

/// A flow on an undirected graph (Dinic 1970).
struct Network {
    /// The arcs of node `i` are `arcs[offsets[i] .. offsets[i + 1]]`.
    offsets: Vec<usize>,
    arcs: Vec<usize>,
    /// The head of arc `a`; arc `a ^ 1` is its reverse.
    heads: Vec<usize>,
    left: Vec<f64>,
    /// What a node has still to send, or, negative, can still take.
    excess: Vec<f64>,
    /// What is left of a gain or an edge is rounding up to here.
    rounding: f64,
    depth: Vec<usize>,
    next: Vec<usize>,
}

const UNSEEN: usize = usize::MAX;

impl Network {
    fn new(gains: &[f64], edges: &[Edge]) -> Self {
        let n = gains.len();
        let mut offsets = vec![0; n + 1];
        for &(a, b, _) in edges {
            offsets[a + 1] += 1;
            offsets[b + 1] += 1;
        }
        for i in 0..n {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let (mut arcs, mut heads) = (vec![0; 2 * edges.len()], Vec::with_capacity(2 * edges.len()));
        let mut left = Vec::with_capacity(2 * edges.len());
        for (e, &(a, b, weight)) in edges.iter().enumerate() {
            heads.extend([b, a]);
            left.extend([weight, weight]);
            for (node, arc) in [(a, 2 * e), (b, 2 * e + 1)] {
                arcs[next[node]] = arc;
                next[node] += 1;
            }
        }
        let largest = gains.iter().fold(0.0_f64, |most, gain| most.max(gain.abs()));
        Self {
            offsets,
            arcs,
            heads,
            left,
            excess: gains.to_vec(),
            rounding: (n as f64 * f64::EPSILON).min(ROUNDING) * largest,
            depth: vec![UNSEEN; n],
            next,
        }
    }

    /// Distances from the nodes with something to send; whether any can take it.
    fn layers(&mut self) -> bool {
        self.depth.fill(UNSEEN);
        let mut queue: VecDeque<usize> = VecDeque::new();
        for (node, &excess) in self.excess.iter().enumerate() {
            if excess > self.rounding {
                self.depth[node] = 0;
                queue.push_back(node);
            }
        }
        let mut is_reached = false;
        while let Some(node) = queue.pop_front() {
            is_reached |= self.excess[node] < -self.rounding;
            for &arc in &self.arcs[self.offsets[node]..self.offsets[node + 1]] {
                let head = self.heads[arc];
                if self.left[arc] > self.rounding && self.depth[head] == UNSEEN {
                    self.depth[head] = self.depth[node] + 1;
                    queue.push_back(head);
                }
            }
        }
        is_reached
    }

    /// Sends as much from `source` as the layers let through.
    fn send(&mut self, source: usize) {
        let mut path: Vec<usize> = Vec::new();
        let mut node = source;
        while self.excess[source] > self.rounding {
            if self.excess[node] < -self.rounding {
                let narrowest = path.iter().map(|&arc| self.left[arc]).fold(f64::INFINITY, f64::min);
                let amount = narrowest.min(self.excess[source]).min(-self.excess[node]);
                self.excess[source] -= amount;
                self.excess[node] += amount;
                for &arc in &path {
                    self.left[arc] -= amount;
                    self.left[arc ^ 1] += amount;
                }
                // Back to the first arc that is used up.
                let full = path.iter().position(|&arc| self.left[arc] <= self.rounding);
                path.truncate(full.unwrap_or(path.len()));
                node = path.last().map_or(source, |&arc| self.heads[arc]);
                continue;
            }
            let mut step = None;
            while self.next[node] < self.offsets[node + 1] {
                let arc = self.arcs[self.next[node]];
                let head = self.heads[arc];
                if self.left[arc] > self.rounding
                    && self.depth[head] != UNSEEN
                    && self.depth[head] == self.depth[node] + 1
                {
                    step = Some(arc);
                    break;
                }
                self.next[node] += 1;
            }
            match (step, path.pop()) {
                (Some(arc), before) => {
                    path.extend(before);
                    path.push(arc);
                    node = self.heads[arc];
                }
                // A dead end: one step back, and on to the next arc there.
                (None, Some(arc)) => {
                    node = self.heads[arc ^ 1];
                    self.next[node] += 1;
                }
                (None, None) => return,
            }
        }
    }
}

/// The smallest set `S` of nodes with the largest `Σ_S gains − Σ weights of the edges that leave S`: which
/// nodes are in it. Empty exactly where no set has more than 0.
pub(super) fn best_set(gains: &[f64], edges: &[Edge]) -> Vec<bool> {
    let mut network = Network::new(gains, edges);
    while network.layers() {
        network.next.copy_from_slice(&network.offsets);
        for source in 0..gains.len() {
            if network.depth[source] == 0 {
                network.send(source);
            }
        }
    }
    network.depth.iter().map(|&depth| depth != UNSEEN).collect()
}

/// A part of the graph whose values are found together.
struct Part {
    nodes: Vec<usize>,
    values: Vec<f64>,
    edges: Vec<Edge>,
}

impl Part {
    /// The part of the nodes in `chosen` (those with `true`, or `false`), when the others are all smaller
    /// (`side = 1`) or larger (`side = −1`).
    fn half(&self, chosen: &[bool], wanted: bool) -> Self {
        let side = if wanted { 1.0 } else { -1.0 };
        let mut place = vec![0; self.nodes.len()];
        let mut half = Self { nodes: Vec::new(), values: Vec::new(), edges: Vec::new() };
        for i in (0..self.nodes.len()).filter(|&i| chosen[i] == wanted) {
            place[i] = half.nodes.len();
            half.nodes.push(self.nodes[i]);
            half.values.push(self.values[i]);
        }
        for &(a, b, weight) in &self.edges {
            match (chosen[a] == wanted, chosen[b] == wanted) {
                (true, true) => half.edges.push((place[a], place[b], weight)),
                (true, false) => half.values[place[a]] -= side * weight,
                (false, true) => half.values[place[b]] -= side * weight,
                (false, false) => {}
            }
        }
        half
    }
}

/// The minimum of `Σ ½ (xᵢ − valuesᵢ)² + Σ weight |xₐ − x_b|` over the nodes in `chosen`, when all others
/// have a smaller value: the mean of a part is the value of its nodes, unless a cut shows that some have more
/// (Hochbaum 2001; Chambolle and Darbon 2009). At most as many cuts as there are values. Nodes that are fused
/// are equal to the last bit; nodes outside `chosen` are 0.
pub(super) fn minimise_above(values: &[f64], edges: &[Edge], chosen: &[bool]) -> Vec<f64> {
    let whole = Part { nodes: (0..values.len()).collect(), values: values.to_vec(), edges: edges.to_vec() };
    let mut x = vec![0.0; values.len()];
    let mut parts = vec![whole.half(chosen, true)];
    while let Some(part) = parts.pop() {
        if part.nodes.is_empty() {
            continue;
        }
        let mean = part.values.iter().sum::<f64>() / part.values.len() as f64;
        let gains: Vec<f64> = part.values.iter().map(|value| value - mean).collect();
        let upper = best_set(&gains, &part.edges);
        if upper.iter().all(|&is_upper| is_upper == upper[0]) {
            part.nodes.iter().for_each(|&node| x[node] = mean);
        } else {
            parts.push(part.half(&upper, true));
            parts.push(part.half(&upper, false));
        }
    }
    x
}
