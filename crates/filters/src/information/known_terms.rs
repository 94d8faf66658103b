//! Terms of pairs of features that are counted in few passes over a stream.

use std::collections::HashMap;

use fewest_core::method::Choice as _;
use fewest_core::{Context, Error, SampleStream};

use super::criterion::{Alone, ForwardCriterion, Samples};
use crate::joint_tables::{JointTable, in_parts};
use crate::tables::StreamTables;

/// Bytes of the tables of one pass at most.
pub(super) const BYTES: usize = 256 << 20;

/// Bytes of a table that is counted whatever the memory.
const LITTLE: usize = 1 << 20;

/// Where all pairs are at most so many times the pairs of the features that are wanted with all others, they
/// are counted in one pass.
pub(super) const ALL: usize = 3;

/// The candidates whose pairs with each other say which of them may follow: so many for each wanted feature.
pub(super) const AHEAD: usize = 4;
const LEAST_AHEAD: usize = 50;

/// Features selected ahead at most, where their number is not given.
pub(super) const UNKNOWN_NUMBER: usize = 50;

/// What is known of a stream's features before any pair was counted.
pub(super) struct Singles {
    pub(super) criterion: ForwardCriterion,
    pub(super) samples: Samples,
    pub(super) levels: StreamTables,
    pub(super) alone: Vec<Alone>,
    pub(super) relevances: Vec<f64>,
}

/// The terms of pairs, and what was counted for them.
///
/// A feature that is *complete* has its terms with all others: the selection is exact as long as it asks for
/// complete features only. A pass completes the feature that is asked for, and those that would be selected
/// next by what is known: the terms with complete features, and those among the best candidates. So a wrong
/// guess costs a pass, and never the answer.
pub(super) struct KnownTerms<'a> {
    stream: &'a mut dyn SampleStream,
    context: &'a Context<'a>,
    /// Bytes of the tables of one pass.
    bytes: usize,
    /// How many features are wanted.
    n_wanted: usize,
    /// Features that vary.
    candidates: Vec<usize>,
    complete: HashMap<usize, Vec<f64>>,
    /// Terms of a candidate with another as if that was selected.
    pairs: HashMap<[usize; 2], f64>,
    /// The candidates whose pairs with each other are known.
    ahead: Vec<usize>,
}

impl<'a> KnownTerms<'a> {
    pub(super) fn new(
        stream: &'a mut dyn SampleStream,
        context: &'a Context<'a>,
        candidates: Vec<usize>,
        n_wanted: usize,
    ) -> Self {
        let (complete, pairs, ahead) = (HashMap::new(), HashMap::new(), Vec::new());
        let bytes = context.memory.map_or(BYTES, |memory| memory.min(BYTES));
        Self { stream, context, bytes, n_wanted, candidates, complete, pairs, ahead }
    }

    /// The terms of all features with the last of the `selected`.
    pub(super) fn with_last(&mut self, singles: &Singles, selected: &[usize]) -> Result<Vec<f64>, Error> {
        let Some(&last) = selected.last() else { return Ok(Vec::new()) };
        if !self.complete.contains_key(&last) {
            self.learn(singles, selected, last)?;
        }
        Ok(self.complete.get(&last).cloned().unwrap_or_default())
    }

    /// Completes the last selected feature, and others that may follow.
    fn learn(&mut self, singles: &Singles, selected: &[usize], last: usize) -> Result<(), Error> {
        let n = self.candidates.len();
        let all: usize = n * n.saturating_sub(1) / 2;
        if self.complete.is_empty()
            && all <= ALL * self.n_wanted * n
            && self.bytes_of_all(singles) <= self.bytes
        {
            let pairs = self.count_pairs(singles, &self.candidates.clone())?;
            self.pairs.extend(pairs);
            for &j in &self.candidates {
                let term = |k: usize| self.pairs.get(&[k, j]).copied().unwrap_or(0.0);
                self.complete.insert(j, (0..singles.alone.len()).map(term).collect());
            }
            self.pairs.clear();
            return Ok(());
        }
        let n_ahead = (AHEAD * self.n_wanted).max(LEAST_AHEAD);
        if self.ahead.is_empty() {
            // The first pass knows relevances only, and prepares the guesses of the next.
            let best = self.best(singles, &[], n_ahead);
            self.join(singles, &[], best)?;
        }
        let followers = self.followers(singles, selected, last);
        let before = selected.split_last().map_or(&[][..], |(_, before)| before);
        let mut joining = self.best(singles, before, n_ahead);
        joining.retain(|k| !self.ahead.contains(k));
        self.join(singles, &followers, joining)
    }

    /// Completes features, and counts the pairs of the `joining` ones with those ahead: one pass, or more
    /// where there is too little memory for the pairs of one feature.
    fn join(&mut self, singles: &Singles, complete: &[usize], joining: Vec<usize>) -> Result<(), Error> {
        let mut with = self.ahead.clone();
        with.extend(&joining);
        let of_candidates =
            |&j: &usize| self.candidates.iter().filter(move |k| **k != j).map(move |&k| [j, k]);
        let wanted: Vec<[usize; 2]> = complete.iter().flat_map(of_candidates).collect();
        let bytes_of = |pair: &[usize; 2]| singles.levels.bytes(pair);
        singles.check_pairs(wanted.iter().copied(), self.context)?;
        let mut parts = in_parts(wanted, bytes_of, self.bytes);
        let mut pairs = parts.pop().unwrap_or_default();
        for part in parts {
            let tables = singles.levels.joint(&part, self.stream, self.context)?;
            self.complete_with(singles, &part, &tables);
        }
        let mut bytes: usize = pairs.iter().map(bytes_of).sum();
        let n_complete = pairs.len();
        let mut joined = Vec::new();
        for (at, &k) in joining.iter().enumerate() {
            let own: Vec<[usize; 2]> = with[..self.ahead.len() + at].iter().map(|&j| [k, j]).collect();
            bytes += own.iter().map(bytes_of).sum::<usize>();
            if bytes > self.bytes {
                break;
            }
            pairs.extend(own);
            joined.push(k);
        }
        if pairs.is_empty() {
            return Ok(());
        }
        let tables = singles.levels.joint(&pairs, self.stream, self.context)?;
        self.complete_with(singles, &pairs[..n_complete], &tables);
        for (&[a, b], table) in pairs.iter().zip(&tables).skip(n_complete) {
            self.pairs.insert([a, b], singles.term(a, b, table, false));
            self.pairs.insert([b, a], singles.term(b, a, table, true));
        }
        self.ahead.extend(joined);
        Ok(())
    }

    /// The terms of the first feature of each pair with the second.
    fn complete_with(&mut self, singles: &Singles, pairs: &[[usize; 2]], tables: &[JointTable]) {
        for (&[j, k], table) in pairs.iter().zip(tables) {
            let terms = self.complete.entry(j).or_insert_with(|| vec![0.0; singles.alone.len()]);
            // The selected one is the second of a table whose first is the candidate.
            terms[k] = singles.term(k, j, table, true);
        }
    }

    /// One pass: the terms of all pairs of these features.
    fn count_pairs(
        &mut self,
        singles: &Singles,
        features: &[usize],
    ) -> Result<HashMap<[usize; 2], f64>, Error> {
        let pair = |(at, &a): (usize, &usize)| features[at + 1..].iter().map(move |&b| [a, b]);
        let pairs: Vec<[usize; 2]> = features.iter().enumerate().flat_map(pair).collect();
        let tables = singles.levels.joint(&pairs, self.stream, self.context)?;
        let mut terms = HashMap::with_capacity(2 * pairs.len());
        for (&[a, b], table) in pairs.iter().zip(&tables) {
            terms.insert([a, b], singles.term(a, b, table, false));
            terms.insert([b, a], singles.term(b, a, table, true));
        }
        Ok(terms)
    }

    fn bytes_of_all(&self, singles: &Singles) -> usize {
        let own = |(at, &a): (usize, &usize)| -> usize {
            self.candidates[at + 1..].iter().map(|&b| singles.levels.bytes(&[a, b])).sum()
        };
        self.candidates.iter().enumerate().map(own).fold(0, usize::saturating_add)
    }

    /// The term of candidate `k` with `j`, where it is known.
    fn term(&self, k: usize, j: usize) -> Option<f64> {
        match self.complete.get(&j) {
            Some(terms) => terms.get(k).copied(),
            None => self.pairs.get(&[k, j]).copied(),
        }
    }

    /// The fold of `k` over what is known of its terms with the `selected`.
    fn fold(&self, singles: &Singles, k: usize, selected: &[usize]) -> f64 {
        let start = singles.criterion.start(singles.relevances[k]);
        singles.criterion.fold(start, selected.iter().filter_map(|&j| self.term(k, j)))
    }

    /// The best candidates after these complete ones.
    fn best(&self, singles: &Singles, selected: &[usize], most: usize) -> Vec<usize> {
        let left: Vec<usize> = self.candidates.iter().copied().filter(|k| !selected.contains(k)).collect();
        let value = |&k: &usize| match selected.len() {
            0 => singles.relevances[k],
            n => singles.criterion.value(singles.relevances[k], self.fold(singles, k, selected), n),
        };
        let values: Vec<f64> = left.iter().map(value).collect();
        fewest_core::rank(&values, true).into_iter().take(most).map(|at| left[at]).collect()
    }

    /// The last selected feature, and those that would follow it by what is known: as many as one pass takes.
    fn followers(&self, singles: &Singles, selected: &[usize], last: usize) -> Vec<usize> {
        let with_all =
            |j: usize| self.candidates.iter().map(|&k| singles.levels.bytes(&[j, k])).sum::<usize>();
        let mut room = (self.bytes / 2).saturating_sub(with_all(last));
        let mut path = selected.to_vec();
        let mut found = vec![last];
        let mut left: Vec<usize> = self.ahead.iter().copied().filter(|k| !selected.contains(k)).collect();
        let mut folds: Vec<f64> = left.iter().map(|&k| self.fold(singles, k, selected)).collect();
        // The last one needs no terms.
        while path.len() + 1 < self.n_wanted && !left.is_empty() {
            let n = path.len();
            let value =
                |(at, &k): (usize, &usize)| singles.criterion.value(singles.relevances[k], folds[at], n);
            let values: Vec<f64> = left.iter().enumerate().map(value).collect();
            let Some(&at) = fewest_core::rank(&values, true).first() else { break };
            let next = left.swap_remove(at);
            folds.swap_remove(at);
            path.push(next);
            if !self.complete.contains_key(&next) {
                let bytes = with_all(next);
                if bytes > room {
                    break;
                }
                room -= bytes;
                found.push(next);
            }
            for (fold, &k) in folds.iter_mut().zip(&left) {
                *fold = singles.criterion.fold(*fold, self.term(k, next).into_iter());
            }
        }
        found
    }
}

impl Singles {
    /// Refuses pairs whose counts take more bytes than there are for all counts, where that is much.
    pub(super) fn check_pairs(
        &self,
        pairs: impl Iterator<Item = [usize; 2]>,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let with_bytes = |pair: [usize; 2]| (pair, self.levels.bytes(&pair));
        self.check(pairs.map(with_bytes).filter(|(_, bytes)| *bytes > LITTLE), context)
    }

    /// Refuses features whose counts with each other take more bytes than there are for all counts.
    pub(super) fn check<F: AsRef<[usize]>>(
        &self,
        mut bytes: impl Iterator<Item = (F, usize)>,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let Some(memory) = context.memory else { return Ok(()) };
        let Some((features, bytes)) = bytes.find(|(_, bytes)| *bytes > memory) else { return Ok(()) };
        let most = features.as_ref().iter().copied().max_by_key(|&j| self.levels.n_levels(j)).unwrap_or(0);
        Err(Error::Unsupported {
            method: self.criterion.word(),
            what: format!(
                "feature {most} (counted from 0, {} levels) in passes: its joint counts with others take {} MiB, \
                 more than the {} MiB that there are for counts,",
                self.levels.n_levels(most),
                bytes.div_ceil(1 << 20),
                memory >> 20
            ),
            instead: "give it more memory, or take fewer bins, or fewer features".to_owned(),
        })
    }

    /// The term of candidate `k` with `j`; `swapped` where the table has `j` first.
    fn term(&self, k: usize, j: usize, table: &JointTable, swapped: bool) -> f64 {
        let order = if swapped { [1, 0, 2] } else { [0, 1, 2] };
        self.criterion.term(&self.samples, self.alone[k], self.alone[j], table.sums(order))
    }
}
