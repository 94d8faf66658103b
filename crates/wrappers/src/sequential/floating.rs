//! Search that takes steps back.

use fewest_core::{Context, Error, Status, order};

use super::judge::{Judge, better, without};
use super::{Direction, Found};

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

    fn score(&self, size: usize) -> f64 {
        self.0.get(size).and_then(Option::as_ref).map_or(f64::NEG_INFINITY, |(_, score)| *score)
    }
}

/// Floating search. It ends: every step back makes the best set of some size strictly better.
pub(super) fn search(
    judge: &Judge<'_>,
    direction: Direction,
    wanted: Option<usize>,
    context: &Context<'_>,
) -> Result<Found, Error> {
    let d = judge.varying.len();
    let mut best = Best(vec![None; d + 1]);
    let steps = match direction {
        Direction::Forward => forward(judge, wanted.unwrap_or(d), &mut best, context),
        Direction::Backward => backward(judge, wanted.unwrap_or(1), &mut best, context),
    };
    let mut status = Status::Converged;
    match steps {
        Ok(()) => {}
        Err(Error::Stopped { .. })
            if direction == Direction::Forward && best.0.iter().any(Option::is_some) =>
        {
            status = context.stopped().unwrap_or(Status::TimeLimit);
        }
        Err(error) => return Err(error),
    }
    let chosen = match wanted {
        // A search that was stopped has no set of that size yet.
        Some(k) => (1..=k).rev().find_map(|size| best.0[size].clone()),
        None => best.0.iter().flatten().cloned().reduce(|a, b| if better(b.1, a.1) { b } else { a }),
    };
    let (set, score) = chosen.ok_or(Error::Stopped { before: "a set of features was found" })?;
    let unfinished = status != Status::Converged;
    // When stopped, there is no time to compute the gain of each feature.
    let (order, scores) =
        if unfinished { (set.clone(), vec![score; set.len()]) } else { by_loss(judge, set, score, context)? };
    Ok(Found { order, scores, objective: Some(score), status })
}

fn forward(judge: &Judge<'_>, most: usize, best: &mut Best, context: &Context<'_>) -> Result<(), Error> {
    let mut inside: Vec<usize> = Vec::new();
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
            let (j, score) = judge.best_removal(&inside, context)?;
            if !better(score, best.score(inside.len() - 1)) {
                break;
            }
            inside = without(&inside, j);
            best.improves(&inside, score);
        }
        context.report("floating forward search", inside.len(), most);
    }
    Ok(())
}

fn backward(judge: &Judge<'_>, least: usize, best: &mut Best, context: &Context<'_>) -> Result<(), Error> {
    let d = judge.varying.len();
    let mut inside = judge.varying.clone();
    let score = judge.scores(&[inside.clone()], context)?.first().copied().unwrap_or(f64::NAN);
    best.improves(&inside, score);
    while inside.len() > least {
        let (gone, score) = judge.best_removal(&inside, context)?;
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
        context.report("floating backward search", d - inside.len(), d - least);
    }
    Ok(())
}

/// The features of a set ordered by how much its score decreases without each.
fn by_loss(
    judge: &Judge<'_>,
    mut set: Vec<usize>,
    score: f64,
    context: &Context<'_>,
) -> Result<(Vec<usize>, Vec<f64>), Error> {
    order::sort_indices(&mut set);
    if set.len() < 2 {
        return Ok((set, vec![score]));
    }
    let sets: Vec<Vec<usize>> = set.iter().map(|&j| without(&set, j)).collect();
    let losses: Vec<f64> = judge.scores(&sets, context)?.into_iter().map(|other| score - other).collect();
    let order = fewest_core::rank(&losses, true);
    Ok(order.iter().map(|&at| (set[at], losses[at])).unzip())
}
