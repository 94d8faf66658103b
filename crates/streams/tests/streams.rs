//! Laws of streams: what is held, what leaves, what is refused, and hostile arrivals.

use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, Selection, Selector, Status, StreamSelector, Target,
    derive_seed,
};
use fewest_streams::{
    AlphaInvesting, FastOsfs, Fsds, Grafting, IndependenceTest, Ofs, OfsInput, Osfs, Outcome, Saola,
};

const N: usize = 120;

fn noise(j: u64) -> Vec<f64> {
    (0..N as u64).map(|i| derive_seed(j, i) as f64 / u64::MAX as f64 - 0.5).collect()
}

fn sum(terms: &[(f64, u64)]) -> Vec<f64> {
    let mut total = vec![0.0; N];
    for &(weight, j) in terms {
        total.iter_mut().zip(noise(j)).for_each(|(total, value)| *total += weight * value);
    }
    total
}

/// Two signals, and a third that repeats one of them.
fn target() -> Vec<f64> {
    sum(&[(1.0, 3), (1.5, 7), (0.3, 1000)])
}

fn feature(name: &str, values: Vec<f64>) -> Dataset {
    Dataset::new(DenseColumns::from_columns(&[values]).unwrap(), Target::real(target()).unwrap())
        .unwrap()
        .with_feature_names(vec![name.to_owned()])
        .unwrap()
}

fn streams() -> Vec<(&'static str, Box<dyn StreamSelector>)> {
    let grafting = Grafting { regularization: Regularization::Value(0.25), ..Grafting::default() };
    vec![
        ("alpha-investing", Box::new(AlphaInvesting::default().stream().unwrap())),
        ("grafting", Box::new(grafting.stream().unwrap())),
        ("osfs", Box::new(Osfs { alpha: 0.001, ..Osfs::default() }.stream().unwrap())),
        ("fast-osfs", Box::new(FastOsfs { alpha: 0.001, ..FastOsfs::default() }.stream().unwrap())),
        ("saola", Box::new(Saola { alpha: 0.001, ..Saola::default() }.stream().unwrap())),
    ]
}

fn answer(stream: &dyn StreamSelector) -> Selection {
    stream.selection(Budget::Auto).unwrap()
}

#[test]
fn memory_does_not_grow_with_what_is_refused() {
    for (id, mut stream) in streams() {
        let context = Context::default();
        let (mut largest, mut early) = (0, 0);
        for j in 0..2000 {
            stream.update(&feature(&format!("x{j}"), noise(j)), &context).unwrap();
            let held = stream.held();
            largest = largest.max(held.bytes);
            if j == 200 {
                early = largest;
            }
            // The target, a few columns of each feature held, and its correlations with the others.
            let numbers = (2 * held.features + 4) * N + held.features * held.features + held.features;
            assert!(held.bytes <= 8 * numbers, "{id}: {held:?}");
        }
        let found = answer(&*stream);
        assert!(found.order.contains(&3) && found.order.contains(&7), "{id}: {:?}", found.order);
        assert!(stream.held().features <= 25, "{id}: {:?}", stream.held());
        // Ten times as many features have arrived.
        assert!(largest <= 4 * early, "{id}: {early} and {largest}");
    }
}

#[test]
fn there_is_an_answer_at_any_time() {
    for (id, mut stream) in streams() {
        for j in 0..20 {
            stream.update(&feature(&format!("x{j}"), noise(j)), &Context::default()).unwrap();
            let found = answer(&*stream);
            assert_eq!(found.n_features, j as usize + 1);
            assert_eq!(found.order.len(), found.scores.len());
            assert!(found.order.iter().all(|&feature| feature <= j as usize), "{id}");
            assert_eq!(found.order.contains(&3), j >= 3, "{id} after {j}");
            let first = stream.selection(Budget::Count(1)).unwrap();
            assert_eq!(first.order[..], found.order[..found.order.len().min(1)], "{id}");
        }
        assert!(matches!(
            stream.selection(Budget::Count(21)),
            Err(Error::InvalidParameter { name: "k", .. })
        ));
    }
}

#[test]
fn groups_of_features_give_what_single_ones_give() {
    let context = Context::default();
    for ((id, mut single), (_, mut grouped)) in streams().into_iter().zip(streams()) {
        for first in (0..60).step_by(12) {
            let names: Vec<String> = (first..first + 12).map(|j| format!("x{j}")).collect();
            let columns: Vec<Vec<f64>> = (first..first + 12).map(noise).collect();
            let x = DenseColumns::from_columns(&columns).unwrap();
            let group = Dataset::new(x, Target::real(target()).unwrap()).unwrap();
            grouped.update(&group.with_feature_names(names.clone()).unwrap(), &context).unwrap();
            for (name, column) in names.iter().zip(columns) {
                single.update(&feature(name, column), &context).unwrap();
            }
        }
        assert_eq!(format!("{:?}", answer(&*single)), format!("{:?}", answer(&*grouped)), "{id}");
    }
}

/// After an error the stream is as it was, and goes on.
#[test]
fn hostile_features_are_errors_that_change_nothing() {
    for (id, mut stream) in streams() {
        let context = Context::default();
        let good = |j: u64| feature(&format!("x{j}"), noise(j));
        (0..10).for_each(|j| stream.update(&good(j), &context).unwrap());
        let before = format!("{:?} {:?}", answer(&*stream), stream.held());
        let broken = |value: f64| {
            let mut values = noise(3);
            values[N / 2] = value;
            feature("broken", values)
        };
        let short = Dataset::new(
            DenseColumns::from_columns(&[noise(5)[..N - 1].to_vec()]).unwrap(),
            Target::real(target()[..N - 1].to_vec()).unwrap(),
        );
        let other = feature("other", noise(50)).with_target(Target::real(noise(51)).unwrap()).unwrap();
        let classes = Target::from_labels(&(0..N).map(|i| i % 2).collect::<Vec<usize>>());
        let late = feature("late", noise(50)).with_target(classes).unwrap();
        let weighted = good(50).with_sample_weights(vec![1.0; N]).unwrap();
        // A good feature before the broken one in a group does not count either.
        let group = DenseColumns::from_columns(&[
            noise(60),
            broken(f64::NAN).x().column(0, &mut Vec::new()).unwrap().to_vec(N),
        ]);
        let group = Dataset::new(group.unwrap(), Target::real(target()).unwrap()).unwrap();
        let twice = Dataset::new(
            DenseColumns::from_columns(&[noise(61), noise(62)]).unwrap(),
            Target::real(target()).unwrap(),
        );
        let twice = twice.unwrap().with_feature_names(vec!["same".to_owned(); 2]).unwrap();
        for hostile in [
            broken(f64::NAN),
            broken(f64::INFINITY),
            short.unwrap(),
            other,
            late,
            weighted,
            feature("x3", noise(80)),
            group,
            twice,
        ] {
            let error = stream.update(&hostile, &context).unwrap_err();
            assert!(!error.to_string().contains('\n'), "{error}");
            assert_eq!(format!("{:?} {:?}", answer(&*stream), stream.held()), before, "{id}: {error}");
        }
        stream.update(&good(10), &context).unwrap();
        // The name of a refused feature is free: it is not kept.
        stream.update(&feature("x2", noise(11)), &context).unwrap();
        assert_eq!(answer(&*stream).n_features, 12, "{id}");
    }
}

#[test]
fn errors_name_what_is_wrong() {
    let mut stream = AlphaInvesting::default().stream().unwrap();
    let context = Context::default();
    stream.update(&feature("good", noise(3)), &context).unwrap();
    let told = |hostile: &Dataset, stream: &mut dyn StreamSelector| {
        stream.update(hostile, &context).unwrap_err().to_string()
    };
    let error = told(&feature("good", noise(4)), &mut stream);
    assert!(error.contains("`name of a feature` is `good`"), "{error}");
    let mut values = noise(9);
    values[17] = f64::NAN;
    let error = told(&feature("broken", values), &mut stream);
    assert!(error.contains("`broken`") && error.contains("sample 17"), "{error}");
    let error = told(&feature("x", noise(9)).subset(&[0, 1, 2]).unwrap(), &mut stream);
    assert!(error.contains("values of an arriving feature: expected 120, found 3"), "{error}");
}

/// The wealth is never below zero, however many features are refused, and what it pays for is its definition.
#[test]
fn wealth_stays_above_zero_and_follows_its_rule() {
    let mut stream =
        AlphaInvesting { wealth: 0.05, reward: 0.05, ..AlphaInvesting::default() }.stream().unwrap();
    let mut wealth = 0.05;
    for j in 0..3000_u64 {
        // The signals come first.
        let own = noise([3, 7].get(j as usize).copied().unwrap_or(j + 2000));
        stream.update(&feature(&format!("x{j}"), own), &Context::default()).unwrap();
        let last = stream.last().unwrap().clone();
        let share = wealth / (2.0 * (j + 1) as f64);
        assert_eq!(last.outcome == Outcome::Admitted, last.value < share);
        wealth += if last.value < share { 0.05 - share } else { -share };
        assert!(stream.wealth() > 0.0 && (stream.wealth() - wealth).abs() <= 1e-12);
    }
    let found = answer(&stream);
    assert_eq!(found.order[..2], [0, 1]);
    assert!(found.order.len() < 5, "{:?}", found.order);
    // One that follows from those selected is refused, however related it is to the target.
    stream.update(&feature("both", sum(&[(2.0, 3), (-1.0, 7)])), &Context::default()).unwrap();
    assert_eq!(stream.last().unwrap().value, 1.0);
}

/// With enough room for all, the l1 model of the admitted features is the lasso of these features: no
/// subgradient of the objective is larger than rounding.
#[test]
fn the_model_of_grafting_is_optimal_over_those_admitted() {
    for ratio in [0.1, 0.4] {
        let lambda = 0.5 * ratio;
        let options = Grafting { regularization: Regularization::Value(lambda), tolerance: 1e-12 };
        let mut stream = options.stream().unwrap();
        let mut columns = Vec::new();
        for j in 0..40 {
            let mut own = noise(j);
            stream.update(&feature(&format!("x{j}"), own.clone()), &Context::default()).unwrap();
            assert!(fewest_columns::standardise(&mut own));
            columns.push(own);
        }
        let mut y = target();
        assert!(fewest_columns::standardise(&mut y));
        let found = answer(&stream);
        let mut residual = y;
        for (&j, score) in found.order.iter().zip(&found.scores) {
            residual.iter_mut().zip(&columns[j]).for_each(|(left, x)| *left -= score * x);
        }
        let gradient =
            |j: usize| columns[j].iter().zip(&residual).map(|(x, r)| x * r).sum::<f64>() / N as f64;
        for j in stream.admitted() {
            match found.order.iter().position(|&other| other == j) {
                Some(at) => assert!((gradient(j) - lambda * found.scores[at].signum()).abs() < 1e-6),
                None => assert!(gradient(j).abs() <= lambda + 1e-6),
            }
        }
        let l1: f64 = found.scores.iter().map(|score| score.abs()).sum();
        let loss = residual.iter().map(|r| r * r).sum::<f64>() / (2.0 * N as f64);
        let objective = found.solver.as_ref().unwrap().objective;
        assert!((objective - loss - lambda * l1).abs() < 1e-9);
        assert!(matches!(Grafting::default().stream().err(), Some(Error::InvalidParameter { .. })));
    }
}

/// A repeated feature, and one that comes from others, are superfluous in whichever order they come.
#[test]
fn what_repeats_others_leaves_in_any_order() {
    let columns = [
        noise(3),
        noise(7),
        sum(&[(1.0, 3), (1.0, 500)]),
        sum(&[(1.0, 7), (1.0, 501)]),
        noise(3),
        noise(600),
    ];
    let strict = IndependenceTest::FisherZ;
    for first in 0..6 {
        let order: Vec<usize> = (0..6).map(|at| (first + at * 5) % 6).collect();
        let x = DenseColumns::from_columns(&order.iter().map(|&j| columns[j].clone()).collect::<Vec<_>>());
        let data = Dataset::new(x.unwrap(), Target::real(target()).unwrap()).unwrap();
        let methods: [Box<dyn Selector>; 4] = [
            Box::new(Osfs { test: strict, alpha: 0.001, max_conditioning: 3 }),
            Box::new(FastOsfs { alpha: 0.001, ..FastOsfs::default() }),
            Box::new(FastOsfs {
                alpha: 0.001,
                outer_analysis: fewest_streams::OuterAnalysis::Each,
                ..FastOsfs::default()
            }),
            Box::new(Saola { alpha: 0.001, ..Saola::default() }),
        ];
        for method in methods {
            let found = method.select(&data, Budget::Auto, &Context::default()).unwrap();
            let mut names: Vec<usize> = found.order.iter().map(|&at| order[at] % 4).collect();
            names.sort_unstable();
            assert_eq!(names, [0, 1], "{order:?}");
        }
    }
}

/// The definition, feature by feature, and the pairs that are left.
#[test]
fn saola_compares_pairs() {
    let columns: Vec<Vec<f64>> =
        (0..40).map(|j| sum(&[(1.0, 3 + 4 * (j % 2)), (0.1 * (j % 7) as f64, 700 + j)])).collect();
    let standard = |mut values: Vec<f64>| {
        assert!(fewest_columns::standardise(&mut values));
        values
    };
    let (y, x): (Vec<f64>, Vec<Vec<f64>>) =
        (standard(target()), columns.iter().cloned().map(standard).collect());
    let correlation =
        |a: &[f64], b: &[f64]| (a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / N as f64).abs();
    // Significant at 0.05 by Fisher's z.
    let significant = |r: f64| r.atanh() * ((N - 3) as f64).sqrt() >= 1.959_963_984_540_054;
    let mut expected: Vec<usize> = Vec::new();
    let mut stream = Saola::default().stream().unwrap();
    for (j, column) in columns.iter().enumerate() {
        stream.update(&feature(&format!("x{j}"), column.clone()), &Context::default()).unwrap();
        let own = correlation(&x[j], &y);
        let near = |s: usize| {
            let between = correlation(&x[j], &x[s]).min(1.0);
            significant(between) && between >= own.min(correlation(&x[s], &y))
        };
        let better = |s: usize| correlation(&x[s], &y) >= own;
        if significant(own) && !expected.iter().any(|&s| better(s) && near(s)) {
            expected.retain(|&s| better(s) || !near(s));
            expected.push(j);
        }
        let mut found = answer(&stream).order;
        found.sort_unstable();
        assert_eq!(found, expected, "after {j}");
    }
    assert!(expected.len() < 10);
}

fn rows(first: usize, n: usize, names: &[&str]) -> Dataset {
    let value = |i: usize, j: u64| derive_seed(j, i as u64) as f64 / u64::MAX as f64 - 0.5;
    let columns: Vec<Vec<f64>> = (0..30).map(|j| (first..first + n).map(|i| value(i, j)).collect()).collect();
    let codes = (first..first + n).map(|i| u32::from(value(i, 4) - value(i, 9) > 0.0) % names.len() as u32);
    let names = names.iter().map(|&name| name.to_owned()).collect();
    let target = Target::classes(codes.collect(), names).unwrap();
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), target).unwrap()
}

/// A constant keeps no place that a feature which varies could have, and is not selected; a late change
/// counts.
#[test]
fn ofs_selects_no_constant_of_a_stream() {
    let n = N;
    let late: Vec<f64> = (0..n).map(|i| if i == n - 1 { 6.0 } else { 7.0 }).collect();
    let columns = vec![vec![7.0; n], noise(1), noise(2), late];
    let y: Vec<bool> = (0..n).map(|i| columns[1][i] > columns[2][i]).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&y)).unwrap();
    let rows = |from: usize, to: usize| data.subset(&(from..to).collect::<Vec<_>>()).unwrap();
    let mut stream = Ofs { kept: Some(2), ..Ofs::default() }.stream(0).unwrap();
    stream.update(&rows(0, n - 1), &Context::default()).unwrap();
    let mut found = stream.selection(Budget::Count(2)).unwrap();
    found.order.sort_unstable();
    assert_eq!((found.order, found.status), (vec![1, 2], Status::Ended));
    let mut wide = Ofs { kept: Some(4), ..Ofs::default() }.stream(0).unwrap();
    wide.update(&rows(0, n - 1), &Context::default()).unwrap();
    let chosen = wide.selection(Budget::Count(4)).unwrap();
    assert!(!chosen.order.contains(&0) && !chosen.order.contains(&3), "{chosen:?}");
    wide.update(&rows(n - 1, n), &Context::default()).unwrap();
    let chosen = wide.selection(Budget::Count(4)).unwrap();
    assert!(!chosen.order.contains(&0) && chosen.order.contains(&3), "{chosen:?}");
    let input = OfsInput::Partial { exploration: 0.2 };
    let mut part = Ofs { kept: Some(4), input, ..Ofs::default() }.stream(0).unwrap();
    part.update(&rows(0, n - 1), &Context::default()).unwrap();
    let chosen = part.selection(Budget::Count(4)).unwrap();
    assert!(chosen.order.contains(&1) && !chosen.order.contains(&0), "{chosen:?}");
}

/// Three features of which one class has values larger by a standard deviation, among ten.
#[test]
fn ofs_finds_weak_features_with_its_defaults() {
    let n = 2000;
    let normal = |j: u64| {
        let mut sums = vec![0.0; n];
        for k in 0..12 {
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum += fewest_core::derive_seed(100 * j + k, i as u64) as f64 / u64::MAX as f64 - 0.5;
            }
        }
        sums
    };
    let y: Vec<bool> = (0..n).map(|i| fewest_core::derive_seed(7, i as u64) % 2 == 1).collect();
    let shift = |j: u64, i: usize| if j < 3 && y[i] { 1.0 } else { 0.0 };
    let columns: Vec<Vec<f64>> =
        (0..10).map(|j| normal(j).into_iter().enumerate().map(|(i, x)| x + shift(j, i)).collect()).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&y)).unwrap();
    for seed in 0..10 {
        let context = Context::seeded(seed);
        let found =
            fewest_core::Selector::select(&Ofs::default(), &data, Budget::Count(3), &context).unwrap();
        let mut order = found.order;
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2], "{seed}");
    }
}

#[test]
fn ofs_finds_the_features_of_a_stream_and_never_keeps_more() {
    let partial = OfsInput::Partial { exploration: 0.2 };
    for (input, n) in [(OfsInput::Full, 3000), (partial, 30_000)] {
        let options = Ofs { kept: Some(6), input, margin: 1.0, ..Ofs::default() };
        let mut stream = options.stream(1).unwrap();
        let mut cut = options.stream(1).unwrap();
        for first in (0..n).step_by(500) {
            stream.update(&rows(first, 500, &["no", "yes"]), &Context::default()).unwrap();
            for first in (first..first + 500).step_by(125) {
                cut.update(&rows(first, 125, &["no", "yes"]), &Context::default()).unwrap();
            }
            assert!(stream.weights().iter().filter(|weight| **weight != 0.0).count() <= 6);
            let norm = stream.weights().iter().map(|weight| weight * weight).sum::<f64>().sqrt();
            assert!(norm <= 10.0 + 1e-9, "{norm}");
            assert_eq!(stream.weights(), cut.weights(), "batches do not matter");
            // Weights, the first sample, and which features are kept.
            assert_eq!(stream.held().bytes, 8 * (2 * 30 + stream.held().features));
        }
        let mut found = stream.selection(Budget::Count(2)).unwrap().order;
        found.sort_unstable();
        assert_eq!(found, [4, 9], "{input:?}");
        assert!(stream.weights()[4] > 0.0 && stream.weights()[9] < 0.0);
    }
}

#[test]
fn the_sketch_keeps_its_bound_and_its_size() {
    let options = Fsds { sketch_rows: 6, block_rows: 10, ..Fsds::default() };
    let mut stream = options.stream().unwrap();
    for first in (0..400).step_by(25) {
        stream.update(&rows(first, 25, &["no", "yes"]), &Context::default()).unwrap();
        assert!(stream.held().bytes <= 8 * (6 * 31 + 10 * 30));
    }
    let (sketch, bound) = (stream.sketch().unwrap(), stream.bound().unwrap());
    assert!(sketch.len() < 6 && bound > 0.0);
    let data = rows(0, 400, &["no", "yes"]);
    let columns: Vec<Vec<f64>> =
        (0..30).map(|j| data.x().column(j, &mut Vec::new()).unwrap().to_vec(400)).collect();
    // In single directions and in sums of them.
    let mut total = 0.0;
    for direction in 0..60_u64 {
        let x: Vec<f64> = (0..30)
            .map(|j| match direction {
                0..30 => f64::from(u8::from(j == direction)),
                _ => derive_seed(direction, j) as f64 / u64::MAX as f64 - 0.5,
            })
            .collect();
        let norm: f64 = x.iter().map(|x| x * x).sum();
        let whole: f64 =
            (0..400).map(|i| columns.iter().zip(&x).map(|(c, x)| c[i] * x).sum::<f64>().powi(2)).sum();
        let kept: f64 =
            sketch.iter().map(|row| row.iter().zip(&x).map(|(b, x)| b * x).sum::<f64>().powi(2)).sum();
        let rounding = 1e-9 * whole;
        assert!(kept < whole + rounding && whole < kept + bound * norm + rounding);
        if direction < 30 {
            total += whole - kept;
        }
    }
    // Each merge takes the same off every direction that it keeps.
    assert!(total >= 6.0 * bound * (1.0 - 1e-9), "{total} {bound}");
    // With as many rows as features, nothing is lost.
    let mut exact = Fsds { sketch_rows: 31, ..options }.stream().unwrap();
    exact.update(&data, &Context::default()).unwrap();
    assert!(exact.bound().unwrap() == 0.0);
}

#[test]
fn hostile_samples_are_errors_that_change_nothing() {
    let context = Context::default();
    let ofs = || Ofs { kept: Some(3), ..Ofs::default() }.stream(0).unwrap();
    let mut streams: [Box<dyn StreamSelector>; 2] =
        [Box::new(ofs()), Box::new(Fsds::default().stream().unwrap())];
    for stream in &mut streams {
        stream.update(&rows(0, 50, &["no", "yes"]), &context).unwrap();
        let before = format!("{:?} {:?}", answer(&**stream), stream.held());
        let good = rows(50, 20, &["no", "yes"]);
        let narrow = good.feature_subset(&[0, 1, 2]).unwrap();
        let weighted = good.clone().with_sample_weights(vec![1.0; 20]).unwrap();
        let broken = good.clone().with_x(fewest_core::OnDemand::new(20, 30, |j, out: &mut [f64]| {
            out[7] = if j == 29 { f64::NAN } else { 1.0 };
            Ok(())
        }));
        for hostile in [narrow, weighted, broken.unwrap()] {
            assert!(stream.update(&hostile, &context).is_err());
            assert_eq!(format!("{:?} {:?}", answer(&**stream), stream.held()), before);
        }
    }
    // Labels that appear late, and labels of one class only.
    let mut stream = ofs();
    for names in [&["no"][..], &["no", "yes", "perhaps"]] {
        let error = stream.update(&rows(0, 50, names), &context).unwrap_err();
        assert!(error.to_string().contains("name both classes in every batch"), "{error}");
    }
    stream.update(&rows(0, 50, &["no", "yes"]), &context).unwrap();
    let error = stream.update(&rows(50, 50, &["no", "maybe"]), &context).unwrap_err();
    assert!(error.to_string().contains("no, yes as in the first batch"), "{error}");
    // Features that vary over hundreds of orders of magnitude.
    let huge =
        rows(0, 30, &["no", "yes"]).with_x(fewest_core::OnDemand::new(30, 30, |j, out: &mut [f64]| {
            out.iter_mut().enumerate().for_each(|(i, value)| *value = 1e300 * ((i * j % 7) as f64 - 3.0));
            Ok(())
        }));
    let found = Fsds::default().stream().and_then(|mut stream| stream.update(&huge.unwrap(), &context));
    assert!(matches!(found, Err(Error::Numerical { .. })), "{found:?}");
    let empty = Fsds::default().stream().unwrap().selection(Budget::Auto);
    assert!(matches!(empty, Err(Error::TooFew { .. })));
}
