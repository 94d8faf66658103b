//! What a selection reports on top of the features.

use std::collections::BTreeSet;

use fewest_core::method::Regularization;
use fewest_core::{Budget, Context, Dataset, Error, Related, Selection, Similarity, order};
use fewest_solver::InnerProducts;

use super::options::LassoOptions;
use super::solve::Fit;

/// Selected features whose bounds with all others are held at a time.
const SELECTED_AT_ONCE: usize = 64;

/// How many products too many may be computed in one request rather than in many.
const JOINT: usize = 4;

/// Rounding allowed to bounds of relatedness.
const ROUNDING: f64 = 1e-9;

/// Repeated features named in a note.
const MOST_NAMED: usize = 5;

/// Adds the solver's report, the path, relatedness and notes to `selection`.
pub(super) fn complete(
    selection: &mut Selection,
    data: &Dataset,
    atoms: &dyn InnerProducts,
    fit: Fit,
    budget: Budget,
    options: &LassoOptions,
    context: &Context<'_>,
) -> Result<(), Error> {
    notes(selection, data, atoms, &fit, budget, options)?;
    selection.solver = fit.report;
    selection.path = fit.path;
    selection.similarity = Some(similarity(atoms, &selection.order)?);
    if options.related > 0 {
        selection.related = related(atoms, &selection.order, options.related, context)?;
        if selection.related.len() < selection.order.len() {
            let note = format!(
                "stopped when the related features of {} of {} features were known",
                selection.related.len(),
                selection.order.len()
            );
            selection.notes.push(note);
            selection.related.resize(selection.order.len(), Vec::new());
        }
    }
    Ok(())
}

fn notes(
    selection: &mut Selection,
    data: &Dataset,
    atoms: &dyn InnerProducts,
    fit: &Fit,
    budget: Budget,
    options: &LassoOptions,
) -> Result<(), Error> {
    let constant = atoms.squared_norms().iter().filter(|&&norm| norm == 0.0).count();
    selection.note_constant_features(constant);
    let no_others = match options.regularization {
        Regularization::Value(_) => "a smaller `lambda` gives more features a coefficient",
        Regularization::Ratio(_) => "a smaller `lambda_ratio` gives more features a coefficient",
        _ => "no other feature explains more of the target at any penalty",
    };
    selection.note_missing_features(budget, no_others);
    for (j, on) in fit.tied.iter().take(MOST_NAMED) {
        // The likeliest twin among those it depends on.
        let norms = atoms.squared_norms();
        let mut products = vec![0.0; on.len()];
        atoms.products(on, &[*j], &mut products)?;
        let alike = |(&i, product): (&usize, &f64)| (product / (norms[i] * norms[*j]).sqrt(), i);
        let twin = on.iter().zip(&products).map(alike).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, twin)) = twin {
            let (left_out, kept) = (data.feature_name(*j), data.feature_name(twin));
            selection.notes.push(format!("`{left_out}` was left out: it repeats `{kept}`"));
        }
    }
    if fit.tied.len() > MOST_NAMED {
        let others = fit.tied.len() - MOST_NAMED;
        selection
            .notes
            .push(format!("{others} more features were left out because they repeat selected ones"));
    }
    Ok(())
}

/// Normalised HSIC between the selected features.
fn similarity(atoms: &dyn InnerProducts, order: &[usize]) -> Result<Similarity, Error> {
    let len = order.len();
    let mut values = vec![0.0; len * len];
    atoms.products(order, order, &mut values)?;
    let norms: Vec<f64> = order.iter().map(|&j| atoms.squared_norms()[j].sqrt()).collect();
    for j in 0..len {
        for i in 0..len {
            values[i + j * len] /= norms[i] * norms[j];
        }
    }
    Ok(Similarity { values, len })
}

/// For each selected feature the `n_related` others with the largest normalised HSIC with it.
///
/// Lower bounds of all products say which can be among the largest; only those are computed. A stopped run
/// has them of the first features.
fn related(
    atoms: &dyn InnerProducts,
    order: &[usize],
    n_related: usize,
    context: &Context<'_>,
) -> Result<Vec<Vec<Related>>, Error> {
    let norms: Vec<f64> = atoms.squared_norms().iter().map(|norm| norm.sqrt()).collect();
    let candidates: Vec<usize> = (0..atoms.n_atoms()).filter(|&j| norms[j] > 0.0).collect();
    let mut all = Vec::with_capacity(order.len());
    for (done, selected) in order.chunks(SELECTED_AT_ONCE).enumerate() {
        if context.stopped().is_some() {
            break;
        }
        let mut bounds = vec![0.0; candidates.len() * selected.len()];
        atoms.lower_bounds(&candidates, selected, &mut bounds)?;
        let near = fewest_parallel::chunks(&mut bounds, candidates.len(), |at, bounds| {
            near(atoms, &norms, selected[at], &candidates, bounds, n_related)
        });
        // Where bounds exclude little, one request for all is cheaper than one for each.
        let anywhere: BTreeSet<usize> = near.iter().flatten().copied().collect();
        if anywhere.len() * selected.len() <= JOINT * near.iter().map(Vec::len).sum::<usize>() {
            let rows: Vec<usize> = anywhere.into_iter().collect();
            atoms.products(&rows, selected, &mut vec![0.0; rows.len() * selected.len()])?;
        }
        all.extend(fewest_parallel::try_map(near.len(), |at| {
            closest(atoms, &norms, selected[at], &near[at], n_related)
        })?);
        context.report("related features", order.len().min((done + 1) * SELECTED_AT_ONCE), order.len());
    }
    Ok(all)
}

/// Those of `candidates` that can be among the `n_related` closest to `selected`, by lower `bounds` of their
/// products with it.
fn near(
    atoms: &dyn InnerProducts,
    norms: &[f64],
    selected: usize,
    candidates: &[usize],
    bounds: &mut [f64],
    n_related: usize,
) -> Vec<usize> {
    for (bound, &feature) in bounds.iter_mut().zip(candidates) {
        // The feature itself is not looked for.
        *bound = if feature == selected { -1.0 } else { *bound / (norms[feature] * norms[selected]) };
    }
    let enough = kth_largest(bounds, n_related);
    let looseness = atoms.lower_bound_error(selected) + ROUNDING;
    candidates
        .iter()
        .zip(&*bounds)
        .filter(|&(&j, bound)| j != selected && bound + looseness + atoms.lower_bound_error(j) >= enough)
        .map(|(&j, _)| j)
        .collect()
}

/// The `n_related` of the features `near` that are closest to `selected`.
fn closest(
    atoms: &dyn InnerProducts,
    norms: &[f64],
    selected: usize,
    near: &[usize],
    n_related: usize,
) -> Result<Vec<Related>, Error> {
    let mut products = vec![0.0; near.len()];
    atoms.products(near, &[selected], &mut products)?;
    let relate =
        |(&feature, product): (&usize, &f64)| (product / (norms[feature] * norms[selected]), feature);
    let mut best: Vec<(f64, usize)> = near.iter().zip(&products).map(relate).collect();
    order::largest_first(&mut best);
    let best = best.into_iter().take(n_related);
    Ok(best.map(|(relatedness, feature)| Related { feature, relatedness }).collect())
}

/// The `k`-th largest of `values`, or the smallest when there are fewer.
fn kth_largest(values: &[f64], k: usize) -> f64 {
    let mut values = values.to_vec();
    let place = k.min(values.len()).saturating_sub(1);
    if values.is_empty() {
        return f64::NEG_INFINITY;
    }
    *values.select_nth_unstable_by(place, |a, b| b.total_cmp(a)).1
}
