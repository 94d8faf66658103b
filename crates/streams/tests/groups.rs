//! Laws of methods to which groups of features arrive.

use fewest_core::method::Parameters;
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Groups, OnDemand, Selection, Selector,
    StreamSelector, Target, derive_seed,
};
use fewest_streams::{ArrivingGroups, Gfssf, GroupCost, METHODS, Ogfs, Outcome};
use fewest_testkit::conformance::{check_by_place, problem};

const N: usize = 240;

fn noise(j: u64) -> Vec<f64> {
    (0..N as u64).map(|i| derive_seed(j, i) as f64 / u64::MAX as f64 - 0.5).collect()
}

/// Classes of what features 3 and 7 tell.
fn classes(n_classes: usize) -> Target {
    let sum = noise(3).into_iter().zip(noise(7)).map(|(a, b)| a + 1.5 * b);
    let labels: Vec<u8> = match n_classes {
        2 => sum.map(|value| u8::from(value > 0.0)).collect(),
        _ => sum.map(|value| u8::from(value > -0.3) + u8::from(value > 0.3)).collect(),
    };
    Target::from_labels(&labels)
}

fn group(features: &[u64], target: &Target) -> Dataset {
    let columns: Vec<Vec<f64>> = features.iter().map(|&j| noise(j)).collect();
    let names = features.iter().map(|j| format!("x{j}")).collect();
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), target.clone())
        .unwrap()
        .with_feature_names(names)
        .unwrap()
}

fn answer(stream: &dyn StreamSelector) -> Selection {
    stream.selection(Budget::Auto).unwrap()
}

#[test]
fn they_conform() {
    let cases: [(&str, &[&str]); 6] = [
        ("ogfs", &[]),
        ("ogfs", &["groups=consecutive", "width=3", "lambda=0.05"]),
        ("ogfs", &["gain=0.5", "alpha=0.5"]),
        ("gfssf", &["bins=2", "alpha=0.2"]),
        ("gfssf", &["bins=2", "alpha=0.2", "cost=groups", "groups=consecutive", "width=3"]),
        ("gfssf", &["bins=2", "alpha=0.3", "discretisation=equal-frequency"]),
    ];
    for (id, parameters) in cases {
        let method = METHODS.iter().find(|method| method.id == id).unwrap();
        let parameters = Parameters::parse(method, parameters).unwrap();
        let selector = method.build(&parameters).unwrap().into_selector();
        check_by_place(&*selector, &problem(true), 3);
        if id == "gfssf" {
            check_by_place(&*selector, &problem(false), 3);
        }
    }
}

/// The criteria, from samples and classes as they are, and the optimum of the model.
#[test]
fn ogfs_takes_what_its_criteria_say_and_keeps_what_its_model_needs() {
    for n_classes in [2, 3] {
        let target = classes(n_classes);
        let Target::Class(found) = &target else { unreachable!() };
        let codes: Vec<usize> = found.codes().iter().map(|code| *code as usize).collect();
        let options = Ogfs { lambda: 0.02, tolerance: 1e-12, ..Ogfs::default() };
        let mut stream = options.stream().unwrap();
        for first in (0..40).step_by(5) {
            let features: Vec<u64> = (first..first + 5).collect();
            stream.update(&group(&features, &target), &Context::default()).unwrap();
            let (mut between, mut within, mut scores) = (0.0, 0.0, Vec::<f64>::new());
            for (verdict, &j) in stream.last().iter().zip(&features) {
                assert_eq!(verdict.feature as u64, j);
                let mut x = noise(j);
                assert!(fewest_columns::standardise(&mut x));
                let of = |class: usize| -> Vec<f64> {
                    x.iter().zip(&codes).filter(|(_, code)| **code == class).map(|(x, _)| *x).collect()
                };
                let (mut b, mut w) = (0.0, 0.0);
                for own in (0..n_classes).map(of) {
                    let mean = own.iter().sum::<f64>() / own.len() as f64;
                    b += own.len() as f64 * mean * mean;
                    w += own.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
                }
                assert!((verdict.value - b / w).abs() < 1e-12);
                let before = if scores.is_empty() { 0.0 } else { between / within };
                let better = (between + b) / (within + w) - before > options.gain;
                let size = scores.len() as f64;
                let mean = scores.iter().sum::<f64>() / size;
                let sd = (scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (size - 1.0)).sqrt();
                let t = (b / w - mean) * size.sqrt() / sd;
                // Largest t that is not significant, one-sided at 0.05, for 1 to 3 degrees of freedom.
                let critical = [f64::INFINITY, f64::INFINITY, 6.313_751_5, 2.919_985_6, 2.353_363_4];
                let is_taken = better || t > critical[scores.len()];
                assert_eq!(verdict.outcome != Outcome::Irrelevant, is_taken, "{j}");
                if is_taken {
                    (between, within) = (between + b, within + w);
                    scores.push(b / w);
                }
            }
        }
        let found = answer(&stream);
        assert!(found.order[..2].contains(&3) && found.order[..2].contains(&7), "{:?}", found.order);
        let solver = found.solver.clone().unwrap();
        assert!(solver.certificate.value() <= 1e-12);
        assert!(stream.kept().len() < 30, "{:?}", stream.kept());
        if n_classes == 2 {
            let objective = check_lasso(&found.order, &found.scores, &codes, options.lambda);
            assert!((solver.objective - objective).abs() < 1e-10 * objective, "{objective}");
        }
    }
}

/// No subgradient of `1/(2n) ‖y − X β‖² + λ ‖β‖₁` over the features kept is larger than rounding. Returns the
/// objective.
fn check_lasso(order: &[usize], scores: &[f64], codes: &[usize], lambda: f64) -> f64 {
    let standard = |mut values: Vec<f64>| {
        assert!(fewest_columns::standardise(&mut values));
        values
    };
    let mut residual = standard(codes.iter().map(|code| *code as f64).collect());
    let columns: Vec<Vec<f64>> = order.iter().map(|&j| standard(noise(j as u64))).collect();
    for (column, score) in columns.iter().zip(scores) {
        residual.iter_mut().zip(column).for_each(|(left, x)| *left -= score * x);
    }
    for (column, score) in columns.iter().zip(scores) {
        let gradient = column.iter().zip(&residual).map(|(x, r)| x * r).sum::<f64>() / N as f64;
        assert!((gradient - lambda * score.signum()).abs() < 1e-5, "{gradient}");
    }
    let l1: f64 = scores.iter().map(|score| score.abs()).sum();
    residual.iter().map(|r| r * r).sum::<f64>() / (2.0 * N as f64) + lambda * l1
}

/// The mutual information of bins of equal width with the classes, from frequencies.
fn information(features: &[u64], codes: &[u32]) -> f64 {
    let levels = |j: u64| -> Vec<u64> {
        let x = noise(j);
        let (low, high) = x.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
        x.iter().map(|x| (5.0 * (x - low) / (high - low)).floor().min(4.0) as u64).collect()
    };
    let columns: Vec<Vec<u64>> = features.iter().map(|&j| levels(j)).collect();
    let state = |i: usize| columns.iter().map(|column| column[i]).collect::<Vec<u64>>();
    let share = |has: &dyn Fn(usize) -> bool| (0..N).filter(|&i| has(i)).count() as f64 / N as f64;
    (0..N)
        .map(|i| {
            let both = share(&|k| state(k) == state(i) && codes[k] == codes[i]);
            (both / (share(&|k| state(k) == state(i)) * share(&|k| codes[k] == codes[i]))).ln() / N as f64
        })
        .sum()
}

#[test]
fn gfssf_scores_add_up_and_repeats_leave() {
    let target = classes(2);
    let Target::Class(found) = &target else { unreachable!() };
    let codes = found.codes().to_vec();
    // The third group repeats what the first two tell.
    let groups: [&[u64]; 3] = [&[1, 3, 5], &[7, 8], &[3, 7]];
    for (first, cost) in
        [(0, GroupCost::Features), (1, GroupCost::Features), (2, GroupCost::Features), (0, GroupCost::Groups)]
    {
        let mut stream = Gfssf { alpha: 0.001, cost, ..Gfssf::default() }.stream().unwrap();
        let mut arrived = Vec::new();
        for at in 0..3 {
            let own = groups[(first + at) % 3];
            let names = own.iter().map(|j| format!("{j} of group {at}")).collect();
            let own_data = group(own, &target).with_feature_names(names).unwrap();
            stream.update(&own_data, &Context::default()).unwrap();
            arrived.extend_from_slice(own);
        }
        let found = answer(&stream);
        let features: Vec<u64> = found.order.iter().map(|&place| arrived[place]).collect();
        let mut sorted = features.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [3, 7], "{first} {cost:?}");
        let mut before = 0.0;
        for (at, score) in found.scores.iter().enumerate() {
            let all = information(&features[..=at], &codes);
            assert!((score - (all - before)).abs() < 1e-12, "{score} {all} {before}");
            before = all;
        }
        if cost == GroupCost::Groups {
            assert_eq!(stream.groups().len(), 1, "one group costs less than two: {:?}", stream.groups());
        }
    }
}

/// Which groups cover most is found again by trying all sets of three groups.
#[test]
fn gfssf_takes_the_groups_that_tell_most() {
    let target = classes(2);
    let Target::Class(found) = &target else { unreachable!() };
    let codes = found.codes().to_vec();
    let groups: [&[u64]; 3] = [&[20, 21], &[3, 22], &[7, 23]];
    let mut stream = Gfssf { alpha: 0.001, ..Gfssf::default() }.stream().unwrap();
    for own in groups {
        stream.update(&group(own, &target), &Context::default()).unwrap();
    }
    let found: Vec<u64> = answer(&stream).order.iter().map(|&place| groups.concat()[place]).collect();
    let told = information(&found, &codes);
    let sets = (1..8_u32).map(|set| -> Vec<u64> {
        (0..3)
            .filter(|g| set >> g & 1 == 1)
            .flat_map(|g| [3, 7].into_iter().filter(move |j| groups[g].contains(j)))
            .collect()
    });
    let best = sets.map(|set| information(&set, &codes)).fold(0.0, f64::max);
    assert!((told - best).abs() < 1e-12, "{told} {best}");
}

/// Inside a group the order of the features does not matter to gfssf.
#[test]
fn gfssf_takes_a_group_as_a_set() {
    let target = classes(3);
    let orders: [[u64; 6]; 3] = [[1, 2, 3, 7, 8, 9], [9, 8, 7, 3, 2, 1], [7, 1, 9, 3, 8, 2]];
    let chosen: Vec<(Vec<u64>, Vec<f64>)> = orders
        .iter()
        .map(|order| {
            let mut stream = Gfssf { alpha: 0.01, ..Gfssf::default() }.stream().unwrap();
            stream.update(&group(order, &target), &Context::default()).unwrap();
            let found = answer(&stream);
            (found.order.iter().map(|&place| order[place]).collect(), found.scores)
        })
        .collect();
    assert_eq!(chosen[0], chosen[1]);
    assert_eq!(chosen[0], chosen[2]);
    assert!(chosen[0].0.contains(&3) && chosen[0].0.contains(&7), "{chosen:?}");
}

/// A table by its groups is the stream of these groups; features in a row are groups, too.
#[test]
fn tables_are_streams_of_their_groups() {
    let (target, context) = (classes(2), Context::default());
    let all: Vec<u64> = (0..30).collect();
    let data = group(&all, &target);
    let grouped =
        data.clone().with_feature_groups(Groups::partition((0..30).map(|j| j / 6).collect())).unwrap();
    let selectors = |groups: ArrivingGroups| -> [Box<dyn Selector>; 2] {
        [Box::new(Ogfs { groups, ..Ogfs::default() }), Box::new(Gfssf { groups, ..Gfssf::default() })]
    };
    let streams: [Box<dyn StreamSelector>; 2] =
        [Box::new(Ogfs::default().stream().unwrap()), Box::new(Gfssf::default().stream().unwrap())];
    for (at, mut stream) in streams.into_iter().enumerate() {
        for features in all.chunks(6) {
            stream.update(&group(features, &target), &context).unwrap();
        }
        let expected = answer(&*stream);
        let given = selectors(ArrivingGroups::Given)[at].select(&grouped, Budget::Auto, &context).unwrap();
        let in_a_row = ArrivingGroups::Consecutive { width: 6 };
        let row = selectors(in_a_row)[at].select(&data, Budget::Auto, &context).unwrap();
        // Groups of another width do not count where features in a row are asked for.
        let other = data.clone().with_feature_groups(Groups::partition(vec![0; 30])).unwrap();
        let other = selectors(in_a_row)[at].select(&other, Budget::Auto, &context).unwrap();
        for found in [given, row, other] {
            assert_eq!((found.order, found.scores), (expected.order.clone(), expected.scores.clone()));
        }
        let overlapping = Groups::overlapping(30, vec![vec![0, 1], vec![1, 2]]).unwrap();
        let overlapping = data.clone().with_feature_groups(overlapping).unwrap();
        let found = selectors(ArrivingGroups::Given)[at].select(&overlapping, Budget::Auto, &context);
        assert!(matches!(found, Err(Error::Unsupported { .. })), "{found:?}");
    }
}

/// Features that come one by one, or in any parts, are the groups in a row of the table at any time: a group
/// that is not complete counts as if it ended there, and is used once when it is.
#[test]
fn features_one_by_one_are_groups_in_a_row() {
    let (target, context) = (classes(2), Context::default());
    let all: Vec<u64> = (0..30).collect();
    let groups = ArrivingGroups::Consecutive { width: 7 };
    let (ogfs, gfssf) = (Ogfs { groups, ..Ogfs::default() }, Gfssf { groups, ..Gfssf::default() });
    let tables: [&dyn Selector; 2] = [&ogfs, &gfssf];
    for part in [1, 4, 9, 30] {
        let streams: [Box<dyn StreamSelector>; 2] =
            [Box::new(ogfs.stream().unwrap()), Box::new(gfssf.stream().unwrap())];
        for (mut stream, table) in streams.into_iter().zip(tables) {
            assert_eq!(stream.group_width(), 7);
            let mut n_arrived = 0;
            for features in all.chunks(part) {
                stream.update(&group(features, &target), &context).unwrap();
                n_arrived += features.len();
                let found = answer(&*stream);
                let expected = group(&all[..n_arrived], &target);
                let expected = table.select(&expected, Budget::Auto, &context).unwrap();
                assert_eq!((&found.order, &found.scores), (&expected.order, &expected.scores));
                assert_eq!(found.n_features, n_arrived);
                let note = format!("the last group has {} of 7 features so far", n_arrived % 7);
                assert_eq!(found.notes.contains(&note), n_arrived % 7 > 0, "{:?}", found.notes);
                assert!(!expected.notes.iter().any(|note| note.contains("so far")));
                // What waits is held, with its name, and refused as what is selected is.
                let waiting = n_arrived - n_arrived % 7..n_arrived;
                assert!(stream.held().features >= waiting.len());
                for j in found.order.iter().copied().chain(waiting) {
                    assert_eq!(stream.name(j), Some(format!("x{j}").as_str()));
                    assert!(stream.update(&group(&[j as u64], &target), &context).is_err());
                }
            }
        }
    }
}

/// Memory is that of what is kept, and gfssf keeps no more states than samples can tell.
#[test]
fn memory_is_that_of_what_is_kept() {
    let (target, context) = (classes(2), Context::default());
    let mut gfssf = Gfssf::default().stream().unwrap();
    let mut ogfs = Ogfs { lambda: 0.1, ..Ogfs::default() }.stream().unwrap();
    for first in (0..1500).step_by(3) {
        let features: Vec<u64> = (first..first + 3).collect();
        gfssf.update(&group(&features, &target), &context).unwrap();
        ogfs.update(&group(&features, &target), &context).unwrap();
        assert!(gfssf.held().features <= 6 && gfssf.held().bytes <= 8 * N * 10, "{:?}", gfssf.held());
        assert_eq!(gfssf.held().features, answer(&gfssf).order.len());
        let held = ogfs.held();
        assert_eq!(held.bytes, 8 * (held.features * (N + 1) + N));
        assert!(held.features <= 60, "{held:?}");
    }
    assert!(answer(&ogfs).order[..2].contains(&3) && answer(&ogfs).order[..2].contains(&7));
    assert_eq!(answer(&ogfs).n_features, 1500);
}

#[test]
fn hostile_groups_are_errors_that_change_nothing() {
    let (target, context) = (classes(2), Context::default());
    let streams: [Box<dyn StreamSelector>; 2] =
        [Box::new(Ogfs::default().stream().unwrap()), Box::new(Gfssf::default().stream().unwrap())];
    for mut stream in streams {
        stream.update(&group(&[1, 3], &target), &context).unwrap();
        let before = format!("{:?} {:?}", answer(&*stream), stream.held());
        let good = group(&[7, 50], &target);
        let with = |value: f64| {
            let broken = OnDemand::new(N, 2, move |j, out: &mut [f64]| {
                out.copy_from_slice(&noise(7 + j as u64));
                out[11] = if j == 1 { value } else { out[11] };
                Ok(())
            });
            good.clone().with_x(broken).unwrap()
        };
        for hostile in [
            with(f64::NAN),
            with(f64::NEG_INFINITY),
            good.subset(&(0..N - 1).collect::<Vec<usize>>()).unwrap(),
            group(&[7], &classes(3)),
            good.clone().with_sample_weights(vec![1.0; N]).unwrap(),
            group(&[7, 3], &target),
            good.clone().with_feature_names(vec!["same".to_owned(); 2]).unwrap(),
            good.clone().with_target(Target::None).unwrap(),
        ] {
            let error = stream.update(&hostile, &context).unwrap_err().to_string();
            assert!(!error.contains('\n'), "{error}");
            assert_eq!(format!("{:?} {:?}", answer(&*stream), stream.held()), before, "{error}");
        }
        stream.update(&good, &context).unwrap();
        assert!(answer(&*stream).order.contains(&2) && answer(&*stream).n_features == 4);
    }
    // Levels are what gfssf is about; a linear model has no use for codes.
    let levels: Vec<f64> = (0..N).map(|i| (i % 3) as f64).collect();
    let labels: Vec<bool> = (0..N).map(|i| i % 3 == 1).collect();
    let names = ["low", "middle", "high"].map(str::to_owned).to_vec();
    let data = Dataset::new(DenseColumns::from_columns(&[levels]).unwrap(), Target::from_labels(&labels))
        .and_then(|data| data.with_feature_kinds(vec![FeatureKind::Categorical { levels: names }]))
        .unwrap();
    let found = Ogfs::default().select(&data, Budget::Auto, &context);
    assert!(matches!(found, Err(Error::Unsupported { .. })), "{found:?}");
    assert_eq!(Gfssf::default().select(&data, Budget::Auto, &context).unwrap().order, [0]);
    for target in [Target::real(noise(3)).unwrap(), Target::None, Target::from_labels(&[1; N])] {
        let found = Ogfs::default().select(&group(&[7], &target), Budget::Auto, &context);
        assert!(matches!(found, Err(Error::UnsupportedTarget { .. })), "{found:?}");
    }
    // With too few samples for a single test the answer is empty and says why.
    let few = group(&[3, 7], &classes(2)).subset(&(0..12).collect::<Vec<usize>>()).unwrap();
    let found = Gfssf::default().select(&few, Budget::Count(1), &context).unwrap();
    assert!(found.order.is_empty() && found.notes[0].contains("fewer bins"), "{:?}", found.notes);
}
