//! The tree-structured group lasso.

use super::{BlockPenalty, Blocks, check_level, holds_around};
use crate::{Error, penalty_of_blocks};

/// `Σ_G λ √|G| ‖w_G‖₂` over groups of which every two are nested or have nothing in common (Liu and Ye 2010;
/// Jenatton, Mairal, Obozinski and Bach 2011). A group that is zero makes all groups in it zero.
///
/// A block is an outermost group. Its prox is that of each group in turn, the inner ones first: one pass over
/// the members of all groups.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeLasso {
    blocks: Blocks,
    /// The groups of each block, inner ones first.
    nodes: Vec<Vec<Node>>,
}

/// A group, by its positions in a block.
#[derive(Debug, Clone, PartialEq)]
struct Node {
    members: Vec<usize>,
    level: f64,
}

impl Node {
    fn norm(&self, values: &[f64]) -> f64 {
        self.members.iter().map(|&i| values[i] * values[i]).sum::<f64>().sqrt()
    }
}

impl TreeLasso {
    /// Groups of coefficients `0 .. n`, each with the level `lambda · √size`. Every coefficient must be in
    /// one.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a `lambda` that is negative or not finite; [`Error::InvalidPart`]
    /// names a group that is empty, has a coefficient twice or out of range, or overlaps with another without
    /// being part of it, or a coefficient that is in no group.
    ///
    /// ```
    /// use fewest_solver::{Penalty, TreeLasso};
    /// let tree = TreeLasso::new(1.0, 2, &[vec![0], vec![1], vec![0, 1]])?;
    /// let mut w = [5.0, 0.5];
    /// tree.prox(&mut w, 1.0);
    /// // 1 from each coefficient, then √2 from the length of what is left.
    /// assert!((w[0] - (4.0 - 2.0_f64.sqrt())).abs() < 1e-15 && w[1] == 0.0);
    /// # Ok::<(), fewest_solver::Error>(())
    /// ```
    pub fn new(lambda: f64, n: usize, groups: &[Vec<usize>]) -> Result<Self, Error> {
        check_level("lambda", lambda)?;
        let outermost = outermost(n, groups)?;
        let levels = groups.iter().map(|group| lambda * (group.len() as f64).sqrt());
        Ok(Self::from_levels(&outermost, groups.iter().map(Vec::as_slice).zip(levels)))
    }

    /// `outermost[j]` is the outermost group of coefficient `j`; groups without coefficients are left out.
    fn from_levels<'a>(outermost: &[usize], groups: impl Iterator<Item = (&'a [usize], f64)>) -> Self {
        let blocks = Blocks::from_groups(outermost);
        let mut place = vec![(0, 0); outermost.len()];
        for (b, block) in blocks.iter().enumerate() {
            for (at, &j) in block.iter().enumerate() {
                place[j] = (b, at);
            }
        }
        let mut nodes = vec![Vec::new(); blocks.n_blocks()];
        for (group, level) in groups {
            if let Some(&first) = group.first() {
                let members = group.iter().map(|&j| place[j].1).collect();
                nodes[place[first].0].push(Node { members, level });
            }
        }
        // A group has at least as many members as each group in it.
        nodes.iter_mut().for_each(|nodes| nodes.sort_by_key(|node| node.members.len()));
        Self { blocks, nodes }
    }
}

/// The outermost group of each coefficient.
fn outermost(n: usize, groups: &[Vec<usize>]) -> Result<Vec<usize>, Error> {
    let wrong = |number: usize, problem: String| Error::InvalidPart { part: "group", number, problem };
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&g| groups[g].len());
    let mut outer: Vec<Option<usize>> = vec![None; n];
    // How many members of an earlier group the present one has.
    let mut shared = vec![0; groups.len()];
    for &g in &order {
        let group = &groups[g];
        if group.is_empty() {
            return Err(wrong(g, "has no coefficient: leave it out".to_owned()));
        }
        let mut inner = Vec::new();
        for &j in group {
            let Some(before) = outer.get_mut(j) else {
                return Err(wrong(g, format!("names coefficient {j}, but there are {n}, counted from 0")));
            };
            match before.replace(g) {
                Some(before) if before == g => {
                    return Err(wrong(g, format!("has coefficient {j} twice: name it once")));
                }
                Some(before) => {
                    shared[before] += 1;
                    inner.push(before);
                }
                None => {}
            }
        }
        for other in inner {
            if shared[other] != groups[other].len() {
                let problem = format!(
                    "has a part of group {other} only: in a tree one of two groups contains the other, or they \
                     have nothing in common"
                );
                return Err(wrong(g, problem));
            }
        }
    }
    let alone = |(j, outer): (usize, Option<usize>)| {
        outer.ok_or_else(|| {
            let problem = "is in no group: give it a group of its own".to_owned();
            Error::InvalidPart { part: "coefficient", number: j, problem }
        })
    };
    outer.into_iter().enumerate().map(alone).collect()
}

penalty_of_blocks!(TreeLasso, "tree lasso");

impl BlockPenalty for TreeLasso {
    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn value_block(&self, block: usize, w: &[f64]) -> f64 {
        self.nodes[block].iter().map(|node| node.level * node.norm(w)).sum()
    }

    fn prox_block(&self, block: usize, w: &mut [f64], step: f64) {
        for node in &self.nodes[block] {
            let (norm, threshold) = (node.norm(w), step * node.level);
            let scale = if norm > threshold { 1.0 - threshold / norm } else { 0.0 };
            node.members.iter().for_each(|&i| w[i] *= scale);
        }
    }

    /// The product of the Jacobians of the groups.
    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        let n = w.len();
        let mut point = w.to_vec();
        out.fill(0.0);
        (0..n).for_each(|i| out[i + i * n] = 1.0);
        for node in &self.nodes[block] {
            let (norm, threshold) = (node.norm(&point), step * node.level);
            let (scale, curve) = if norm > threshold {
                (1.0 - threshold / norm, threshold / norm.powi(3))
            } else {
                (0.0, 0.0)
            };
            for column in out.chunks_exact_mut(n) {
                let along: f64 = node.members.iter().map(|&i| point[i] * column[i]).sum();
                for &i in &node.members {
                    column[i] = scale * column[i] + curve * along * point[i];
                }
            }
            node.members.iter().for_each(|&i| point[i] *= scale);
        }
        // Symmetric but for rounding.
        for j in 0..n {
            for i in 0..j {
                out[j + i * n] = out[i + j * n];
            }
        }
    }

    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool {
        holds_around(self, block, v, radius)
    }

    fn restrict(&self, coefficients: &[usize]) -> Box<dyn BlockPenalty> {
        let mut place = vec![None; self.blocks.n_coefficients()];
        for (at, &j) in coefficients.iter().enumerate() {
            place[j] = Some(at);
        }
        let mut outermost = vec![0; coefficients.len()];
        let mut groups: Vec<(Vec<usize>, f64)> = Vec::new();
        for (b, (block, nodes)) in self.blocks.iter().zip(&self.nodes).enumerate() {
            block.iter().filter_map(|&j| place[j]).for_each(|at| outermost[at] = b);
            for node in nodes {
                let members = node.members.iter().filter_map(|&i| place[block[i]]).collect();
                groups.push((members, node.level));
            }
        }
        let groups = groups.iter().map(|(members, level)| (members.as_slice(), *level));
        Box::new(Self::from_levels(&outermost, groups))
    }
}
