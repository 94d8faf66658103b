//! Blocks of coefficients.

use fewest_core::order;

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
        let members = order::by_key(groups);
        let mut offsets: Vec<usize> =
            (0..members.len()).filter(|&i| i == 0 || groups[members[i]] != groups[members[i - 1]]).collect();
        offsets.push(members.len());
        Self { offsets, members }
    }

    /// Number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.offsets.len() - 1
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
        (0..self.n_blocks()).map(|b| self.block(b))
    }
}
