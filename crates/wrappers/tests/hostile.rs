//! Data and parameters at the edge of what makes sense: an answer that can be read, or an error.

use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Scorer, Selection, Selector, Target};
use fewest_eval::NearestNeighbours;
use fewest_wrappers::{
    Bound, BoundChange, Direction, HsicChange, Kernel, NormChange, RecursiveElimination, Reference, Schedule,
    Sensitivity, SensitivityNoise, SensitivityScorer, SequentialSearch, Stepwise, Training,
};

const N: usize = 24;

fn wave(step: usize) -> Vec<f64> {
    (0..N).map(|i| ((i * step + 3) % 29) as f64 / 14.0 - 1.0).collect()
}

/// What matters, a repetition of it, a constant, and what matters less.
fn data(target: Target) -> Dataset {
    let (a, b) = (wave(7), wave(11));
    let x = DenseColumns::from_columns(&[a.clone(), a, vec![3.0; N], b]).unwrap();
    Dataset::new(x, target).unwrap()
}

fn real() -> Target {
    Target::real(wave(7).iter().zip(wave(11)).map(|(a, b)| a + 0.5 * b).collect()).unwrap()
}

/// One sample of the first class, all others of the second.
fn class_of_one() -> Target {
    Target::from_labels(&(0..N).map(|i| i != 5).collect::<Vec<_>>())
}

fn eliminations(training: &Training) -> Vec<(&'static str, Box<dyn Selector>)> {
    macro_rules! eliminate {
        ($($name:literal: $criterion:expr,)*) => {
            vec![$((
                $name,
                Box::new(RecursiveElimination { training: training.clone(), ..RecursiveElimination::new($criterion) })
                    as Box<dyn Selector>,
            )),*]
        };
    }
    let sensitivity = Sensitivity::new;
    eliminate! {
        "sd-l": sensitivity(SensitivityNoise::Laplace),
        "sd-g": sensitivity(SensitivityNoise::Gaussian),
        "reference": Reference { noise: SensitivityNoise::Laplace },
        "norm": NormChange,
        "hsic": HsicChange,
        "radius-margin": BoundChange::new(Bound::RadiusMargin),
        "radius-margin retrained": BoundChange { retrain: true, ..BoundChange::new(Bound::RadiusMargin) },
        "span": BoundChange::new(Bound::Span),
        "span retrained": BoundChange { retrain: true, ..BoundChange::new(Bound::Span) },
    }
}

fn searches() -> Vec<(&'static str, Box<dyn Selector>)> {
    let search = |direction, floating| -> Box<dyn Selector> {
        let learner = NearestNeighbours::default();
        Box::new(SequentialSearch { floating, ..SequentialSearch::new(learner, direction) })
    };
    vec![
        ("sfs", search(Direction::Forward, false)),
        ("sbs", search(Direction::Backward, false)),
        ("sffs", search(Direction::Forward, true)),
        ("sbfs", search(Direction::Backward, true)),
    ]
}

fn kernels() -> [Training; 2] {
    [Kernel::Linear, Kernel::default()].map(|kernel| Training { kernel, ..Training::default() })
}

/// All three features that vary, each once, with scores that are numbers.
fn check(name: &str, selection: &Selection) {
    let mut order = selection.order.clone();
    order.sort_unstable();
    assert_eq!(order, [0, 1, 3], "{name}: {selection:?}");
    assert!(selection.scores.iter().all(|score| score.is_finite()), "{name}: {selection:?}");
    assert!(selection.notes.iter().any(|note| note.contains("1 feature is constant")), "{name}");
}

#[test]
fn repetitions_and_constants_are_ranked_once_and_not_at_all() {
    for training in kernels() {
        for target in [real(), Target::from_labels(&wave(7).iter().map(|a| *a > 0.0).collect::<Vec<_>>())] {
            let data = data(target.clone());
            for (name, method) in eliminations(&training).iter().chain(&searches()) {
                // As many as there are features: the constant one cannot be among them.
                check(name, &method.select(&data, Budget::Count(4), &Context::default()).unwrap());
            }
        }
    }
}

#[test]
fn a_class_of_one_sample_is_ranked() {
    let data = data(class_of_one());
    for training in kernels() {
        for (name, method) in eliminations(&training).iter().chain(&searches()) {
            check(name, &method.select(&data, Budget::Count(3), &Context::default()).unwrap());
        }
    }
}

#[test]
fn a_fold_that_holds_all_of_a_class_is_told_about() {
    let elimination = RecursiveElimination {
        schedule: Schedule { folds: Some(4), ..Schedule::default() },
        ..RecursiveElimination::new(NormChange)
    };
    let data = data(class_of_one());
    let error = elimination.select(&data, Budget::Auto, &Context::default()).unwrap_err();
    assert!(matches!(error, Error::InvalidParameter { name: "folds", .. }), "{error}");
    assert!(error.to_string().contains("classes"), "{error}");
}

#[test]
fn targets_that_say_nothing_are_refused() {
    for target in [Target::real(vec![1e9; N]).unwrap(), Target::from_labels(&["a"; N])] {
        let data = data(target.clone());
        for (name, method) in eliminations(&Training::default()).iter().chain(&searches()) {
            let error = method.select(&data, Budget::Count(1), &Context::default()).unwrap_err();
            assert!(matches!(error, Error::TooFew { minimum: 2, found: 1, .. }), "{name}: {error}");
        }
    }
    let flat = data(Target::real(vec![0.1; N]).unwrap());
    let error = Stepwise::default().select(&flat, Budget::Count(1), &Context::default()).unwrap_err();
    assert!(matches!(error, Error::TooFew { minimum: 2, found: 1, .. }), "{error}");
}

#[test]
fn no_support_vectors_and_costs_of_all_sizes_give_numbers() {
    let data = data(real());
    for kernel in [Kernel::Linear, Kernel::default()] {
        for (c, epsilon) in [(1.0, 1e6), (1e-300, 0.1), (10.0, 0.01)] {
            // Where all or none of the samples matter to the machine, rounding ends training sooner.
            let training = Training { kernel, c, epsilon, tolerance: 1e-6, ..Training::default() };
            for (name, method) in eliminations(&training) {
                check(name, &method.select(&data, Budget::Count(3), &Context::default()).unwrap());
            }
        }
    }
    let training = Training { epsilon: 1e6, ..Training::default() };
    for (noise, nothing) in [(SensitivityNoise::Laplace, 1.0), (SensitivityNoise::Gaussian, 0.5)] {
        let sensitivity = Sensitivity::new(noise);
        let scorer = SensitivityScorer { sensitivity, training: training.clone() };
        assert_eq!(scorer.score(&data, &Context::default()).unwrap().values, [nothing; 4]);
    }
}

#[test]
fn values_that_are_none_are_located() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut column = wave(11);
        column[4] = bad;
        let x = DenseColumns::from_columns(&[wave(7), column]).unwrap();
        let data = Dataset::new(x, real()).unwrap();
        let stepwise: (&str, Box<dyn Selector>) = ("stepwise", Box::new(Stepwise::default()));
        for (name, method) in eliminations(&Training::default()).iter().chain(&searches()).chain([&stepwise])
        {
            let error = method.select(&data, Budget::Count(1), &Context::default()).unwrap_err();
            assert!(matches!(error, Error::NonFinite { .. }), "{name}: {error}");
        }
    }
}
