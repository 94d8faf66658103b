//! The group lasso with groups that overlap: duality gaps from the definition, and what it is a case of.

use crate::common::{noise, standardised, weights};
use fewest_core::method::Regularization;
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Groups, Selection, Selector, Target};
use fewest_linear::{Fitting, GroupLasso, LinearLoss, Overlap, OverlappingGroupLasso, TreeLasso};

type Tested = Result<(), Error>;

const D: usize = 16;
const N: usize = 60;

fn table() -> Vec<Vec<f64>> {
    let common: Vec<Vec<f64>> = (0..4).map(|g| noise(N, 100 + g)).collect();
    let mix = |j: usize| noise(N, j as u64).iter().zip(&common[j / 4]).map(|(a, b)| a + 0.8 * b).collect();
    (0..D).map(mix).collect()
}

fn target() -> Vec<f64> {
    let x = table();
    (0..N)
        .map(|i| 2.0 * x[0][i] - x[1][i] + 1.2 * x[3][i] + 0.7 * x[9][i] - 0.4 * x[10][i])
        .zip(noise(N, 999))
        .map(|(y, e)| y + 0.5 * e)
        .collect()
}

fn data(groups: Groups) -> Result<Dataset, Error> {
    let data = Dataset::new(DenseColumns::from_columns(&table())?, Target::real(target())?)?;
    data.with_feature_groups(groups)
}

/// Four in a row, two of them shared with the next; one of all ends, one within another, and features alone.
fn overlapping() -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = (0..10).step_by(2).map(|first| (first..first + 4).collect()).collect();
    sets.extend([vec![0, 5, 11], vec![4, 5]]);
    sets
}

fn method(overlap: Overlap, l1_ratio: f64, regularization: Regularization) -> OverlappingGroupLasso {
    let fitting = Fitting { regularization, tolerance: 1e-12, ..Fitting::default() };
    OverlappingGroupLasso { overlap, l1_ratio, fitting, ..OverlappingGroupLasso::default() }
}

fn run(selector: &dyn Selector, data: &Dataset) -> Result<(Vec<f64>, Selection), Error> {
    let selection = selector.select(data, Budget::Auto, &Context::default())?;
    Ok((weights(&selection), selection))
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// The relative duality gap of `w`, from the definition: `Xᵀr/n` is split into parts of the groups and of the
/// l1 norm, those of groups that are not zero as their gradient, the others by alternate projections; what
/// is left says by how much the residual has to shrink.
fn gap(w: &[f64], lambda: f64, l1_ratio: f64, groups: &[Vec<usize>]) -> f64 {
    let x: Vec<Vec<f64>> = table().iter().map(|x| standardised(x)).collect();
    let y = standardised(&target());
    let n = N as f64;
    let residual: Vec<f64> = (0..N).map(|i| y[i] - (0..D).map(|j| w[j] * x[j][i]).sum::<f64>()).collect();
    let v: Vec<f64> =
        x.iter().map(|x| x.iter().zip(&residual).map(|(x, r)| x * r).sum::<f64>() / n).collect();
    let level = |g: &Vec<usize>| (1.0 - l1_ratio) * lambda * (g.len() as f64).sqrt();
    let l1 = l1_ratio * lambda;
    let mut rest = v.clone();
    for group in groups {
        let size = norm(group.iter().map(|&j| w[j]));
        if size > 0.0 {
            group.iter().for_each(|&j| rest[j] -= level(group) * w[j] / size);
        }
    }
    (0..D).filter(|&j| w[j] != 0.0).for_each(|j| rest[j] -= l1 * w[j].signum());
    let zero = |g: &&Vec<usize>| g.iter().all(|&j| w[j] == 0.0);
    let mut parts: Vec<(Vec<usize>, f64, Vec<f64>)> =
        groups.iter().filter(zero).map(|g| (g.clone(), level(g), vec![0.0; g.len()])).collect();
    parts.extend((0..D).filter(|&j| w[j] == 0.0).map(|j| (vec![j], l1, vec![0.0])));
    for _ in 0..20_000 {
        for (group, level, part) in &mut parts {
            let wanted: Vec<f64> = group.iter().zip(&*part).map(|(&j, part)| rest[j] + part).collect();
            let size = norm(wanted.iter().copied());
            let keep = if size > *level { *level / size } else { 1.0 };
            for ((&j, part), wanted) in group.iter().zip(part).zip(wanted) {
                rest[j] += *part - keep * wanted;
                *part = keep * wanted;
            }
        }
    }
    // Every feature is in a group: what is left costs this much more of the norm.
    let excess =
        (0..D).map(|j| rest[j].abs()).sum::<f64>() / groups.iter().map(level).fold(f64::INFINITY, f64::min);
    let t = 1.0 / (1.0 + excess);
    let penalty = groups.iter().map(|g| level(g) * norm(g.iter().map(|&j| w[j]))).sum::<f64>()
        + l1 * w.iter().map(|w| w.abs()).sum::<f64>();
    let squares = residual.iter().map(|r| r * r).sum::<f64>() / n;
    let product: f64 = w.iter().zip(&v).map(|(w, v)| w * v).sum();
    // P(w) − D(t r), relative to ½.
    (1.0 - t).powi(2) * squares + 2.0 * (penalty - t * product)
}

fn with_alone(mut groups: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let alone: Vec<usize> = (0..D).filter(|j| !groups.iter().any(|group| group.contains(j))).collect();
    groups.extend(alone.into_iter().map(|j| vec![j]));
    groups
}

#[test]
fn the_gap_by_the_definition_is_small() -> Tested {
    let data = data(Groups::overlapping(D, overlapping())?)?;
    let groups = with_alone(overlapping());
    let mut sizes = Vec::new();
    for l1_ratio in [0.0, 0.1, 0.5, 0.9] {
        for ratio in [0.95, 0.5, 0.2, 0.05, 0.01, 0.001] {
            let (w, selection) = run(&method(Overlap::Norm, l1_ratio, Regularization::Ratio(ratio)), &data)?;
            let report = selection.solver.ok_or(Error::Stopped { before: "a report" })?;
            let found = gap(&w, report.lambda, l1_ratio, &groups);
            assert!(
                found <= 1e-9 && report.certificate.value() <= 1e-11,
                "{l1_ratio} {ratio}: {found} {report:?}"
            );
            sizes.push(w.iter().filter(|w| **w != 0.0).count());
            // The zeros are a union of groups, but for what the l1 norm takes.
            if l1_ratio == 0.0 {
                let is_held =
                    |j: usize| groups.iter().any(|g| g.contains(&j) && g.iter().all(|&i| w[i] == 0.0));
                assert!((0..D).all(|j| w[j] != 0.0 || is_held(j)), "{ratio}: {w:?}");
            }
        }
    }
    assert!(sizes.iter().any(|n| (1..D).contains(n)) && sizes.contains(&D), "{sizes:?}");
    Ok(())
}

#[test]
fn nothing_is_selected_from_the_largest_penalty_on() -> Tested {
    let data = data(Groups::overlapping(D, overlapping())?)?;
    for overlap in [Overlap::Norm, Overlap::Latent] {
        for l1_ratio in [0.0, 0.5] {
            for (ratio, is_empty) in [(1.0, true), (1.0 - 1e-4, false)] {
                let (w, _) = run(&method(overlap, l1_ratio, Regularization::Ratio(ratio)), &data)?;
                assert_eq!(w.iter().all(|w| *w == 0.0), is_empty, "{overlap:?} {l1_ratio} {ratio}: {w:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn without_overlap_both_forms_are_the_group_lasso() -> Tested {
    let groups = Groups::partition((0..D).map(|j| j / 4).collect());
    let data = data(groups)?;
    for ratio in [0.5, 0.05] {
        let fitting =
            Fitting { regularization: Regularization::Ratio(ratio), tolerance: 1e-13, ..Fitting::default() };
        let (expected, _) = run(&GroupLasso { fitting, ..GroupLasso::default() }, &data)?;
        for overlap in [Overlap::Norm, Overlap::Latent] {
            let (w, _) = run(&method(overlap, 0.0, Regularization::Ratio(ratio)), &data)?;
            assert!(
                w.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-7),
                "{overlap:?}: {w:?} {expected:?}"
            );
        }
    }
    Ok(())
}

#[test]
fn nested_groups_are_the_tree() -> Tested {
    let sets =
        vec![(0..8).collect(), (0..4).collect(), (2..4).collect(), (8..12).collect(), (12..16).collect()];
    let data = data(Groups::overlapping(D, sets)?)?;
    for ratio in [0.6, 0.2, 0.02] {
        let fitting =
            Fitting { regularization: Regularization::Ratio(ratio), tolerance: 1e-13, ..Fitting::default() };
        let tree = TreeLasso { leaves: false, fitting, ..TreeLasso::default() };
        let (expected, _) = run(&tree, &data)?;
        let (w, _) = run(&method(Overlap::Norm, 0.0, Regularization::Ratio(ratio)), &data)?;
        assert!(w.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-7), "{w:?} {expected:?}");
    }
    Ok(())
}

/// The latent form by hand: the group lasso of a table with a copy of each column for each of its groups.
#[test]
fn latent_parts_are_the_group_lasso_of_copies() -> Tested {
    let groups = with_alone(overlapping());
    let x = table();
    let copies: Vec<usize> = groups.concat();
    let columns: Vec<Vec<f64>> = copies.iter().map(|&j| x[j].clone()).collect();
    let of_copy = groups.iter().enumerate().flat_map(|(g, group)| vec![g; group.len()]).collect();
    let copied = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(target())?)?
        .with_feature_groups(Groups::partition(of_copy))?;
    let data = data(Groups::overlapping(D, overlapping())?)?;
    for ratio in [0.7, 0.3, 0.1] {
        let fitting =
            Fitting { regularization: Regularization::Ratio(ratio), tolerance: 1e-13, ..Fitting::default() };
        let (parts, expected) = run(&GroupLasso { fitting, ..GroupLasso::default() }, &copied)?;
        let (w, found) = run(&method(Overlap::Latent, 0.0, Regularization::Ratio(ratio)), &data)?;
        let objective = |selection: Selection| selection.solver.map_or(f64::NAN, |report| report.objective);
        assert!((objective(found) - objective(expected)).abs() <= 1e-12);
        let mut sums = vec![0.0; D];
        copies.iter().zip(parts).for_each(|(&j, part)| sums[j] += part);
        // The fit is unique, the parts need not be.
        for i in 0..N {
            let fit = |w: &[f64]| (0..D).map(|j| w[j] * standardised(&x[j])[i]).sum::<f64>();
            assert!((fit(&w) - fit(&sums)).abs() <= 1e-6);
        }
        // What is selected is a union of groups.
        let is_whole = |j: usize| groups.iter().any(|g| g.contains(&j) && g.iter().all(|&i| w[i] != 0.0));
        assert!((0..D).all(|j| w[j] == 0.0 || is_whole(j)), "{ratio}: {w:?}");
        assert!(w.contains(&0.0));
    }
    Ok(())
}

/// With another loss, too.
#[test]
fn logistic_parts_are_the_group_lasso_of_copies() -> Tested {
    let loss = LinearLoss::Logistic { intercept: true };
    let fitting = || Fitting { loss, regularization: Regularization::Ratio(0.2), tolerance: 1e-12 };
    let groups = with_alone(overlapping());
    let labels: Vec<bool> = target().iter().map(|y| *y > 0.0).collect();
    let x = table();
    let columns: Vec<Vec<f64>> = groups.concat().iter().map(|&j| x[j].clone()).collect();
    let of_copy = groups.iter().enumerate().flat_map(|(g, group)| vec![g; group.len()]).collect();
    let copied = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?
        .with_feature_groups(Groups::partition(of_copy))?;
    let data = Dataset::new(DenseColumns::from_columns(&x)?, Target::from_labels(&labels))?
        .with_feature_groups(Groups::overlapping(D, overlapping())?)?;
    let objective = |selector: &dyn Selector, data: &Dataset| -> Result<f64, Error> {
        let report = run(selector, data)?.1.solver.ok_or(Error::Stopped { before: "a report" })?;
        assert!(report.certificate.value() <= 1e-11, "{report:?}");
        Ok(report.objective)
    };
    let expected = objective(&GroupLasso { fitting: fitting(), ..GroupLasso::default() }, &copied)?;
    let with =
        |overlap| OverlappingGroupLasso { overlap, fitting: fitting(), ..OverlappingGroupLasso::default() };
    let latent = objective(&with(Overlap::Latent), &data)?;
    assert!((latent - expected).abs() <= 1e-11, "{latent} {expected}");
    objective(&with(Overlap::Norm), &data)?;
    Ok(())
}
