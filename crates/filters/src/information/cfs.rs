//! Correlation-based feature selection.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use fewest_core::method::Options;
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, Status, options, order};
use fewest_counts::Scratch;
use fewest_counts::discretisation::Discretisation;

use super::forward::{TIE, add_notes};
use super::uncertainty::Uncertainty;

options! {
    /// Correlation-based feature selection (Hall 1999), the merit of Eq. (84) of Li et al. 2016 over
    /// symmetric uncertainty:
    ///
    /// ```text
    /// merit(F) = Σ_{i∈F} SU(i;Y) / √(|F| + 2 Σ_{i<j∈F} SU(i;j))
    /// ```
    ///
    /// Best-first forward search from the empty set: the best subset not yet expanded is expanded by every
    /// single feature, until `patience` expansions in a row gave nothing better than the best so far. That
    /// best subset is the answer, in the order in which its features were added; scores are `SU(k;Y)`, the
    /// objective is the merit. `Budget::Count` bounds the size of subsets; `Budget::Threshold` keeps out
    /// features whose `SU(k;Y)` is below it. Equal merits (to 1e-11) go to the subset found first.
    ///
    /// A real target is discretised by the rule of the features. Cost: `O(n d)` for each feature that is ever
    /// added to an expanded subset, `O(d |F|)` an expansion; memory `O(d)` for each of both.
    ///
    /// # Errors
    /// As [`Forward`](super::Forward); for a patience of 0.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_filters::information::Cfs;
    ///
    /// let x = DenseColumns::from_columns(&[vec![0.0, 1.0, 1.0, 1.0], vec![0.0, 0.0, 5.0, 5.0], vec![0.0, 0.0, 2.0, 2.0]])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// let selection = Cfs::default().select(&data, Budget::Auto, &Context::default())?;
    /// assert_eq!((selection.order, selection.objective), (vec![1], Some(1.0)));
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Cfs {
        /// Expansions in a row without a better subset before the search ends.
        pub patience: usize = 5, Count(1);
        /// How numbers become levels.
        pub discretisation: Discretisation = Discretisation::default();
    }
}

impl Selector for Cfs {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        data.refuse_sample_weights("cfs")?;
        budget.check(data.n_features())?;
        self.check()?;
        let uncertainty = Uncertainty::new(data, &self.discretisation, "cfs", context)?;
        let reaches = |k: &usize| match budget {
            Budget::Threshold(threshold) => uncertainty.with_target[*k] >= threshold,
            _ => true,
        };
        let candidates: Vec<usize> =
            (0..data.n_features()).filter(|k| !uncertainty.is_constant(*k) && reaches(k)).collect();
        let largest = match budget {
            Budget::Count(k) => k,
            _ => candidates.len(),
        };
        let mut search = Search { uncertainty: &uncertainty, candidates, columns: HashMap::new() };
        let (best, status) = search.best_first(largest, self.patience, context);
        if best.features.is_empty() && status != Status::Converged {
            return Err(Error::Stopped { before: "the first subset was expanded" });
        }
        let scores = best.features.iter().map(|&k| uncertainty.with_target[k]).collect();
        let objective = (!best.features.is_empty()).then_some(best.merit);
        let mut selection = Selection::new(best.features, scores, data.n_features(), status);
        selection.objective = objective;
        add_notes(&mut selection, budget, uncertainty.n_constant(), "no further feature raises the merit");
        Ok(selection)
    }
}

/// The best subset so far.
struct Best {
    merit: f64,
    /// In the order in which they were added.
    features: Vec<usize>,
}

/// A subset that was expanded.
struct Expansion {
    /// In the order in which they were added.
    features: Vec<usize>,
    /// What each further feature makes of it: merit in units of the tie tolerance, so that there is a total
    /// order, and feature; best first, ties by index.
    children: Vec<(u64, usize)>,
}

/// The best child not yet taken of an expansion: merit, expansion and position among its children. The
/// largest comes first, so that equal merits go to the subset found first.
type Open = (u64, Reverse<usize>, Reverse<usize>);

struct Search<'a> {
    uncertainty: &'a Uncertainty,
    candidates: Vec<usize>,
    /// `SU` of every candidate with a feature, for each feature in an expanded subset.
    columns: HashMap<usize, Vec<f64>>,
}

impl Search<'_> {
    fn best_first(&mut self, largest: usize, patience: usize, context: &Context<'_>) -> (Best, Status) {
        let mut best = Best { merit: 0.0, features: Vec::new() };
        let mut expansions: Vec<Expansion> = Vec::new();
        let mut open: BinaryHeap<Open> = BinaryHeap::new();
        let mut seen = HashSet::new();
        let mut in_vain = 0;
        let mut subset = Vec::new();
        while in_vain < patience {
            if let Some(status) = context.stopped() {
                return (best, status);
            }
            let is_better = self.expand(subset, &mut best, &mut expansions, &mut open);
            in_vain = if is_better { 0 } else { in_vain + 1 };
            context.report("cfs", expansions.len(), expansions.len().saturating_add(patience - in_vain));
            match next(&expansions, &mut open, &mut seen, largest) {
                Some(next) => subset = next,
                None => break,
            }
        }
        (best, Status::Converged)
    }

    /// Adds the expansion of `subset`; whether one of its children is the best subset so far.
    fn expand(
        &mut self,
        subset: Vec<usize>,
        best: &mut Best,
        expansions: &mut Vec<Expansion>,
        open: &mut BinaryHeap<Open>,
    ) -> bool {
        let merits = self.merits(&subset);
        let mut is_better = false;
        let mut children = Vec::new();
        for (&feature, &merit) in self.candidates.iter().zip(&merits) {
            if subset.contains(&feature) {
                continue;
            }
            if merit > best.merit + TIE {
                *best = Best { merit, features: [subset.as_slice(), &[feature]].concat() };
                is_better = true;
            }
            children.push(((merit / TIE).round() as u64, feature));
        }
        children.sort_by_key(|(key, _)| Reverse(*key));
        if let Some((key, _)) = children.first() {
            open.push((*key, Reverse(expansions.len()), Reverse(0)));
        }
        expansions.push(Expansion { features: subset, children });
        is_better
    }

    /// The merit of the subset with each candidate added.
    fn merits(&mut self, features: &[usize]) -> Vec<f64> {
        let Self { uncertainty, candidates, columns } = self;
        if let Some(&last) = features.last() {
            columns.entry(last).or_insert_with(|| {
                fewest_parallel::map_with(candidates.len(), |scratch: &mut Scratch, at| {
                    uncertainty.between(candidates[at], last, scratch)
                })
            });
        }
        let mut members = features.to_vec();
        order::sort_indices(&mut members);
        let with_target: f64 = members.iter().map(|&k| uncertainty.with_target[k]).sum();
        let columns: Vec<&Vec<f64>> = members.iter().filter_map(|member| columns.get(member)).collect();
        // Redundancy within the subset, from the same columns.
        let place = |k: usize| candidates.partition_point(|&candidate| candidate < k);
        let mut within = 0.0;
        for (i, &member) in members.iter().enumerate() {
            within += columns[..i].iter().map(|column| column[place(member)]).sum::<f64>();
        }
        let size = (features.len() + 1) as f64;
        let merit = |(at, &k): (usize, &usize)| {
            let added: f64 = columns.iter().map(|column| column[at]).sum();
            (with_target + uncertainty.with_target[k]) / (size + 2.0 * (within + added)).sqrt()
        };
        candidates.iter().enumerate().map(merit).collect()
    }
}

/// The best subset not yet expanded, of at most `largest - 1` features.
fn next(
    expansions: &[Expansion],
    open: &mut BinaryHeap<Open>,
    seen: &mut HashSet<Vec<usize>>,
    largest: usize,
) -> Option<Vec<usize>> {
    loop {
        let (_, Reverse(parent), Reverse(position)) = open.pop()?;
        let Expansion { features, children } = &expansions[parent];
        if let Some((key, _)) = children.get(position + 1) {
            open.push((*key, Reverse(parent), Reverse(position + 1)));
        }
        if features.len() + 1 >= largest {
            continue;
        }
        let mut subset = features.clone();
        subset.push(children[position].1);
        let mut members = subset.clone();
        order::sort_indices(&mut members);
        // A subset is found once for each order of its features.
        if seen.insert(members) {
            return Some(subset);
        }
    }
}
