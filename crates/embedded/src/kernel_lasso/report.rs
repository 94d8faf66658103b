//! What a selection tells besides the features.

use fewest_core::{Budget, Context, Dataset, Related, Selection, Similarity, Status};
use fewest_solver::InnerProducts;

use super::solve::Fit;

/// Features whose products with the selected ones are held at a time.
const ROWS_AT_ONCE: usize = 4096;

/// Repeated features named in a note.
const MOST_NAMED: usize = 5;

/// Adds the solver's report, the path, relatedness and notes to `selection`.
pub(super) fn complete(
    selection: &mut Selection,
    data: &Dataset,
    atoms: &dyn InnerProducts,
    fit: Fit,
    budget: Budget,
    n_related: usize,
    context: &Context<'_>,
) {
    notes(selection, data, atoms, &fit, budget);
    selection.solver = fit.report;
    selection.path = fit.path;
    selection.similarity = Some(similarity(atoms, &selection.order));
    if n_related > 0 {
        selection.related = related(atoms, &selection.order, n_related, context);
    }
}

fn notes(selection: &mut Selection, data: &Dataset, atoms: &dyn InnerProducts, fit: &Fit, budget: Budget) {
    let constant = atoms.squared_norms().iter().filter(|&&norm| norm == 0.0).count();
    if constant > 0 {
        let plural = if constant == 1 { "feature is" } else { "features are" };
        selection.notes.push(format!("{constant} {plural} constant and cannot be selected"));
    }
    if let Budget::Count(k) = budget
        && selection.order.len() < k
        && selection.status == Status::Converged
    {
        selection.notes.push(format!(
            "{} of {k} features: no other feature explains more of the target at any penalty",
            selection.order.len()
        ));
    }
    for (j, on) in fit.tied.iter().take(MOST_NAMED) {
        // The likeliest twin among those it depends on.
        let norms = atoms.squared_norms();
        let mut products = vec![0.0; on.len()];
        atoms.products(on, &[*j], &mut products);
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
}

/// Normalised HSIC between the selected features.
fn similarity(atoms: &dyn InnerProducts, order: &[usize]) -> Similarity {
    let len = order.len();
    let mut values = vec![0.0; len * len];
    atoms.products(order, order, &mut values);
    let norms: Vec<f64> = order.iter().map(|&j| atoms.squared_norms()[j].sqrt()).collect();
    for j in 0..len {
        for i in 0..len {
            values[i + j * len] /= norms[i] * norms[j];
        }
    }
    Similarity { values, len }
}

/// For each selected feature the `n_related` others with the largest normalised HSIC with it.
fn related(
    atoms: &dyn InnerProducts,
    order: &[usize],
    n_related: usize,
    context: &Context<'_>,
) -> Vec<Vec<Related>> {
    let norms = atoms.squared_norms();
    let candidates: Vec<usize> = (0..atoms.n_atoms()).filter(|&j| norms[j] > 0.0).collect();
    let mut best: Vec<Vec<Related>> = vec![Vec::new(); order.len()];
    let mut products = Vec::new();
    let mut done = 0;
    for rows in candidates.chunks(ROWS_AT_ONCE) {
        products.clear();
        products.resize(rows.len() * order.len(), 0.0);
        atoms.products(rows, order, &mut products);
        for ((&selected, best), column) in order.iter().zip(&mut best).zip(products.chunks_exact(rows.len()))
        {
            best.extend(rows.iter().zip(column).filter(|(j, _)| **j != selected).map(
                |(&feature, product)| Related {
                    feature,
                    relatedness: product / (norms[feature] * norms[selected]).sqrt(),
                },
            ));
            best.sort_by(|a, b| b.relatedness.total_cmp(&a.relatedness).then(a.feature.cmp(&b.feature)));
            best.truncate(n_related);
        }
        done += rows.len();
        context.report("related features", done, candidates.len());
    }
    best
}
