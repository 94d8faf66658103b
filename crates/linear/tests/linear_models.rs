//! Lasso, elastic net and SpAM: optimality from the definition, laws, hostile input.

use crate::common::{self, columns, noise, real, regression, standardised, three_classes, weights};
use fewest_core::method::{KernelWidth, Regularization};
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Selector, Status, Target};
use fewest_linear::{AdaptiveLasso, Dantzig, ElasticNet, L21, Lasso, Spam};

type Tested = Result<(), Error>;

fn all() -> common::Selectors {
    vec![
        ("spam", Box::new(Spam::default())),
        ("lasso", Box::new(Lasso::default())),
        ("elastic-net", Box::new(ElasticNet::default())),
        ("adaptive-lasso", Box::new(AdaptiveLasso::default())),
        ("l21", Box::new(L21::default())),
        ("dantzig", Box::new(Dantzig::default())),
    ]
}

#[test]
fn every_method_keeps_the_laws_with_classes_too() {
    common::every_method_keeps_the_laws_with_classes_too(&all());
}

/// Several outputs, and a category with three levels: by the columns written out.
#[test]
fn lasso_meets_its_optimality_conditions() -> Tested {
    let codes: Vec<f64> = noise(50, 77).iter().map(|u| (3.0 * (u + 0.5)).floor()).collect();
    let mut table = columns();
    table[11] = codes.clone();
    let mut kinds = vec![FeatureKind::Numeric; 12];
    kinds[11] = FeatureKind::Categorical { levels: ["a", "b", "c"].map(str::to_owned).to_vec() };
    let y: Vec<f64> = real().iter().zip(&codes).map(|(y, code)| y + f64::from(*code == 1.0)).collect();
    let second = noise(50, 99);
    let target = Target::outputs([y.clone(), second.clone()].concat(), 50)?;
    let data = Dataset::new(DenseColumns::from_columns(&table)?, target)?.with_feature_kinds(kinds)?;
    let mut written: Vec<Vec<f64>> = table[..11].iter().map(|column| standardised(column)).collect();
    for level in 0..3 {
        let indicator: Vec<f64> = codes.iter().map(|code| f64::from(*code == f64::from(level))).collect();
        written.push(standardised(&indicator));
    }
    let outputs = [standardised(&y), standardised(&second)];
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / 50.0;
    let largest =
        written.iter().flat_map(|x| outputs.iter().map(|y| dot(x, y).abs())).fold(0.0_f64, f64::max);
    for ratio in [0.9, 0.3, 0.05] {
        let lasso = Lasso {
            regularization: Regularization::Value(ratio * largest),
            tolerance: 1e-12,
            ..Lasso::default()
        };
        let selection = lasso.select(&data, Budget::Auto, &Context::default())?;
        let by_ratio =
            Lasso { regularization: Regularization::Ratio(ratio), tolerance: 1e-12, ..Lasso::default() };
        assert_eq!(by_ratio.select(&data, Budget::Auto, &Context::default())?.order, selection.order);
        // The reference: proximal gradient on the columns written out.
        let mut w = [vec![0.0; 14], vec![0.0; 14]];
        for (w, y) in w.iter_mut().zip(&outputs) {
            for _ in 0..20_000 {
                let mut residual = y.clone();
                for (x, w) in written.iter().zip(&*w) {
                    residual.iter_mut().zip(x).for_each(|(r, x)| *r -= w * x);
                }
                for (w, x) in w.iter_mut().zip(&written) {
                    let moved = *w + dot(x, &residual) / 4.0;
                    *w = moved.signum() * (moved.abs() - ratio * largest / 4.0).max(0.0);
                }
            }
        }
        let found = weights(&selection);
        for j in 0..12 {
            let own: Vec<f64> = (0..14)
                .filter(|&column| column.min(11) == j)
                .flat_map(|column| [w[0][column], w[1][column]])
                .collect();
            let norm = own.iter().map(|value| value * value).sum::<f64>().sqrt();
            assert!((found[j].abs() - norm).abs() < 1e-6, "feature {j}: {} and {norm}", found[j]);
        }
        let gap = selection.solver.as_ref().map_or(f64::NAN, |report| report.certificate.value());
        assert!((-1e-15..=1e-12).contains(&gap), "{gap}");
    }
    Ok(())
}

#[test]
fn lasso_gives_exactly_as_many_as_asked_for() -> Tested {
    for data in [regression()?, three_classes()?] {
        for k in 1..=11 {
            for (name, selector) in [
                ("lasso", Box::new(Lasso::default()) as Box<dyn Selector>),
                ("elastic net", Box::new(ElasticNet { l1_ratio: 0.7, ..ElasticNet::default() })),
                ("spam", Box::new(Spam::default())),
            ] {
                let selection = selector.select(&data, Budget::Count(k), &Context::default())?;
                assert_eq!(selection.order.len(), k, "{name}: {:?}", selection.notes);
                assert_eq!(selection.status, Status::Converged, "{name}");
            }
        }
    }
    Ok(())
}

/// A point of the path of several outputs is what coordinate descent finds at its penalty.
#[test]
fn the_path_of_several_outputs_passes_through_the_minima() -> Tested {
    let data = three_classes()?;
    for k in [1, 4, 9] {
        let by_path = Lasso::default().select(&data, Budget::Count(k), &Context::default())?;
        let lambda = by_path.solver.as_ref().map_or(f64::NAN, |report| report.lambda);
        let lasso =
            Lasso { regularization: Regularization::Value(lambda), tolerance: 1e-13, ..Lasso::default() };
        let at = lasso.select(&data, Budget::Auto, &Context::default())?;
        assert_eq!((by_path.order.len(), &by_path.order), (k, &at.order));
        for (a, b) in by_path.scores.iter().zip(&at.scores) {
            assert!((a - b).abs() < 1e-8, "{a} and {b}");
        }
        let penalties: Vec<f64> =
            by_path.path.iter().flat_map(|path| &path.points).map(|point| point.lambda).collect();
        assert!(penalties.is_sorted_by(|a, b| a >= b) && penalties.last() == Some(&lambda));
        let entered = by_path.path.map_or(Vec::new(), |path| path.entered);
        assert!(by_path.order.iter().all(|feature| entered.contains(feature)));
    }
    Ok(())
}

/// More features than samples and several outputs: each of these has fewer active features than there are
/// samples, so there are never as many as asked for, and the path ends at a penalty of zero.
#[test]
fn a_saturated_path_ends_with_a_note() -> Tested {
    let wide: Vec<Vec<f64>> = (0..120).map(|j| noise(12, j)).collect();
    let labels: Vec<usize> = (0..12).map(|i| i % 3).collect();
    let data = Dataset::new(DenseColumns::from_columns(&wide)?, Target::from_labels(&labels))?;
    let selection = Lasso::default().select(&data, Budget::Count(100), &Context::default())?;
    let found = selection.order.len();
    assert!((11..=33).contains(&found), "{found}");
    assert_eq!(selection.notes, [format!("{found} of 100 features: no others have a coefficient")]);
    let report = selection.solver.ok_or(Error::TooFew { what: "reports", minimum: 1, found: 0 })?;
    assert_eq!((report.lambda, report.status), (0.0, Status::Converged));
    assert!(report.objective < 1e-12 && report.iterations < 2000, "{report:?}");
    let net = ElasticNet::default().select(&data, Budget::Count(100), &Context::default())?;
    assert_eq!(net.status, Status::Converged, "{:?}", net.solver);
    Ok(())
}

/// With l1_ratio = 1 the elastic net is the lasso.
#[test]
fn elastic_net_contains_the_lasso() -> Tested {
    let lasso = Lasso { regularization: Regularization::Ratio(0.1), ..Lasso::default() };
    let net = ElasticNet { l1_ratio: 1.0, lasso: lasso.clone() };
    let data = regression()?;
    let context = Context::default();
    assert_eq!(lasso.select(&data, Budget::Auto, &context)?, net.select(&data, Budget::Auto, &context)?);
    Ok(())
}

#[test]
fn bad_parameters_are_typed_errors() {
    let fails = common::refuses_parameter;
    let k = Budget::Count(2);
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        fails("lambda_ratio", &Spam { regularization: Regularization::Ratio(bad), ..Spam::default() }, k);
        fails("tolerance", &Spam { tolerance: bad, ..Spam::default() }, k);
        fails("sigma", &Spam { sigma: KernelWidth::Value(bad), ..Spam::default() }, k);
        fails("smallest_eigenvalue", &Spam { smallest_eigenvalue: bad, ..Spam::default() }, k);
        fails("tolerance", &Lasso { tolerance: bad, ..Lasso::default() }, k);
        fails("lambda", &Lasso { regularization: Regularization::Value(bad), ..Lasso::default() }, k);
        fails("lambda_ratio", &Lasso { regularization: Regularization::Ratio(bad), ..Lasso::default() }, k);
        fails("l1_ratio", &ElasticNet { l1_ratio: bad, ..ElasticNet::default() }, k);
    }
    for selector in [&Lasso::default() as &dyn Selector, &Spam::default()] {
        fails("k", selector, Budget::Auto);
    }
}

#[test]
fn hostile_tables_are_answered_or_refused() -> Tested {
    common::hostile_tables_are_answered_or_refused(&all())
}

#[test]
fn a_run_that_is_stopped_at_once_says_so() -> Tested {
    common::a_run_that_is_stopped_at_once_says_so(&all())
}

/// With several outputs, and for a category with several levels, a score is a norm also where one coefficient
/// only is not zero; of one output it is the coefficient with its sign.
#[test]
fn a_sign_is_that_of_a_single_coefficient() -> Tested {
    let columns = [noise(60, 1), noise(60, 2), noise(60, 3)];
    let mut y: Vec<f64> = columns[0].iter().zip(&columns[1]).map(|(a, b)| a - 0.8 * b).collect();
    let data = |target| Dataset::new(DenseColumns::from_columns(&columns)?, target);
    let lasso = |ratio| Lasso { regularization: Regularization::Ratio(ratio), ..Lasso::default() };
    let elastic_net = |ratio| ElasticNet { lasso: lasso(ratio), ..ElasticNet::default() };
    for ratio in [0.9, 0.5, 0.1] {
        for selector in [&lasso(ratio) as &dyn Selector, &elastic_net(ratio)] {
            let scores = |target| -> Result<Vec<f64>, Error> {
                Ok(selector.select(&data(target)?, Budget::Auto, &Context::default())?.scores)
            };
            let single = scores(Target::real(y.clone())?)?;
            assert!(ratio == 0.9 || single.iter().any(|score| *score < 0.0), "{single:?}");
            let classes: Vec<u8> = y.iter().map(|y| u8::from(*y > -0.2) + u8::from(*y > 0.2)).collect();
            let several = scores(Target::from_labels(&classes))?;
            assert!(several.iter().all(|score| *score > 0.0), "{several:?}");
        }
    }
    // The level that matters lowers the output.
    let codes: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    y.iter_mut().zip(&codes).for_each(|(y, code)| *y -= 5.0 * f64::from(*code == 1.0));
    let data = Dataset::new(DenseColumns::from_columns(&[codes])?, Target::real(y)?)?;
    let kinds = vec![FeatureKind::Categorical { levels: ["a", "b", "c"].map(str::to_owned).to_vec() }];
    let data = data.with_feature_kinds(kinds)?;
    let found = lasso(0.9).select(&data, Budget::Auto, &Context::default())?;
    assert!(found.scores.len() == 1 && found.scores[0] > 0.0, "{:?}", found.scores);
    Ok(())
}

/// By way of larger penalties the answer is the same, and all of them are reported, each a minimum.
#[test]
fn a_grid_of_penalties_leads_to_the_same_minimum() -> Tested {
    let context = Context::default();
    for data in [regression()?, three_classes()?] {
        let lasso = |lambda_path| Lasso {
            regularization: Regularization::Ratio(0.05),
            lambda_path,
            tolerance: 1e-13,
            ..Lasso::default()
        };
        for l1_ratio in [1.0, 0.5] {
            let select = |lasso: Lasso| ElasticNet { l1_ratio, lasso }.select(&data, Budget::Auto, &context);
            let (by_grid, alone) = (select(lasso(7))?, select(lasso(1))?);
            assert_eq!(by_grid.order, alone.order);
            assert!(by_grid.scores.iter().zip(&alone.scores).all(|(a, b)| (a - b).abs() < 1e-9));
            assert_eq!(alone.path, None);
            let path = by_grid.path.clone().unwrap_or_default();
            assert_eq!(path.points.len(), 7);
            assert!(path.points[0].coefficients.is_empty());
            let ratios: Vec<f64> =
                path.points.windows(2).map(|pair| pair[1].lambda / pair[0].lambda).collect();
            assert!(
                ratios.iter().all(|ratio| (ratio - 0.05_f64.powf(1.0 / 6.0)).abs() < 1e-12),
                "{ratios:?}"
            );
            for point in &path.points {
                let at = Lasso { regularization: Regularization::Value(point.lambda), ..lasso(1) };
                let alone = weights(&select(at)?);
                let mut found = vec![0.0; alone.len()];
                point.coefficients.iter().for_each(|&(j, value)| found[j] = value);
                assert!(found.iter().zip(&alone).all(|(a, b)| (a - b).abs() < 1e-9), "{}", point.lambda);
            }
            assert!(
                path.points
                    .iter()
                    .flat_map(|point| &point.coefficients)
                    .all(|(j, _)| path.entered.contains(j))
            );
        }
    }
    Ok(())
}
