//! Links between samples, or between features.

use crate::Error;

/// Weighted links between nodes, stored row by row: never a matrix of all pairs.
///
/// Memory: 8 bytes per node and 12 bytes per link (24 if links have no direction, since both ends store
/// it). The neighbours of a node are in increasing order, no pair of nodes is linked twice in one
/// direction, and no node is linked to itself.
///
/// ```
/// use fewest_core::Graph;
/// let graph = Graph::undirected(4, &[(0, 1, 1.0), (2, 1, 0.5)])?;
/// assert_eq!(graph.neighbours(1), [0, 2]);
/// assert_eq!(graph.weights(1), [1.0, 0.5]);
/// assert_eq!(graph.components(), [0, 0, 0, 1]);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// The links of node `i` are those from `offsets[i]` to `offsets[i + 1]`.
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<f64>,
    directed: bool,
}

impl Graph {
    /// Links `(a, b, weight)` without a direction, each pair of nodes once.
    ///
    /// # Errors
    /// [`Error::InvalidPart`] names the first link with a node that does not exist, from a node to itself,
    /// with a weight that is not finite or not above 0, or between two nodes linked already;
    /// [`Error::InvalidParameter`] for more than 2³² − 1 nodes.
    ///
    /// # Complexity
    /// Time and memory O(nodes + links).
    pub fn undirected(n_nodes: usize, links: &[(usize, usize, f64)]) -> Result<Self, Error> {
        Self::new(n_nodes, links, false)
    }

    /// Links `(from, to, weight)` with a direction: `(a, b, …)` and `(b, a, …)` are two links.
    ///
    /// # Errors
    /// As [`Graph::undirected`].
    ///
    /// # Complexity
    /// As [`Graph::undirected`].
    pub fn directed(n_nodes: usize, links: &[(usize, usize, f64)]) -> Result<Self, Error> {
        Self::new(n_nodes, links, true)
    }

    fn new(n_nodes: usize, links: &[(usize, usize, f64)], directed: bool) -> Result<Self, Error> {
        check_size(n_nodes)?;
        for (number, &(from, to, weight)) in links.iter().enumerate() {
            let problem = if let Some(node) = [from, to].into_iter().find(|node| *node >= n_nodes) {
                format!("names node {node}, but there are {n_nodes}, counted from 0: leave it out")
            } else if from == to {
                format!("links node {from} to itself: leave it out")
            } else if !(weight.is_finite() && weight > 0.0) {
                format!(
                    "has the weight {weight}, which must be finite and above 0: leave out links of weight 0"
                )
            } else {
                continue;
            };
            return Err(Error::InvalidPart { part: "link", number, problem });
        }
        // Transposed, so that the rows are in order.
        let backwards = links.iter().map(|&(from, to, weight)| (to, from, weight));
        let graph = if directed {
            Self::rows(n_nodes, backwards, true).transposed()
        } else {
            Self::rows(n_nodes, backwards.chain(links.iter().copied()), false).transposed()
        };
        match (0..n_nodes).find_map(|i| graph.doubled(i)) {
            None => Ok(graph),
            Some((a, b)) => Err(Self::repeated(links, directed, a, b)),
        }
    }

    /// The first pair of neighbours of node `i` that are the same node.
    fn doubled(&self, i: usize) -> Option<(usize, usize)> {
        let pair = self.neighbours(i).windows(2).find(|pair| pair[0] == pair[1])?;
        Some((i, pair[0] as usize))
    }

    /// The error for the second link between `a` and `b`.
    fn repeated(links: &[(usize, usize, f64)], directed: bool, a: usize, b: usize) -> Error {
        let is_it = |link: &(usize, usize, f64)| {
            (link.0, link.1) == (a, b) || (!directed && (link.1, link.0) == (a, b))
        };
        let mut numbers = (0..links.len()).filter(|&number| is_it(&links[number]));
        let (first, second) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let problem =
            format!("is between nodes {a} and {b}, as link {first} is: keep one, with the weight of both");
        Error::InvalidPart { part: "link", number: second, problem }
    }

    /// Rows of links in the order of the input.
    fn rows(
        n_nodes: usize,
        links: impl Iterator<Item = (usize, usize, f64)> + Clone,
        directed: bool,
    ) -> Self {
        let mut offsets = vec![0; n_nodes + 1];
        for (from, ..) in links.clone() {
            offsets[from + 1] += 1;
        }
        for i in 0..n_nodes {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let n_links = offsets[n_nodes];
        let (mut neighbours, mut weights) = (vec![0; n_links], vec![0.0; n_links]);
        for (from, to, weight) in links {
            // `check_size` has checked that every node fits in a `u32`.
            neighbours[next[from]] = to as u32;
            weights[next[from]] = weight;
            next[from] += 1;
        }
        Self { offsets, neighbours, weights, directed }
    }

    /// Every stored link; a link without direction occurs from both of its ends.
    fn stored(&self) -> impl Iterator<Item = (usize, usize, f64)> + Clone {
        (0..self.n_nodes()).flat_map(|i| {
            self.neighbours(i).iter().zip(self.weights(i)).map(move |(&to, &weight)| (i, to as usize, weight))
        })
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of links; one without a direction counts once.
    pub fn n_links(&self) -> usize {
        if self.directed { self.neighbours.len() } else { self.neighbours.len() / 2 }
    }

    /// Whether links have a direction.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// The nodes that links lead to from node `i < n_nodes()`, increasing.
    pub fn neighbours(&self, i: usize) -> &[u32] {
        &self.neighbours[self.offsets[i]..self.offsets[i + 1]]
    }

    /// The weights of these links, in the order of [`Graph::neighbours`].
    pub fn weights(&self, i: usize) -> &[f64] {
        &self.weights[self.offsets[i]..self.offsets[i + 1]]
    }

    /// Number of neighbours of node `i`.
    pub fn degree(&self, i: usize) -> usize {
        self.neighbours(i).len()
    }

    /// Every link `(from, to, weight)`, by increasing `from`, then `to`; one without a direction once, with
    /// `from < to`.
    pub fn links(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        self.stored().filter(|&(from, to, _)| self.directed || from < to)
    }

    /// The graph with every link reversed.
    ///
    /// # Complexity
    /// Time and memory O(nodes + links).
    #[must_use]
    pub fn transposed(&self) -> Self {
        let backwards = self.stored().map(|(from, to, weight)| (to, from, weight));
        Self::rows(self.n_nodes(), backwards, self.directed)
    }

    /// The graph without directions: nodes are linked if they were linked in either direction, with the
    /// larger of the two weights.
    ///
    /// # Complexity
    /// Time and memory O(nodes + links).
    #[must_use]
    pub fn symmetrised(&self) -> Self {
        if !self.directed {
            return self.clone();
        }
        let back = self.transposed();
        let mut graph = Self {
            offsets: vec![0],
            neighbours: Vec::with_capacity(2 * self.neighbours.len()),
            weights: Vec::with_capacity(2 * self.neighbours.len()),
            directed: false,
        };
        for i in 0..self.n_nodes() {
            // Merge of two increasing rows.
            let (mut out, mut into) = (self.offsets[i], back.offsets[i]);
            let (out_end, into_end) = (self.offsets[i + 1], back.offsets[i + 1]);
            while out < out_end || into < into_end {
                let a = if out < out_end { self.neighbours[out] } else { u32::MAX };
                let b = if into < into_end { back.neighbours[into] } else { u32::MAX };
                let mut weight = 0.0_f64;
                if a <= b {
                    weight = self.weights[out];
                    out += 1;
                }
                if b <= a {
                    weight = weight.max(back.weights[into]);
                    into += 1;
                }
                graph.neighbours.push(a.min(b));
                graph.weights.push(weight);
            }
            graph.offsets.push(graph.neighbours.len());
        }
        graph.neighbours.shrink_to_fit();
        graph.weights.shrink_to_fit();
        graph
    }

    /// The links between the nodes `nodes`, which become nodes 0, 1, … in that order: for the samples of a
    /// fold.
    ///
    /// A node may occur more than once, as in a bootstrap sample: each copy has the links of the node, and
    /// there is none between copies.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a node out of range, or more than 2³² − 1 nodes.
    ///
    /// # Complexity
    /// Time O(nodes + links of the nodes kept).
    pub fn subset(&self, nodes: &[usize]) -> Result<Self, Error> {
        let n_nodes = self.n_nodes();
        check_size(nodes.len())?;
        if let Some(&node) = nodes.iter().find(|&&node| node >= n_nodes) {
            return Err(Error::parameter("nodes", node, format!("below the number of nodes, {n_nodes}")));
        }
        let copies = Places::new(nodes, n_nodes);
        let copies = &copies;
        let links = nodes.iter().enumerate().flat_map(|(new, &old)| {
            self.neighbours(old).iter().zip(self.weights(old)).flat_map(move |(&to, &weight)| {
                copies.of(to as usize).iter().map(move |&place| (place, new, weight))
            })
        });
        Ok(Self::rows(nodes.len(), links, self.directed).transposed())
    }

    /// The connected component of each node, whatever the direction of links; components are numbered in the
    /// order of their lowest nodes.
    ///
    /// # Complexity
    /// Time nearly O(nodes + links), memory O(nodes).
    pub fn components(&self) -> Vec<usize> {
        let mut parents: Vec<usize> = (0..self.n_nodes()).collect();
        let root = |parents: &mut Vec<usize>, mut i: usize| {
            while parents[i] != i {
                parents[i] = parents[parents[i]];
                i = parents[i];
            }
            i
        };
        for (from, to, _) in self.stored() {
            let (a, b) = (root(&mut parents, from), root(&mut parents, to));
            // The lowest node of a component is its root.
            parents[a.max(b)] = a.min(b);
        }
        let mut numbers = vec![0; self.n_nodes()];
        let mut n_components = 0;
        for i in 0..self.n_nodes() {
            let first = root(&mut parents, i);
            if first == i {
                numbers[i] = n_components;
                n_components += 1;
            } else {
                numbers[i] = numbers[first];
            }
        }
        numbers
    }
}

fn check_size(n_nodes: usize) -> Result<(), Error> {
    match u32::try_from(n_nodes) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::parameter("nodes", n_nodes, "at most 4294967295")),
    }
}

/// The positions of each item in a list of indices.
pub(crate) struct Places {
    offsets: Vec<usize>,
    places: Vec<usize>,
}

impl Places {
    /// Of `list`, whose items are below `n`.
    pub(crate) fn new(list: &[usize], n: usize) -> Self {
        let mut offsets = vec![0; n + 1];
        list.iter().for_each(|&item| offsets[item + 1] += 1);
        for i in 0..n {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut places = vec![0; list.len()];
        for (place, &item) in list.iter().enumerate() {
            places[next[item]] = place;
            next[item] += 1;
        }
        Self { offsets, places }
    }

    /// The positions of `item`, increasing.
    pub(crate) fn of(&self, item: usize) -> &[usize] {
        &self.places[self.offsets[item]..self.offsets[item + 1]]
    }
}
