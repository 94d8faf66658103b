//! Groups of features.

use crate::{Error, order};

/// Groups of features.
///
/// ```
/// use fewest_core::Groups;
/// let groups = Groups::overlapping(4, vec![vec![0, 1, 2], vec![2, 3]])?;
/// assert_eq!(groups.n_features(), 4);
/// assert_eq!(groups.sets(), [vec![0, 1, 2], vec![2, 3]]);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Groups {
    /// The group of each feature, any numbers: features of one number belong together.
    Partition(Vec<usize>),
    /// Sets of features, which may share some.
    Overlapping(OverlappingGroups),
    /// Groups within groups.
    Tree(GroupTree),
}

/// Sets of features, none empty, which may share some; a feature may be in none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverlappingGroups {
    n_features: usize,
    sets: Vec<Vec<usize>>,
}

/// Groups within groups: a forest whose leaves are the features. Every group holds a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupTree {
    n_features: usize,
    parents: Vec<Option<usize>>,
}

impl Groups {
    /// A group number for each feature, any numbers: features with the same number form a group.
    pub fn partition(group_of: Vec<usize>) -> Self {
        Self::Partition(group_of)
    }

    /// Sets of features `0 .. n_features`, which may share some.
    ///
    /// # Errors
    /// [`Error::InvalidPart`] names the first group that is empty, or has a feature out of range or twice.
    pub fn overlapping(n_features: usize, mut sets: Vec<Vec<usize>>) -> Result<Self, Error> {
        for (number, set) in sets.iter_mut().enumerate() {
            order::sort_indices(set);
            let problem = if set.is_empty() {
                "has no feature: leave it out".to_owned()
            } else if let Some(j) = set.iter().find(|&&j| j >= n_features) {
                format!("names feature {j}, but there are {n_features}, counted from 0")
            } else if let Some(pair) = set.windows(2).find(|pair| pair[0] == pair[1]) {
                format!("has feature {} twice: name it once", pair[0])
            } else {
                continue;
            };
            return Err(Error::InvalidPart { part: "group", number, problem });
        }
        Ok(Self::Overlapping(OverlappingGroups { n_features, sets }))
    }

    /// Groups within groups. `parents[j]` for `j < n_features` is the group of feature `j`, and
    /// `parents[n_features + g]` that of group `g`, each as a number of a group from 0; `None` where it is in
    /// no group.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for fewer parents than features; [`Error::InvalidPart`] names the first group
    /// whose parent is out of range, that contains itself, or that has no feature.
    ///
    /// ```
    /// use fewest_core::Groups;
    /// // Features 0 and 1 in group 0, which is in group 1 together with feature 2.
    /// let tree = Groups::tree(3, vec![Some(0), Some(0), Some(1), Some(1), None])?;
    /// assert_eq!(tree.sets(), [vec![0, 1], vec![0, 1, 2]]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    pub fn tree(n_features: usize, parents: Vec<Option<usize>>) -> Result<Self, Error> {
        let Some(n_groups) = parents.len().checked_sub(n_features) else {
            let found = parents.len();
            return Err(Error::ShapeMismatch { what: "parents of features", expected: n_features, found });
        };
        let wrong = |node: usize, problem: String| {
            let (part, number) =
                if node < n_features { ("feature", node) } else { ("group", node - n_features) };
            Error::InvalidPart { part, number, problem }
        };
        for (node, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent.filter(|parent| *parent >= n_groups) {
                let problem = format!("is in group {parent}, but there are {n_groups}, counted from 0");
                return Err(wrong(node, problem));
            }
        }
        let tree = GroupTree { n_features, parents };
        if let Some(group) = tree.first_in_itself() {
            let problem = "contains itself: remove a group of this cycle from its parent".to_owned();
            return Err(wrong(n_features + group, problem));
        }
        if let Some(empty) = tree.above(0..n_features).iter().position(|above| !above) {
            return Err(wrong(n_features + empty, "has no feature: leave it out".to_owned()));
        }
        Ok(Self::Tree(tree))
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        match self {
            Self::Partition(group_of) => group_of.len(),
            Self::Overlapping(groups) => groups.n_features,
            Self::Tree(tree) => tree.n_features,
        }
    }

    /// The features of every group, increasing. The groups of a partition are ordered by number; a group of
    /// a tree has all features below it.
    pub fn sets(&self) -> Vec<Vec<usize>> {
        match self {
            Self::Partition(group_of) => {
                let features = order::by_key(group_of);
                features.chunk_by(|&a, &b| group_of[a] == group_of[b]).map(<[usize]>::to_vec).collect()
            }
            Self::Overlapping(groups) => groups.sets.clone(),
            Self::Tree(tree) => tree.sets(),
        }
    }

    /// The groups of the features `features`, which are numbered in that order. Groups without features left
    /// are removed.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when a feature does not exist.
    ///
    /// ```
    /// use fewest_core::Groups;
    /// let groups = Groups::overlapping(4, vec![vec![0, 1, 2], vec![3]])?;
    /// assert_eq!(groups.subset(&[2, 0])?.sets(), [vec![0, 1]]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    pub fn subset(&self, features: &[usize]) -> Result<Self, Error> {
        let n_features = self.n_features();
        if let Some(j) = features.iter().find(|&&j| j >= n_features) {
            let expected = format!("below the number of features, {n_features}");
            return Err(Error::parameter("features", j, expected));
        }
        match self {
            Self::Partition(group_of) => Ok(Self::Partition(features.iter().map(|&j| group_of[j]).collect())),
            Self::Overlapping(groups) => {
                // The new positions of each feature; a feature may be listed twice.
                let mut places = vec![Vec::new(); n_features];
                for (at, &j) in features.iter().enumerate() {
                    places[j].push(at);
                }
                let part = |set: &Vec<usize>| -> Vec<usize> {
                    set.iter().flat_map(|&j| places[j].iter().copied()).collect()
                };
                let sets = groups.sets.iter().map(part).filter(|set| !set.is_empty()).collect();
                Self::overlapping(features.len(), sets)
            }
            Self::Tree(tree) => {
                // A parent of a group that keeps a feature keeps it too, so no parent is lost.
                let kept = tree.above(features.iter().copied());
                let mut number = 0;
                let numbers: Vec<usize> = kept
                    .iter()
                    .map(|&kept| {
                        number += usize::from(kept);
                        number.saturating_sub(1)
                    })
                    .collect();
                let of_features = features.iter().map(|&j| tree.group_of(j));
                let of_groups = (0..tree.n_groups()).filter(|&g| kept[g]).map(|g| tree.parent(g));
                let parents = of_features.chain(of_groups).map(|group| group.map(|g| numbers[g])).collect();
                Self::tree(features.len(), parents)
            }
        }
    }

    /// The kind in words, for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Self::Partition(_) => "groups without overlap",
            Self::Overlapping(_) => "overlapping groups",
            Self::Tree(_) => "a tree of groups",
        }
    }
}

impl GroupTree {
    /// Number of groups.
    pub fn n_groups(&self) -> usize {
        self.parents.len() - self.n_features
    }

    /// The group that contains feature `j`, if any.
    pub fn group_of(&self, j: usize) -> Option<usize> {
        self.parents[..self.n_features][j]
    }

    /// The group that contains group `g`, if any.
    pub fn parent(&self, g: usize) -> Option<usize> {
        self.parents[self.n_features + g]
    }

    /// All features below each group, increasing. Memory: one number for each pair of a feature and a group
    /// above it.
    fn sets(&self) -> Vec<Vec<usize>> {
        let mut sets = vec![Vec::new(); self.n_groups()];
        for j in 0..self.n_features {
            let mut above = self.group_of(j);
            while let Some(group) = above {
                sets[group].push(j);
                above = self.parent(group);
            }
        }
        sets
    }

    /// Which groups contain one of `features`. A walk upwards ends at a group visited before, so the time
    /// is O(features + groups) for any depth of the tree.
    fn above(&self, features: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut passed = vec![false; self.n_groups()];
        for j in features {
            let mut above = self.group_of(j);
            while let Some(group) = above.filter(|&group| !passed[group]) {
                passed[group] = true;
                above = self.parent(group);
            }
        }
        passed
    }

    /// The first group that contains itself.
    fn first_in_itself(&self) -> Option<usize> {
        const NOT_SEEN: usize = usize::MAX;
        // The walk that visited each group: a walk that meets itself has found a cycle.
        let mut seen = vec![NOT_SEEN; self.n_groups()];
        let mut first: Option<usize> = None;
        for start in 0..self.n_groups() {
            let mut above = Some(start);
            while let Some(group) = above.filter(|&group| seen[group] == NOT_SEEN) {
                seen[group] = start;
                above = self.parent(group);
            }
            if let Some(met) = above.filter(|&group| seen[group] == start) {
                // The groups of the cycle; the first one is reported.
                let (mut lowest, mut at) = (met, self.parent(met));
                while let Some(group) = at.filter(|&group| group != met) {
                    lowest = lowest.min(group);
                    at = self.parent(group);
                }
                first = Some(first.map_or(lowest, |first| first.min(lowest)));
            }
        }
        first
    }
}
