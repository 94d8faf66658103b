//! Search that takes steps back.

use fewest_core::{Context, Error, Forecast, Status, order};

use super::judge::{First, Judge, best as best_of, better, without};
use super::{Found, additions, left_note, ranked, removals_to};
use crate::stop::{UNJUDGED, how_stopped};

/// The best set met of each size, with its score.
struct Best(Vec<Option<(Vec<usize>, f64)>>);

impl Best {
    /// Whether a set is better than any of its size before; it is then kept.
    fn improves(&mut self, set: &[usize], score: f64) -> bool {
        let place = &mut self.0[set.len()];
        let is_better = place.as_ref().is_none_or(|(_, best)| better(score, *best));
        if is_better {
            *place = Some((set.to_vec(), score));
        }
        is_better
    }

    /// The best of all sizes, of equal ones the smallest.
    fn overall(&self) -> Option<(Vec<usize>, f64)> {
        self.0.iter().flatten().cloned().reduce(|a, b| if better(b.1, a.1) { b } else { a })
    }

    fn score(&self, size: usize) -> f64 {
        self.0.get(size).and_then(Option::as_ref).map_or(f64::NEG_INFINITY, |(_, score)| *score)
    }
}

/// Floating forward search. It ends: every step back makes the best set of some size strictly better.
pub(super) fn forward(
    judge: &Judge<'_>,
    wanted: Option<usize>,
    context: &Context<'_>,
) -> Result<Found, Error> {
    let most = wanted.unwrap_or(judge.varying.len());
    let mut progress = Forecast::start("floating forward search", additions(judge.varying.len(), most));
    let mut best = Best(vec![None; judge.varying.len() + 1]);
    let (j, score) = match judge.first_addition(context)? {
        First::Best(j, score) => (j, score),
        First::Stopped(scored) => return Found::of_single_features(judge, scored, wanted, context),
    };
    best.improves(&[j], score);
    progress.report(1, most, context);
    let status = match steps_forward(judge, vec![j], most, &mut best, &mut progress, context) {
        Ok(()) => Status::Converged,
        Err(Error::Stopped { .. }) => how_stopped(context),
        Err(error) => return Err(error),
    };
    let chosen = match wanted {
        // A search that was stopped has no set of that size yet.
        Some(k) => (1..=k).rev().find_map(|size| best.0[size].clone()),
        None => best.overall(),
    };
    let (set, score) = chosen.ok_or(Error::Stopped { before: "a set of features was found" })?;
    if status.is_stopped() {
        // There is no time to compute the gain of each feature.
        let scores = vec![score; set.len()];
        return Ok(Found { status, ..Found::new(set, scores, Some(score)) });
    }
    by_loss(judge, set, score, context)
}

fn steps_forward(
    judge: &Judge<'_>,
    mut inside: Vec<usize>,
    most: usize,
    best: &mut Best,
    progress: &mut Forecast,
    context: &Context<'_>,
) -> Result<(), Error> {
    while inside.len() < most {
        let outside: Vec<usize> = judge.varying.iter().copied().filter(|j| !inside.contains(j)).collect();
        let (added, score) = judge.best_addition(&inside, &outside, context)?;
        inside.push(added);
        if !best.improves(&inside, score) {
            // A better set of this size is known: go on from there.
            if let Some((set, _)) = &best.0[inside.len()] {
                inside.clone_from(set);
            }
        }
        while inside.len() > 2 {
            let (j, score) = best_of(judge.removals(&inside, context)?.into_iter());
            if !better(score, best.score(inside.len() - 1)) {
                break;
            }
            inside = without(&inside, j);
            best.improves(&inside, score);
        }
        progress.report(inside.len(), most, context);
    }
    Ok(())
}

/// Floating backward search. It ends as the other one does.
pub(super) fn backward(
    judge: &Judge<'_>,
    wanted: Option<usize>,
    context: &Context<'_>,
) -> Result<Found, Error> {
    let d = judge.varying.len();
    let least = wanted.unwrap_or(1);
    let mut best = Best(vec![None; d + 1]);
    let mut removals = Vec::new();
    let status = match steps_backward(judge, least, &mut best, &mut removals, context) {
        Ok(()) => Status::Converged,
        Err(Error::Stopped { .. }) if removals.is_empty() => {
            return Err(UNJUDGED);
        }
        Err(Error::Stopped { .. }) => how_stopped(context),
        Err(error) => return Err(error),
    };
    // Of a given size there is a set, unless the search was stopped.
    let smallest = best.0.iter().skip(least).flatten().next().cloned();
    let chosen = if wanted.is_some() || status.is_stopped() { smallest } else { best.overall() };
    let (set, score) = chosen.ok_or(Error::Stopped { before: "a set of features was found" })?;
    if status.is_stopped() {
        let mut order = ranked(&set, &removals);
        order.truncate(wanted.unwrap_or(order.len()));
        let objective = Some(score).filter(|_| order.len() == set.len());
        let (scores, notes) = (vec![score; order.len()], vec![left_note(set.len())]);
        return Ok(Found { status, notes, ..Found::new(order, scores, objective) });
    }
    by_loss(judge, set, score, context)
}

fn steps_backward(
    judge: &Judge<'_>,
    least: usize,
    best: &mut Best,
    removals: &mut Vec<(usize, f64)>,
    context: &Context<'_>,
) -> Result<(), Error> {
    let d = judge.varying.len();
    let mut progress = Forecast::start("floating backward search", removals_to(d, least));
    let mut inside = judge.varying.clone();
    best.improves(&inside, judge.score_of(&inside, context)?);
    while inside.len() > least {
        *removals = judge.removals(&inside, context)?;
        let (gone, score) = best_of(removals.iter().copied());
        inside = without(&inside, gone);
        if !best.improves(&inside, score)
            && let Some((set, _)) = &best.0[inside.len()]
        {
            inside.clone_from(set);
        }
        while inside.len() + 2 < d {
            let outside: Vec<usize> = judge.varying.iter().copied().filter(|j| !inside.contains(j)).collect();
            let (j, score) = judge.best_addition(&inside, &outside, context)?;
            if !better(score, best.score(inside.len() + 1)) {
                break;
            }
            inside.push(j);
            best.improves(&inside, score);
        }
        progress.report(d - inside.len(), d - least, context);
    }
    Ok(())
}

/// The features of a set ordered by how much its score decreases without each.
fn by_loss(
    judge: &Judge<'_>,
    mut set: Vec<usize>,
    score: f64,
    context: &Context<'_>,
) -> Result<Found, Error> {
    order::sort_indices(&mut set);
    if set.len() < 2 {
        return Ok(Found::new(set, vec![score], Some(score)));
    }
    let sets: Vec<Vec<usize>> = set.iter().map(|&j| without(&set, j)).collect();
    let losses: Vec<f64> = match judge.scores(&sets, context) {
        Ok(scores) => scores.into_iter().map(|other| score - other).collect(),
        Err(Error::Stopped { .. }) => {
            let scores = vec![score; set.len()];
            return Ok(Found { status: how_stopped(context), ..Found::new(set, scores, Some(score)) });
        }
        Err(error) => return Err(error),
    };
    let order = fewest_core::rank(&losses, true);
    let (order, losses) = order.iter().map(|&at| (set[at], losses[at])).unzip();
    Ok(Found::new(order, losses, Some(score)))
}
