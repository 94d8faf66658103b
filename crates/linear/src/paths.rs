//! The exact path of several outputs, from the path of each.

use fewest_core::{Error, Status, order};
use fewest_lars::{Breakpoint, Event, LassoPath, PathOptions};
use fewest_solver::{Control, InnerProducts};

/// Active atoms to which each path is followed first, at least.
const FIRST_ACTIVE: usize = 8;

/// A point of all paths.
pub(super) struct Point {
    pub lambda: f64,
    /// Output and atom that joined here.
    pub joined: Option<(usize, usize)>,
    /// By output, the coefficients that are not zero, by increasing atom.
    pub coefficients: Vec<Vec<(usize, f64)>>,
}

/// The paths of all outputs down to one penalty.
pub(super) struct Paths {
    /// By decreasing penalty; the last is the end.
    pub points: Vec<Point>,
    pub status: Status,
    /// Path steps, over all outputs.
    pub iterations: u64,
    /// Output and atom that depend linearly on active atoms.
    pub tied: Vec<(usize, usize)>,
    /// Output and atom that would join next, if that is what ended the paths.
    pub next: Option<(usize, usize)>,
}

/// Where all paths end.
struct End {
    lambda: f64,
    /// How many of the events come before.
    events: usize,
    /// Output and atom that would join next.
    next: Option<(usize, usize)>,
}

/// Follows the paths of `problems`, one an output, to the middle of the last segment before more than `k`
/// features would have a coefficient for the first time, or to a penalty of 0. `feature` says what an atom
/// belongs to.
///
/// The outputs share a penalty and nothing else: the l1 norm of all coefficients is a sum over outputs. So
/// each output has a path of its own, with an active set no larger than its number of samples, and the paths
/// are merged by their penalties.
pub(super) fn follow<P: InnerProducts>(
    problems: &[P],
    k: usize,
    feature: &(dyn Fn(usize) -> usize + Sync),
    control: &Control<'_>,
) -> Result<Paths, Error> {
    // Outputs are followed side by side, and progress is reported from one thread.
    let control = &Control { progress: None, ..*control };
    let mut most_active = (2 * k.div_ceil(problems.len().max(1))).max(FIRST_ACTIVE).min(k + 1);
    let mut paths: Vec<Option<LassoPath>> = vec![None; problems.len()];
    let mut iterations = 0;
    loop {
        let options = PathOptions { most_active, ..PathOptions::default() };
        let found = fewest_parallel::chunks(&mut paths, 1, |at, known| {
            match known.iter_mut().find_map(Option::take) {
                Some(known) => Ok(known),
                None => fewest_lars::path(&problems[at], &options, control),
            }
        });
        let found = found.into_iter().collect::<Result<Vec<LassoPath>, Error>>()?;
        let status = Status::worst(found.iter().map(|path| path.status));
        let events = events(&found);
        let end = end(&found, &events, k, feature);
        let stopped = matches!(status, Status::Interrupted | Status::TimeLimit | Status::MaxIterations);
        if let Some(end) = end.or_else(|| stopped.then(|| known(&found, &events))) {
            iterations += found.iter().map(|path| path.iterations).sum::<u64>();
            return Ok(Paths {
                points: points(&found, &events[..end.events], end.lambda),
                status,
                iterations,
                tied: tied(&found, &events[..end.events]),
                next: end.next,
            });
        }
        // Paths that have come to their end are kept; the others start again, and go further.
        most_active *= 2;
        paths = found
            .into_iter()
            .map(|path| {
                let done = lowest(&path) <= 0.0;
                iterations += if done { 0 } else { path.iterations };
                done.then_some(path)
            })
            .collect();
    }
}

/// The penalty down to which a path is known.
fn lowest(path: &LassoPath) -> f64 {
    path.breakpoints.last().map_or(f64::INFINITY, |point| point.lambda)
}

/// Output and breakpoint of every join and leave, by decreasing penalty.
fn events(paths: &[LassoPath]) -> Vec<(usize, &Breakpoint)> {
    let happens = |point: &&Breakpoint| point.event != Event::End;
    let events: Vec<(usize, &Breakpoint)> = paths
        .iter()
        .enumerate()
        .flat_map(|(output, path)| path.breakpoints.iter().filter(happens).map(move |point| (output, point)))
        .collect();
    let lambdas: Vec<f64> = events.iter().map(|(_, point)| point.lambda).collect();
    // The order of an output's own events is kept.
    order::descending(&lambdas).into_iter().map(|at| events[at]).collect()
}

/// Where more than `k` features would be active next, if the paths are known that far.
fn end(
    paths: &[LassoPath],
    events: &[(usize, &Breakpoint)],
    k: usize,
    feature: &dyn Fn(usize) -> usize,
) -> Option<End> {
    let known = known(paths, events);
    let mut active = std::collections::BTreeMap::<usize, usize>::new();
    let mut before = f64::INFINITY;
    for (at, (output, point)) in events[..known.events].iter().enumerate() {
        match point.event {
            Event::Joined(atom) => {
                let feature = feature(atom);
                if active.len() == k && !active.contains_key(&feature) {
                    // In the middle of a segment exactly its coefficients are above zero.
                    let lambda = 0.5 * (before + point.lambda);
                    return Some(End { lambda, events: at, next: Some((*output, atom)) });
                }
                *active.entry(feature).or_insert(0) += 1;
            }
            Event::Left(atom) => {
                let feature = feature(atom);
                let count = active.entry(feature).or_insert(1);
                *count -= 1;
                if *count == 0 {
                    active.remove(&feature);
                }
            }
            Event::End => {}
        }
        before = point.lambda;
    }
    (known.lambda <= 0.0).then_some(known)
}

/// The penalty down to which all paths are known.
fn known(paths: &[LassoPath], events: &[(usize, &Breakpoint)]) -> End {
    let lambda = paths.iter().map(lowest).fold(0.0, f64::max);
    End { lambda, events: events.partition_point(|(_, point)| point.lambda >= lambda), next: None }
}

fn points(paths: &[LassoPath], events: &[(usize, &Breakpoint)], end: f64) -> Vec<Point> {
    if end.is_infinite() {
        return Vec::new();
    }
    let at = |lambda: f64, joined| Point {
        lambda,
        joined,
        coefficients: paths.iter().map(|path| coefficients(&path.breakpoints, lambda)).collect(),
    };
    let mut points: Vec<Point> = events
        .iter()
        .map(|&(output, point)| match point.event {
            Event::Joined(atom) => at(point.lambda, Some((output, atom))),
            _ => at(point.lambda, None),
        })
        .collect();
    points.push(at(end, None));
    points
}

/// The coefficients of one path at `lambda`: linear between its breakpoints.
fn coefficients(breakpoints: &[Breakpoint], lambda: f64) -> Vec<(usize, f64)> {
    let next = breakpoints.partition_point(|point| point.lambda >= lambda);
    let Some(above) = next.checked_sub(1).map(|above| &breakpoints[above]) else { return Vec::new() };
    let Some(below) = breakpoints.get(next).filter(|_| above.lambda > lambda) else {
        return above.coefficients.clone();
    };
    let share = (above.lambda - lambda) / (above.lambda - below.lambda);
    let mut left = above.coefficients.iter().peekable();
    let mut right = below.coefficients.iter().peekable();
    let mut merged = Vec::with_capacity(above.coefficients.len() + 1);
    loop {
        let atom = match (left.peek(), right.peek()) {
            (Some((a, _)), Some((b, _))) => *a.min(b),
            (Some((a, _)), None) => *a,
            (None, Some((b, _))) => *b,
            (None, None) => break,
        };
        let from = left.next_if(|(a, _)| *a == atom).map_or(0.0, |(_, value)| *value);
        let to = right.next_if(|(b, _)| *b == atom).map_or(0.0, |(_, value)| *value);
        merged.push((atom, from + share * (to - from)));
    }
    merged
}

/// The tied atoms that depend on atoms which have joined before the end.
fn tied(paths: &[LassoPath], events: &[(usize, &Breakpoint)]) -> Vec<(usize, usize)> {
    let has_joined = |output: usize, atom: &usize| {
        events.iter().any(|(other, point)| *other == output && point.event == Event::Joined(*atom))
    };
    let mut tied = Vec::new();
    for (output, path) in paths.iter().enumerate() {
        for (atom, on) in &path.tied {
            if on.iter().all(|other| has_joined(output, other)) {
                tied.push((output, *atom));
            }
        }
    }
    tied
}
