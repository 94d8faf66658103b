//! Terms of triples of features that are counted in few passes over a stream.

use std::collections::{HashMap, HashSet};

use fewest_core::{Context, Error, SampleStream};

use super::known_terms::{AHEAD, ALL, BYTES, Singles, UNKNOWN_NUMBER};
use super::triple_terms::{Triples, sorted};
use crate::joint_tables::{JointTable, in_parts};

/// With fewer features to select nothing is foreseen: the first is the best alone, the second the best with
/// it, and the last needs no terms.
const LEAST_FORESEEN: usize = 4;

/// Bytes of a table besides its counts: where it is found, what is asked for, and the ends of its lists.
const BESIDE: usize = 150;

/// The terms of triples, and what was counted for them.
///
/// A feature that is selected has the *terms* of all others with it and each one selected before: their
/// triples are counted, for all candidates, before the next feature is taken. A pass counts those of the last
/// selected feature, and of those that would be selected next by the triples of the best candidates with each
/// other. So a wrong guess costs a pass, and never the answer.
pub(super) struct KnownTriples<'a> {
    stream: &'a mut dyn SampleStream,
    context: &'a Context<'a>,
    /// Bytes of the tables that are kept, and of those of one pass.
    bytes: usize,
    /// How many features are wanted.
    n_wanted: usize,
    /// Features that vary.
    candidates: Vec<usize>,
    /// What every feature is judged by, with those that were selected when terms were last asked for.
    folds: Vec<f64>,
    /// Counts of which the terms were not asked for yet.
    triples: Triples,
    /// `I(a,b,c;Y)` of triples ahead.
    information: HashMap<[usize; 3], f64>,
    /// The candidates whose triples with each other are known.
    ahead: Vec<usize>,
}

impl<'a> KnownTriples<'a> {
    pub(super) fn new(
        stream: &'a mut dyn SampleStream,
        context: &'a Context<'a>,
        candidates: Vec<usize>,
        n_wanted: usize,
        singles: &Singles,
    ) -> Self {
        Self {
            stream,
            context,
            bytes: context.memory.map_or(BYTES, |memory| memory.min(BYTES)),
            n_wanted,
            candidates,
            folds: Vec::new(),
            triples: Triples::new(&singles.levels.tables),
            information: HashMap::new(),
            ahead: Vec::new(),
        }
    }

    /// The terms of all features with the last of the `selected`.
    pub(super) fn with_last(&mut self, singles: &Singles, selected: &[usize]) -> Result<Vec<f64>, Error> {
        match *selected {
            [] => Ok(Vec::new()),
            [first] => self.with_first(singles, first),
            [.., last] => self.with_pairs(singles, &selected[..selected.len() - 1], last),
        }
    }

    /// The pairs of all features with the first one, and the triples of the best candidates: one pass, or
    /// more where there is too little memory for all pairs.
    fn with_first(&mut self, singles: &Singles, first: usize) -> Result<Vec<f64>, Error> {
        let others = self.left(&[first]);
        singles.check_pairs(others.iter().map(|&k| [first, k]), self.context)?;
        let mut parts =
            in_parts(others.iter().map(|&k| vec![first, k]), |pair| bytes_of(singles, pair), self.bytes);
        let mut features = parts.pop().unwrap_or_default();
        let bytes: usize = features.iter().map(|pair| bytes_of(singles, pair)).sum();
        let mut of_pairs = Vec::with_capacity(others.len());
        for part in parts {
            let tables = singles.levels.joint(&part, self.stream, self.context)?;
            of_pairs.extend(tables.iter().map(|table| singles.samples.jointly(table.sums([1, 0, 2]))));
        }
        let n_pairs = features.len();
        self.ahead = self.best(singles, first, self.bytes.saturating_sub(bytes));
        let triples: Vec<[usize; 3]> = triples_of(&self.ahead).collect();
        features.extend(triples.iter().map(|triple| triple.to_vec()));
        let mut tables = singles.levels.joint(&features, self.stream, self.context)?;
        for (triple, table) in triples.into_iter().zip(tables.split_off(n_pairs)) {
            self.keep(singles, triple, table);
        }
        of_pairs.extend(tables.iter().map(|table| singles.samples.jointly(table.sums([1, 0, 2]))));
        let mut terms = vec![0.0; singles.alone.len()];
        others.into_iter().zip(of_pairs).for_each(|(k, term)| terms[k] = term);
        self.folds.clone_from(&terms);
        Ok(terms)
    }

    /// The candidates that are looked at ahead: all, where their triples are few, or the best, whose triples
    /// are no more than those of the selected features with all.
    fn best(&self, singles: &Singles, first: usize, room: usize) -> Vec<usize> {
        let n = self.candidates.len();
        let needed: usize = (2..self.n_wanted).map(|at| (at - 1) * n.saturating_sub(at)).sum();
        let all = n.saturating_mul(n.saturating_sub(1)).saturating_mul(n.saturating_sub(2)) / 6;
        let (most, triples) = match all <= ALL * needed {
            true if fits(singles, &self.candidates, room) => (n, all),
            _ if self.n_wanted < LEAST_FORESEEN => (0, 0),
            _ => (n.min(AHEAD * self.n_wanted), needed),
        };
        let others = self.left(&[first]);
        let relevances: Vec<f64> = others.iter().map(|&k| singles.relevances[k]).collect();
        let ranked = fewest_core::rank(&relevances, true).into_iter().map(|at| others[at]);
        let mut best: Vec<usize> = std::iter::once(first).chain(ranked).take(most).collect();
        let mut n_ahead = best.len().min(2);
        let (mut counted, mut bytes) = (0, 0);
        while n_ahead < best.len() {
            let next = best[n_ahead];
            for (at, &b) in best[..n_ahead].iter().enumerate() {
                bytes += best[..at].iter().map(|&a| bytes_of(singles, &[a, b, next])).sum::<usize>();
                counted += at;
            }
            if counted > triples || bytes > room {
                break;
            }
            n_ahead += 1;
        }
        best.truncate(n_ahead);
        best
    }

    /// The terms of all features with the last one and each `before`.
    fn with_pairs(&mut self, singles: &Singles, before: &[usize], last: usize) -> Result<Vec<f64>, Error> {
        let selected = [before, &[last]].concat();
        if selected.len() >= self.n_wanted {
            // As many as were foreseen where their number is not given.
            self.n_wanted = self.candidates.len().min(self.n_wanted + UNKNOWN_NUMBER);
        }
        let left = self.left(&selected);
        let wanted = triples_with(before, last, &left);
        let mut terms = vec![0.0; singles.alone.len()];
        if wanted.into_iter().all(|triple| self.triples.contain(triple)) {
            self.judge(singles, before, last, &left, &mut terms);
        } else {
            let parts = self.parts(singles, &left, before, last)?;
            let is_one = parts.len() == 1;
            for part in parts {
                if is_one {
                    self.count_ahead(singles, &selected)?;
                } else {
                    self.triples.retain(|_| false);
                    self.count(singles, triples_with(before, last, &part))?;
                }
                self.judge(singles, before, last, &part, &mut terms);
            }
        }
        match before {
            // What candidates are with the first feature alone decides on the second only.
            [_] => self.folds.clone_from(&terms),
            _ => self.folds.iter_mut().zip(&terms).for_each(|(fold, term)| *fold += term),
        }
        Ok(terms)
    }

    /// The terms of these candidates, whose triples are not asked for again: two of the three are selected.
    fn judge(
        &mut self,
        singles: &Singles,
        before: &[usize],
        last: usize,
        candidates: &[usize],
        terms: &mut [f64],
    ) {
        let triples = &self.triples;
        let term = |at: usize| triples.term(singles, candidates[at], before, last);
        for (&k, term) in candidates.iter().zip(fewest_parallel::map(candidates.len(), term)) {
            terms[k] = term;
        }
        for triple in triples_with(before, last, candidates) {
            self.triples.remove(triple);
        }
    }

    /// The candidates in parts whose triples with the selected features are counted in one pass each: one
    /// part, where there is memory.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where there is not even memory for one candidate.
    fn parts(
        &self,
        singles: &Singles,
        left: &[usize],
        before: &[usize],
        last: usize,
    ) -> Result<Vec<Vec<usize>>, Error> {
        let bytes = |&k: &usize| before.iter().map(|&j| bytes_of(singles, &[j, last, k])).sum();
        singles.check(left.iter().map(|k| ([last, *k], bytes(k))), self.context)?;
        Ok(in_parts(left.iter().copied(), bytes, self.bytes))
    }

    /// One pass: the triples of the last selected feature and of those that would follow it, with all, and of
    /// others that have become good, with those ahead.
    fn count_ahead(&mut self, singles: &Singles, selected: &[usize]) -> Result<(), Error> {
        let path = self.path(singles, selected);
        let mut wanted: Vec<[usize; 3]> = Vec::new();
        for at in selected.len()..=path.len() {
            if let Some((&last, before)) = path[..at].split_last() {
                wanted.extend(triples_with(before, last, &self.left(&path[..at])));
            }
        }
        let is_wanted: HashSet<[usize; 3]> = wanted.iter().map(|triple| sorted(*triple)).collect();
        self.triples.retain(|triple| is_wanted.contains(triple));
        let bytes: usize = wanted.iter().map(|triple| bytes_of(singles, triple)).sum();
        let joining = self.join(singles, selected, &is_wanted, self.bytes.saturating_sub(bytes));
        wanted.retain(|triple| !self.triples.contain(*triple));
        wanted.extend(joining);
        self.count(singles, wanted)
    }

    /// One pass: these triples.
    fn count(&mut self, singles: &Singles, wanted: Vec<[usize; 3]>) -> Result<(), Error> {
        let tables = singles.levels.joint(&wanted, self.stream, self.context)?;
        for (triple, table) in wanted.into_iter().zip(tables) {
            self.keep(singles, triple, table);
        }
        Ok(())
    }

    fn keep(&mut self, singles: &Singles, triple: [usize; 3], table: JointTable) {
        if triple.iter().all(|j| self.ahead.contains(j)) {
            self.information.insert(sorted(triple), singles.samples.jointly(table.sums([0, 1, 2])));
        }
        self.triples.insert(triple, table);
    }

    /// The selected features, and those that would follow by what is known: as many as one pass takes.
    fn path(&self, singles: &Singles, selected: &[usize]) -> Vec<usize> {
        let mut path = selected.to_vec();
        let mut bytes = self.bytes_with(singles, &path);
        let mut left: Vec<usize> = self.ahead.iter().copied().filter(|k| !selected.contains(k)).collect();
        left.sort_unstable();
        let with = |k: usize, path: &[usize]| -> f64 {
            let Some((&last, before)) = path.split_last() else { return 0.0 };
            before.iter().filter_map(|&j| self.information.get(&sorted([k, j, last]))).sum()
        };
        let own = |&k: &usize| if selected.len() > 2 { self.folds[k] } else { 0.0 };
        let mut folds: Vec<f64> = left.iter().map(|k| own(k) + with(*k, selected)).collect();
        // The last one needs no terms.
        while path.len() + 1 < self.n_wanted {
            let Some(&at) = fewest_core::rank(&folds, true).first() else { break };
            path.push(left.remove(at));
            folds.remove(at);
            bytes += self.bytes_with(singles, &path);
            if bytes > self.bytes {
                path.pop();
                break;
            }
            folds.iter_mut().zip(&left).for_each(|(fold, &k)| *fold += with(k, &path));
        }
        path
    }

    /// Bytes of the triples of all candidates with the last of the `selected` and each one before.
    fn bytes_with(&self, singles: &Singles, selected: &[usize]) -> usize {
        let Some((&last, before)) = selected.split_last() else { return 0 };
        let left = self.left(selected);
        let of_pair = |&j: &usize| left.iter().map(|&k| bytes_of(singles, &[j, last, k])).sum::<usize>();
        before.iter().map(of_pair).sum()
    }

    /// Adds the last selected feature and the best candidates to those ahead: their triples with these, no
    /// more than are `wanted`, nor than there is `room` for.
    fn join(
        &mut self,
        singles: &Singles,
        selected: &[usize],
        wanted: &HashSet<[usize; 3]>,
        mut room: usize,
    ) -> Vec<[usize; 3]> {
        let left = self.left(selected);
        let folds: Vec<f64> = left.iter().map(|&k| self.folds[k]).collect();
        let best = fewest_core::rank(&folds, true).into_iter().take(self.ahead.len()).map(|at| left[at]);
        let mut joining = Vec::new();
        for next in selected.last().copied().into_iter().chain(best) {
            if self.ahead.is_empty() || self.ahead.contains(&next) {
                continue;
            }
            let pairs = self
                .ahead
                .iter()
                .enumerate()
                .flat_map(|(at, &a)| self.ahead[at + 1..].iter().map(move |&b| [next, a, b]));
            let is_asked_for = |triple: &[usize; 3]| {
                triple.iter().filter(|j| selected.contains(j)).count() < 2
                    && !wanted.contains(&sorted(*triple))
            };
            let own: Vec<[usize; 3]> = pairs.filter(is_asked_for).collect();
            let bytes: usize = own.iter().map(|triple| bytes_of(singles, triple)).sum();
            if joining.len() + own.len() > wanted.len() || bytes > room {
                break;
            }
            room -= bytes;
            joining.extend(own);
            self.ahead.push(next);
        }
        joining
    }

    /// The candidates that are not selected.
    fn left(&self, selected: &[usize]) -> Vec<usize> {
        self.candidates.iter().copied().filter(|k| !selected.contains(k)).collect()
    }
}

/// Bytes of the counts of these features at most, and of what is kept beside them.
fn bytes_of(singles: &Singles, features: &[usize]) -> usize {
    singles.levels.bytes(features).saturating_add(BESIDE)
}

/// Whether the tables of all triples of these features take no more than `room`.
fn fits(singles: &Singles, features: &[usize], room: usize) -> bool {
    let mut left = Some(room);
    // There may be very many: none is looked at once they are too many.
    triples_of(features).all(|triple| {
        left = left.and_then(|left| left.checked_sub(bytes_of(singles, &triple)));
        left.is_some()
    })
}

/// All triples of these features, those with the same first two together.
fn triples_of(features: &[usize]) -> impl Iterator<Item = [usize; 3]> {
    features.iter().enumerate().flat_map(move |(at, &a)| {
        let later = &features[at + 1..];
        later.iter().enumerate().flat_map(move |(at, &b)| later[at + 1..].iter().map(move |&c| [a, b, c]))
    })
}

/// Those of the last selected feature, each one before and each candidate.
fn triples_with(before: &[usize], last: usize, candidates: &[usize]) -> Vec<[usize; 3]> {
    before.iter().flat_map(|&j| candidates.iter().map(move |&k| [j, last, k])).collect()
}
