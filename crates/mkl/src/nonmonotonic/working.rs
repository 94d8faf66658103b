//! The min-max over all units, by small ones.

use fewest_core::{Context, Error, Status, order};

use super::interior::{Capacity, Saddle, Stop, solve};
use super::machines::{Machines, knapsack};
use super::units::Units;

/// Units that the first working set has at least.
const SMALLEST: usize = 96;

/// Up to so many units there is one working set, of all.
const ALL_AT_ONCE: usize = 300;

/// Share of the multiplier at which a unit joins.
const NEARLY: f64 = 0.8;

/// Relative gap of the first working set.
const FIRST_TOLERANCE: f64 = 3e-2;

/// Solves over a working set, looks at all units, adds those that are worth more than the budget's
/// multiplier, and so on: with weights of 0 outside the working set its primal value is one of all units, and
/// the dual value at `β` takes all of them into account, so the gap between the two certifies.
pub(super) fn relax(
    machines: &Machines,
    units: &Units<'_>,
    limit: f64,
    tolerance: f64,
    context: &Context<'_>,
) -> Result<Saddle, Error> {
    let feature_costs = units.feature_costs();
    let all: Vec<usize> = (0..units.len()).collect();
    if feature_costs.iter().sum::<f64>() <= limit {
        let factors = units.factors(&all)?;
        let stop = Stop { tolerance, enough: f64::INFINITY, context };
        let machines_alone = solve(machines, &factors, &Capacity::All, &stop)?;
        return Ok(Saddle { multiplier: 0.0, ..machines_alone });
    }
    let mut working = first(machines, units, &feature_costs, limit)?;
    let mut dropped = vec![false; units.len()];
    let mut inner = if working.len() == units.len() { tolerance } else { FIRST_TOLERANCE.max(tolerance) };
    let mut steps = 0;
    let mut best: Option<Saddle> = None;
    loop {
        let factors = units.factors(&working)?;
        let own: Vec<f64> = working.iter().map(|&u| feature_costs[u]).collect();
        let stop = Stop { tolerance: inner, enough: f64::INFINITY, context };
        let saddle = solve(machines, &factors, &Capacity::Limited { feature_costs: &own, limit }, &stop)?;
        steps += saddle.steps;
        let (own_gap, own_status, multiplier) = (saddle.gap, saddle.status, saddle.multiplier);
        let found = over_all(machines, units, &feature_costs, limit, &working, saddle)?;
        let absolute = found.relative_gap() * found.objective.abs();
        context.report("relaxation", working.len(), units.len());
        let ended = match own_status {
            _ if found.relative_gap() <= tolerance => Some(Status::Converged),
            Status::Converged => None,
            Status::Interrupted | Status::TimeLimit => Some(own_status),
            _ => match Status::by_certificate(found.relative_gap(), tolerance) {
                Status::Stalled => Some(own_status),
                close => Some(close),
            },
        };
        let joined = match ended {
            None => grow(&found, &feature_costs, multiplier, &mut working, &mut dropped),
            Some(_) => 0,
        };
        if best.as_ref().is_none_or(|best| found.relative_gap() < best.relative_gap()) {
            best = Some(found);
        }
        let exhausted = joined == 0 && inner <= 0.1 * tolerance;
        if let Some(best) = best.as_mut().filter(|_| ended.is_some() || exhausted) {
            best.steps = steps;
            best.status = ended.unwrap_or(Status::AlmostConverged);
            break;
        }
        // Nothing to add, or what is missing is mostly inside: more digits there.
        if joined == 0 || own_gap > 0.5 * absolute {
            inner = if inner > tolerance { tolerance } else { 0.1 * inner };
        }
    }
    best.ok_or(Error::Stopped { before: "a relaxation was solved" })
}

/// The first working set: the units whose kernels agree most with the targets, several times as many as the
/// limit pays for.
fn first(
    machines: &Machines,
    units: &Units<'_>,
    feature_costs: &[f64],
    limit: f64,
) -> Result<Vec<usize>, Error> {
    let mut centred = machines.targets.clone();
    for (k, centred) in centred.chunks_exact_mut(machines.n).enumerate() {
        let upper = &machines.upper[k * machines.n..(k + 1) * machines.n];
        let lower = &machines.lower[k * machines.n..(k + 1) * machines.n];
        let weight = |i: usize| upper[i].max(-lower[i]);
        let total: f64 = (0..machines.n).map(weight).sum();
        let mean = (0..machines.n).map(|i| weight(i) * centred[i]).sum::<f64>() / total;
        centred.iter_mut().enumerate().for_each(|(i, value)| *value = weight(i) * (*value - mean));
    }
    let agreement = units.squares(&centred)?;
    let gains: Vec<f64> = agreement.iter().zip(feature_costs).map(|(value, cost)| value / cost).collect();
    let mut order = order::descending(&gains);
    let mut spent = 0.0;
    let bought = order
        .iter()
        .take_while(|&&u| {
            spent += feature_costs[u];
            spent <= limit
        })
        .count();
    let wanted = (2 * bought).max(SMALLEST);
    // The last few do not justify a second round.
    let all_at_once = feature_costs.len() <= (3 * wanted / 2).max(ALL_AT_ONCE);
    order.truncate(if all_at_once { feature_costs.len() } else { wanted });
    order::sort_indices(&mut order);
    Ok(order)
}

/// Adds the units worth more than the multiplier, the best first, at most as many as there are, and drops,
/// once, those that are worth far less. How many joined.
fn grow(
    found: &Saddle,
    feature_costs: &[f64],
    multiplier: f64,
    working: &mut Vec<usize>,
    dropped: &mut [bool],
) -> usize {
    let mut inside = vec![false; feature_costs.len()];
    working.iter().for_each(|&u| inside[u] = true);
    let inside = &inside;
    let gain = |u: usize| found.squares[u] / feature_costs[u];
    let outside = |least: f64| (0..feature_costs.len()).filter(move |&u| !inside[u] && gain(u) > least);
    if outside(multiplier).next().is_none() {
        return 0;
    }
    // Those that are nearly worth it come along: they may be at the next multiplier.
    let mut joining: Vec<(f64, usize)> = outside(NEARLY * multiplier).map(|u| (gain(u), u)).collect();
    order::largest_first(&mut joining);
    joining.truncate(working.len());
    working.retain(|&u| {
        let leaves = !dropped[u] && found.weights[u] < 1e-2 && gain(u) < 0.3 * multiplier;
        dropped[u] |= leaves;
        !leaves
    });
    let joined = joining.len();
    working.extend(joining.into_iter().map(|(_, u)| u));
    order::sort_indices(working);
    joined
}

/// What a saddle point over the units `working` is among all.
fn over_all(
    machines: &Machines,
    units: &Units<'_>,
    feature_costs: &[f64],
    limit: f64,
    working: &[usize],
    saddle: Saddle,
) -> Result<Saddle, Error> {
    let squares = units.squares(&saddle.beta)?;
    let (most, _) = knapsack(&squares, feature_costs, limit);
    let objective = machines.gain(&saddle.beta) - most;
    let gap = saddle.gap + (saddle.objective - objective).max(0.0);
    let mut weights = vec![0.0; units.len()];
    working.iter().zip(&saddle.weights).for_each(|(&u, &weight)| weights[u] = weight);
    Ok(Saddle { weights, squares, objective, gap, ..saddle })
}
