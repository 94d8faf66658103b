//! Forward selection: the best candidate is taken, and again, each time judged by what is selected already.

use fewest_core::{Budget, Context, Error, Selection, Status};

/// Candidates within this of the best tie, relative to it where it is above 1: the lowest index wins.
pub(crate) const TIE: f64 = 1e-11;

/// Candidates tried first in a step, those with the highest bounds: the best of them rules out most others.
const FIRST: usize = 64;

/// Candidates tried before the bounds of the others are looked at again.
const BATCH: usize = 1024;

/// A criterion that is a fold over the selected features.
pub(crate) trait Criterion: Sync {
    /// What is kept of a selected feature (or pair).
    type Partner: Sync;
    /// Working memory of a thread.
    type Scratch: Default + Send;

    /// The criterion before anything is selected.
    fn relevance(&self, k: usize) -> f64;

    /// Whether folds start anew when `n_selected` features are selected.
    fn restarts(&self, _n_selected: usize) -> bool {
        false
    }

    /// The fold over nothing.
    fn start(&self, k: usize) -> f64;

    /// What the last of the `selected` features adds to the fold.
    fn partners(&self, selected: &[usize]) -> Result<Vec<Self::Partner>, Error>;

    /// The fold of candidate `k` with more `partners`.
    fn fold(
        &self,
        k: usize,
        fold: f64,
        partners: &[Self::Partner],
        scratch: &mut Self::Scratch,
    ) -> Result<f64, Error>;

    /// The criterion from the fold, with `n_selected >= 1` features selected.
    fn value(&self, k: usize, fold: f64, n_selected: usize) -> f64;

    /// Candidates that one task completes: those of little work are not worth a task each.
    fn candidates_per_task(&self) -> usize {
        1
    }

    /// Whether [`Criterion::value`] of a fold over some partners is never below that over all of them. Then
    /// most candidates are ruled out by old folds (as in Fleuret 2004), and the answer is the same.
    fn folds_bound(&self) -> bool;
}

/// Why a step was not completed.
enum Halt {
    Stopped(Status),
    Failed(Error),
}

/// What one run carries along.
struct Run<'a, C: Criterion> {
    criterion: &'a C,
    candidates: Vec<Candidate>,
    /// The partners of all steps, or of the last one where bounds are of no use.
    partners: Vec<C::Partner>,
    selected: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Candidate {
    feature: usize,
    fold: f64,
    /// Partners in the fold.
    done: usize,
    /// The criterion, or a bound on it if partners are missing from the fold.
    value: f64,
}

/// Selects among `candidates`, by increasing index, of `n_features`. `Budget::Auto` stops when no candidate
/// has a criterion above 0.
pub(crate) fn forward<C: Criterion>(
    criterion: &C,
    candidates: Vec<usize>,
    n_features: usize,
    budget: Budget,
    context: &Context<'_>,
) -> Result<Selection, Error> {
    let wanted = match budget {
        Budget::Count(k) => k.min(candidates.len()),
        _ => candidates.len(),
    };
    let mut run = Run {
        criterion,
        candidates: candidates
            .into_iter()
            .map(|feature| {
                let (fold, value) = (criterion.start(feature), criterion.relevance(feature));
                Candidate { feature, fold, done: 0, value }
            })
            .collect(),
        partners: Vec::new(),
        selected: Vec::new(),
    };
    let mut scores = Vec::new();
    let mut status = Status::Converged;
    while run.selected.len() < wanted {
        match run.bring_up_to_date(context) {
            Ok(()) => {}
            Err(Halt::Stopped(stopped)) => {
                status = stopped;
                break;
            }
            Err(Halt::Failed(error)) => return Err(error),
        }
        let Some((position, value)) = run.best() else { break };
        let good_enough = match budget {
            Budget::Threshold(threshold) => value >= threshold,
            Budget::Auto => value > TIE,
            _ => true,
        };
        if !good_enough {
            break;
        }
        scores.push(value);
        run.take(position);
        context.report("selection", run.selected.len(), wanted);
        if run.selected.len() == wanted {
            break;
        }
        match (run.add_partners(), context.stopped()) {
            (Ok(()), _) => {}
            (Err(Error::Stopped { .. }), Some(stopped)) => {
                status = stopped;
                break;
            }
            (Err(error), _) => return Err(error),
        }
    }
    if run.selected.is_empty() && status != Status::Converged {
        return Err(Error::Stopped { before: "the first feature was selected" });
    }
    Ok(Selection::new(run.selected, scores, n_features, status))
}

impl<C: Criterion> Run<'_, C> {
    /// The candidate to take: the best, and of those that tie with it the one of lowest index.
    fn best(&self) -> Option<(usize, f64)> {
        let best =
            self.candidates.iter().fold(f64::NEG_INFINITY, |best, candidate| best.max(candidate.value));
        let least = tied(best);
        let position = self.candidates.iter().position(|candidate| candidate.value >= least)?;
        Some((position, self.candidates[position].value))
    }

    fn take(&mut self, position: usize) {
        let taken = self.candidates.remove(position);
        self.selected.push(taken.feature);
    }

    /// Has the others judged by the feature that was taken last, too.
    fn add_partners(&mut self) -> Result<(), Error> {
        let n_selected = self.selected.len();
        if !self.criterion.folds_bound() {
            // Every candidate has folded all of them.
            self.partners.clear();
            self.candidates.iter_mut().for_each(|candidate| candidate.done = 0);
        }
        if self.criterion.restarts(n_selected) {
            self.partners.clear();
            for candidate in &mut self.candidates {
                (candidate.fold, candidate.done) = (self.criterion.start(candidate.feature), 0);
            }
        }
        self.partners.extend(self.criterion.partners(&self.selected)?);
        for candidate in &mut self.candidates {
            candidate.value = if self.criterion.folds_bound() {
                self.criterion.value(candidate.feature, candidate.fold, n_selected)
            } else {
                f64::INFINITY
            };
        }
        Ok(())
    }

    /// Completes the folds of all candidates that may be the best; the bounds of all others are below the
    /// best, ties included.
    fn bring_up_to_date(&mut self, context: &Context<'_>) -> Result<(), Halt> {
        let n_partners = self.partners.len();
        let pending: Vec<usize> =
            (0..self.candidates.len()).filter(|&at| self.candidates[at].done < n_partners).collect();
        let mut best = self
            .candidates
            .iter()
            .filter(|candidate| candidate.done == n_partners)
            .fold(f64::NEG_INFINITY, |best, candidate| best.max(candidate.value));
        if self.criterion.folds_bound() && pending.len() > FIRST {
            let mut first = pending.clone();
            first.select_nth_unstable_by(FIRST - 1, |&a, &b| {
                self.candidates[b].value.total_cmp(&self.candidates[a].value).then(a.cmp(&b))
            });
            first.truncate(FIRST);
            best = best.max(self.complete(&first, context)?);
        }
        for batch in pending.chunks(BATCH) {
            let least = tied(best);
            let may_win: Vec<usize> = batch
                .iter()
                .copied()
                .filter(|&at| self.candidates[at].done < n_partners && self.candidates[at].value >= least)
                .collect();
            best = best.max(self.complete(&may_win, context)?);
        }
        Ok(())
    }

    /// Completes the folds of the candidates at these positions; the largest criterion among them.
    fn complete(&mut self, positions: &[usize], context: &Context<'_>) -> Result<f64, Halt> {
        if let Some(status) = context.stopped() {
            return Err(Halt::Stopped(status));
        }
        let (criterion, partners) = (self.criterion, &self.partners);
        let n_selected = self.selected.len();
        let mut completed: Vec<Candidate> = positions.iter().map(|&at| self.candidates[at]).collect();
        let tasks =
            fewest_parallel::chunks(&mut completed, criterion.candidates_per_task(), |_, candidates| {
                let mut scratch = C::Scratch::default();
                candidates.iter_mut().try_for_each(|candidate| {
                    let Candidate { feature, fold, done, .. } = *candidate;
                    candidate.fold = criterion.fold(feature, fold, &partners[done..], &mut scratch)?;
                    candidate.done = partners.len();
                    let value = criterion.value(feature, candidate.fold, n_selected);
                    // A criterion that cannot be computed never wins.
                    candidate.value = if value.is_nan() { f64::NEG_INFINITY } else { value };
                    Ok(())
                })
            });
        tasks.into_iter().collect::<Result<(), Error>>().map_err(Halt::Failed)?;
        let mut best = f64::NEG_INFINITY;
        for (&at, candidate) in positions.iter().zip(completed) {
            best = best.max(candidate.value);
            self.candidates[at] = candidate;
        }
        Ok(best)
    }
}

/// [`Criterion::candidates_per_task`] where a fold takes some nanoseconds a sample.
pub(crate) fn few_microseconds(n_samples: usize) -> usize {
    (8192 / n_samples.max(1)).clamp(1, 64)
}

/// The least value that ties with `best`.
fn tied(best: f64) -> f64 {
    if best.is_finite() { best - TIE * best.abs().max(1.0) } else { best }
}

/// Why there are no more features where every one is a candidate.
pub(super) const NO_OTHERS: &str = "no other feature can be selected";

/// Adds to the notes how many features could not be selected, and that fewer than asked for were, with the
/// reason `no_others`.
pub(super) fn add_notes(selection: &mut Selection, budget: Budget, n_constant: usize, no_others: &str) {
    if n_constant > 0 {
        let plural = if n_constant == 1 { "feature has" } else { "features have" };
        selection.notes.push(format!("{n_constant} {plural} one level only and cannot be selected"));
    }
    selection.note_missing_features(budget, no_others);
}
