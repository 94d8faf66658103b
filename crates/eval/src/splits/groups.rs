//! Folds that keep groups of samples together.

use std::collections::BTreeMap;

use fewest_core::{Dataset, Error};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use super::{Split, Splitter};

/// Folds in which samples of one group (a patient, a batch) are never on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupFolds {
    /// The group of each sample, any numbers.
    pub groups: Vec<usize>,
    /// Number of folds, at most the number of groups: the largest group goes to the smallest fold so far, and
    /// so on. `None`, the default: one fold per group, by increasing number.
    pub folds: Option<usize>,
}

impl Splitter for GroupFolds {
    fn splits(&self, data: &Dataset, seed: u64) -> Result<Vec<Split>, Error> {
        let n_samples = data.n_samples();
        if self.groups.len() != n_samples {
            return Err(Error::ShapeMismatch {
                what: "groups of samples",
                expected: n_samples,
                found: self.groups.len(),
            });
        }
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (row, &group) in self.groups.iter().enumerate() {
            members.entry(group).or_default().push(row);
        }
        if members.len() < 2 {
            return Err(Error::TooFew { what: "groups of samples", minimum: 2, found: members.len() });
        }
        let folds = self.folds.unwrap_or(members.len());
        if folds < 2 || folds > members.len() {
            let expected = format!("at least 2 and at most the number of groups, {}", members.len());
            return Err(Error::parameter("folds", folds, expected));
        }
        let mut groups: Vec<Vec<usize>> = members.into_values().collect();
        if self.folds.is_some() {
            // The seed decides between groups of equal size.
            groups.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
            groups.sort_by_key(|rows| std::cmp::Reverse(rows.len()));
        }
        let (mut fold_of, mut sizes) = (vec![0; n_samples], vec![0; folds]);
        for rows in groups {
            let smallest = (0..folds).min_by_key(|&fold| sizes[fold]).unwrap_or(0);
            sizes[smallest] += rows.len();
            rows.into_iter().for_each(|row| fold_of[row] = smallest);
        }
        Ok(Split::each(&fold_of, folds))
    }
}
