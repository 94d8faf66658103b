//! The samples of each class.

use fewest_core::{Dataset, Error};

use super::instances::Neighbour;

/// The classes that have samples.
pub(super) struct ByClass {
    /// For each sample the index of its class in `members`.
    class_of: Vec<usize>,
    /// The samples of each class, increasing.
    members: Vec<Vec<usize>>,
}

impl ByClass {
    /// The classes of `data`, of which two at least must have samples.
    pub(super) fn new(data: &Dataset, method: &'static str) -> Result<Self, Error> {
        let classes = data.classes(method)?;
        let mut by_code = vec![Vec::new(); classes.n_classes()];
        for (i, &code) in classes.codes().iter().enumerate() {
            by_code[code as usize].push(i);
        }
        let members: Vec<Vec<usize>> = by_code.into_iter().filter(|samples| !samples.is_empty()).collect();
        if members.len() < 2 {
            return Err(Error::TooFew { what: "classes with samples", minimum: 2, found: members.len() });
        }
        let mut class_of = vec![0; classes.codes().len()];
        for (class, samples) in members.iter().enumerate() {
            for &i in samples {
                class_of[i] = class;
            }
        }
        Ok(Self { class_of, members })
    }

    /// Number of classes with samples.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// The neighbours of sample `i` that `pick` takes of each class, with the weights of ReliefF divided by
    /// the number of samples: hits count `−1` together, the misses of class `C` count
    /// `P(C) / (1 − P(class of i))`.
    pub(super) fn neighbours(
        &self,
        i: usize,
        mut pick: impl FnMut(&[usize]) -> Vec<usize>,
    ) -> Vec<Neighbour<1>> {
        let n = self.class_of.len() as f64;
        let own = self.class_of[i];
        let others = n - self.members[own].len() as f64;
        let mut list = Vec::new();
        for (class, members) in self.members.iter().enumerate() {
            let picked = pick(members);
            let share = if class == own { -1.0 } else { members.len() as f64 / others };
            let weight = share / (n * picked.len() as f64);
            list.extend(picked.into_iter().map(|r| (r, [weight])));
        }
        list
    }
}
