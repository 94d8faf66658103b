//! Windows, decay and drift: scores from their definitions, delays and false alarms on generated streams.

use fewest_core::{
    Accumulator, Budget, Context, Dataset, DenseColumns, Error, FadingScore, FeatureKind, StreamSelector,
    Target, derive_seed,
};
use fewest_streams::{
    Alarm, ClassSums, CorrelationSums, DriftOptions, Drifting, Fading, FadingSums, ScoreSums, Sliding,
    StreamSums,
};

const D: usize = 20;

fn uniform(seed: u64, i: u64) -> f64 {
    derive_seed(seed, i) as f64 / u64::MAX as f64 - 0.5
}

/// How much of the target features 10 to 14 tell at sample `i`, in place of 0 to 4.
#[derive(Clone, Copy, Debug)]
enum Change {
    None,
    Abrupt(u64),
    Slow(u64, u64),
}

impl Change {
    fn share(self, i: u64) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Abrupt(at) => f64::from(u8::from(i >= at)),
            Self::Slow(from, to) => (i.saturating_sub(from) as f64 / (to - from) as f64).min(1.0),
        }
    }
}

/// Samples `rows` of a stream: features of one unit, and a target of five of them and noise.
fn samples(seed: u64, rows: std::ops::Range<u64>, change: Change, by_class: bool) -> Dataset {
    let x = |j: usize, i: u64| uniform(derive_seed(seed, j as u64), i);
    let columns: Vec<Vec<f64>> = (0..D).map(|j| rows.clone().map(|i| x(j, i)).collect()).collect();
    let y: Vec<f64> = rows
        .map(|i| {
            let share = change.share(i);
            let of = |first: usize| (first..first + 5).map(|j| x(j, i)).sum::<f64>();
            (1.0 - share) * of(0) + share * of(10) + x(99, i)
        })
        .collect();
    let target = if by_class {
        let codes = y.iter().map(|y| u32::from(*y > 0.0)).collect();
        Target::classes(codes, vec!["no".to_owned(), "yes".to_owned()]).unwrap()
    } else {
        Target::real(y).unwrap()
    };
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), target).unwrap()
}

/// All samples in one table, and the same in batches of changing size.
fn batches(n: u64, by_class: bool) -> (Dataset, Vec<Dataset>) {
    let whole = samples(1, 0..n, Change::Abrupt(n / 2), by_class);
    let (mut all, mut first) = (Vec::new(), 0);
    for size in [1, 7, 64, 30].into_iter().cycle() {
        if first >= n as usize {
            break;
        }
        let end = (first + size).min(n as usize);
        all.push(whole.subset(&(first..end).collect::<Vec<usize>>()).unwrap());
        first = end;
    }
    (whole, all)
}

/// The scores by their formulas, from values and weights.
fn by_formula(data: &Dataset, weights: &[f64]) -> Vec<f64> {
    let n = data.n_samples();
    let total: f64 = weights.iter().sum();
    let mean = |values: &[f64]| values.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>() / total;
    let column = |j: usize| {
        let mut column = vec![0.0; n];
        data.x().copy_column(j, &mut column).unwrap();
        column
    };
    let centred = |values: &[f64]| -> Vec<f64> {
        let mean = mean(values);
        values.iter().map(|value| value - mean).collect()
    };
    let product = |a: &[f64], b: &[f64]| -> f64 { (0..n).map(|i| weights[i] * a[i] * b[i]).sum() };
    match data.target() {
        Target::Real(outputs) => {
            let y = centred(outputs.output(0));
            (0..data.n_features())
                .map(|j| {
                    let x = centred(&column(j));
                    product(&x, &y).abs() / (product(&x, &x) * product(&y, &y)).sqrt()
                })
                .collect()
        }
        Target::Class(classes) => (0..data.n_features())
            .map(|j| {
                let x = centred(&column(j));
                let (mut between, mut within) = (0.0, 0.0);
                for class in 0..2 {
                    let own: Vec<usize> = (0..n).filter(|&i| classes.codes()[i] == class).collect();
                    let weight: f64 = own.iter().map(|&i| weights[i]).sum();
                    let mean = own.iter().map(|&i| weights[i] * x[i]).sum::<f64>() / weight;
                    between += weight * mean * mean;
                    within += own.iter().map(|&i| weights[i] * (x[i] - mean).powi(2)).sum::<f64>();
                }
                between / (within / (total - 2.0))
            })
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-10 * (1.0 + expected.abs()), "{found} and {expected}");
    }
}

fn windows_are_their_samples<A: StreamSums>(empty: A, by_class: bool) {
    let (whole, parts) = batches(900, by_class);
    let mut sliding = Sliding::new(empty, 120, 40).unwrap();
    let (mut seen, mut most) = (0, 0);
    for part in parts {
        sliding.update(&part, &Context::default()).unwrap();
        seen += part.n_samples();
        let n = sliding.n_samples();
        let n_whole = seen / 40 * 40;
        assert_eq!(n, seen - n_whole + n_whole.min(120));
        if n > 60 {
            let own = whole.subset(&(seen - n..seen).collect::<Vec<usize>>()).unwrap();
            close(&sliding.scores().unwrap().values, &by_formula(&own, &vec![1.0; n]));
        }
        most = most.max(sliding.held().bytes);
        assert_eq!(sliding.held().features, D);
    }
    assert!(most <= 8 * ((3 + 1) * (6 * D + 6) + 40 * (D + 1)), "{most}");
    let mut best = sliding.selection(Budget::Count(5)).unwrap().order;
    best.sort_unstable();
    assert_eq!(best, [10, 11, 12, 13, 14]);
}

#[test]
fn a_window_counts_its_samples_and_no_other() {
    windows_are_their_samples(CorrelationSums::default(), false);
    windows_are_their_samples(ClassSums::default(), true);
    for (window, block) in [(0, 5), (12, 5), (5, 0)] {
        assert!(Sliding::new(ClassSums::default(), window, block).is_err());
    }
}

fn weights_decay<A: FadingSums>(empty: A, by_class: bool, block: usize) {
    let (whole, parts) = batches(500, by_class);
    let mut fading = Fading::new(empty, 60.0, block).unwrap();
    let mut seen = 0;
    for part in parts {
        fading.update(&part, &Context::default()).unwrap();
        seen += part.n_samples();
        let weights: Vec<f64> =
            (0..seen).map(|i| (-((seen / block - i / block) as f64) * block as f64 / 60.0).exp2()).collect();
        let all: f64 = weights.iter().sum();
        assert!((fading.weight() - all).abs() < 1e-9);
        let most = block as f64 / (1.0 - (-(block as f64) / 60.0).exp2());
        assert!(fading.weight() < most + 1e-9);
        if seen > 60 {
            let own = whole.subset(&(0..seen).collect::<Vec<usize>>()).unwrap();
            close(&fading.scores().unwrap().values, &by_formula(&own, &weights));
        }
        assert!(fading.held().bytes <= 8 * (2 * (6 * D + 6) + block * (D + 1)));
    }
}

#[test]
fn weights_halve_every_half_life() {
    for block in [1, 20, 33] {
        weights_decay(CorrelationSums::default(), false, block);
        weights_decay(ClassSums::default(), true, block);
    }
    for half_life in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Fading::new(ClassSums::default(), half_life, 5).is_err());
    }
}

/// Sums of parts are those of the whole; a constant feature has score 0, whatever its value.
fn parts_add_up<A: StreamSums>(empty: A, by_class: bool, constant: f64) {
    let (whole, parts) = batches(300, by_class);
    let with_constant = |data: &Dataset| {
        let mut columns: Vec<Vec<f64>> =
            (0..D).map(|j| data.x().column(j, &mut Vec::new()).unwrap().to_vec(data.n_samples())).collect();
        columns[7].fill(constant);
        data.clone().with_x(DenseColumns::from_columns(&columns).unwrap()).unwrap()
    };
    let mut all = empty.clone();
    for part in &parts {
        let mut own = empty.clone();
        own.update(&with_constant(part)).unwrap();
        all.merge(own).unwrap();
    }
    let found = all.scores().unwrap().values;
    let mut expected = by_formula(&with_constant(&whole), &[1.0; 300]);
    expected[7] = 0.0;
    close(&found, &expected);
    assert_eq!((found[7], all.weight()), (0.0, 300.0));
}

#[test]
fn sums_can_be_merged() {
    for constant in [0.1, 1e9 + 0.3] {
        parts_add_up(CorrelationSums::default(), false, constant);
        parts_add_up(ClassSums::default(), true, constant);
    }
}

/// What came of a stream: alarms after the change, before it, and blocks tested.
struct Watched {
    first: Option<Alarm>,
    n_alarms: u64,
    n_blocks: u64,
}

fn watch<A: FadingSums>(empty: A, seed: u64, n: u64, change: Change, by_class: bool) -> Watched {
    let options = DriftOptions { watched: 5, ..DriftOptions::default() };
    let mut drifting = Drifting::new(empty, options).unwrap();
    let mut first = None;
    for start in (0..n).step_by(50) {
        drifting.update(&samples(seed, start..start + 50, change, by_class), &Context::default()).unwrap();
        first = first.or_else(|| drifting.alarm().cloned());
        // Sums of the past, of a few buckets for each power of two of blocks, and what is being filled.
        assert!(drifting.held().bytes <= 8 * ((2 + 5 * 10) * (6 * D + 6) + 50 * (D + 1)));
    }
    Watched { first, n_alarms: drifting.n_alarms(), n_blocks: n / 50 - 20 }
}

fn both(seed: u64, n: u64, change: Change) -> [Watched; 2] {
    [
        watch(CorrelationSums::default(), seed, n, change, false),
        watch(ClassSums::default(), seed, n, change, true),
    ]
}

/// The figures of docs/drift.md, which `--nocapture` prints. No stream of the hundred may have an alarm at
/// more blocks than `delta` says, and not more than five of them any.
#[test]
fn streams_without_change_rarely_raise_an_alarm() {
    let (mut n_alarms, mut n_blocks, mut n_streams) = (0, 0, 0);
    for seed in 0..50 {
        for found in both(seed, 20_000, Change::None) {
            n_alarms += found.n_alarms;
            n_blocks += found.n_blocks;
            n_streams += u64::from(found.n_alarms > 0);
        }
    }
    println!("no change: {n_streams} of 100 streams with an alarm, {n_alarms} at {n_blocks} blocks tested");
    assert!(n_alarms as f64 <= 0.002 * n_blocks as f64, "{n_alarms} of {n_blocks}");
    assert!(n_streams <= 5, "{n_streams}");
}

/// Delays, in samples after the change begins: smallest, median, largest.
fn delays(change: Change, at: u64, n: u64) -> [u64; 3] {
    let mut delays = Vec::new();
    for seed in 100..120 {
        for found in both(seed, n, change) {
            let alarm = found.first.unwrap_or_else(|| panic!("no alarm: {change:?}, seed {seed}"));
            assert!(alarm.sample > at, "an alarm before the change: {alarm:?}");
            assert!(alarm.after > alarm.before && alarm.rank_correlation < 0.9, "{alarm:?}");
            assert!(!alarm.left.is_empty() && alarm.left.iter().all(|j| *j < 5), "{alarm:?}");
            assert_eq!(alarm.left.len(), alarm.entered.len());
            delays.push(alarm.sample - at);
        }
    }
    delays.sort_unstable();
    [delays[0], delays[delays.len() / 2], delays[delays.len() - 1]]
}

#[test]
fn an_abrupt_change_raises_an_alarm_within_1500_samples() {
    let found = delays(Change::Abrupt(6000), 6000, 9000);
    println!("abrupt change: delays of {found:?} samples");
    assert!(found[2] <= 1500, "{found:?}");
}

#[test]
fn a_slow_change_raises_an_alarm_before_it_is_over() {
    let found = delays(Change::Slow(6000, 10_000), 6000, 13_000);
    println!("change over 4000 samples: delays of {found:?} samples");
    assert!(found[2] <= 4000, "{found:?}");
}

/// After an alarm the answer is that of the samples after the change.
#[test]
fn after_an_alarm_the_old_samples_are_forgotten() {
    let options = DriftOptions { watched: 5, ..DriftOptions::default() };
    let mut drifting = Drifting::new(CorrelationSums::default(), options).unwrap();
    let change = Change::Abrupt(5000);
    let data = samples(3, 0..9000, change, false);
    drifting.update(&data.subset(&(0..5000).collect::<Vec<usize>>()).unwrap(), &Context::default()).unwrap();
    let mut best = drifting.selection(Budget::Count(5)).unwrap().order;
    best.sort_unstable();
    assert_eq!(best, [0, 1, 2, 3, 4]);
    assert_eq!((drifting.since(), drifting.n_alarms()), (0, 0));
    drifting
        .update(&data.subset(&(5000..9000).collect::<Vec<usize>>()).unwrap(), &Context::default())
        .unwrap();
    let mut best = drifting.selection(Budget::Count(5)).unwrap().order;
    best.sort_unstable();
    assert_eq!(best, [10, 11, 12, 13, 14]);
    let since = drifting.since();
    assert!(since >= 4700 && drifting.n_alarms() >= 1, "{since}");
    let own = data.subset(&(since as usize..9000).collect::<Vec<usize>>()).unwrap();
    close(&drifting.scores().unwrap().values, &by_formula(&own, &vec![1.0; 9000 - since as usize]));
}

#[test]
fn hostile_samples_are_errors_that_change_nothing() {
    let context = Context::default();
    let good = samples(5, 0..70, Change::None, true);
    let options = DriftOptions { watched: 5, block: 30, reference: 2, ..DriftOptions::default() };
    let streams: [Box<dyn StreamSelector>; 3] = [
        Box::new(Sliding::new(ClassSums::default(), 60, 30).unwrap()),
        Box::new(Fading::new(ClassSums::default(), 50.0, 30).unwrap()),
        Box::new(Drifting::new(ClassSums::default(), options).unwrap()),
    ];
    let mut broken: Vec<Vec<f64>> = vec![vec![0.5; 70]; D];
    broken[3][65] = f64::NAN;
    let renamed = Target::classes(vec![0; 70], vec!["no".to_owned(), "maybe".to_owned()]).unwrap();
    let mut kinds = vec![FeatureKind::Numeric; D];
    kinds[2] = FeatureKind::Categorical { levels: ["a", "b", "c"].map(str::to_owned).to_vec() };
    let hostile = [
        good.feature_subset(&[0, 1, 2, 3, 4, 5, 6]).unwrap(),
        good.clone().with_x(DenseColumns::from_columns(&broken).unwrap()).unwrap(),
        good.clone().with_target(Target::None).unwrap(),
        good.clone().with_target(renamed).unwrap(),
        good.clone().with_sample_weights(vec![1.0; 70]).unwrap(),
        good.clone().with_feature_kinds(kinds).unwrap(),
    ];
    for mut stream in streams {
        assert!(matches!(
            stream.selection(Budget::Auto),
            Err(Error::TooFew { .. } | Error::InvalidParameter { .. })
        ));
        stream.update(&good, &context).unwrap();
        let told = |stream: &dyn StreamSelector| {
            format!("{:?} {:?}", stream.selection(Budget::Auto).unwrap(), stream.held())
        };
        let before = told(&*stream);
        for hostile in &hostile {
            let error = stream.update(hostile, &context).unwrap_err();
            assert_eq!(told(&*stream), before, "{error}");
            if let Error::NonFinite { row, column, .. } = error {
                assert_eq!((row, column), (65, 3));
            }
        }
        stream.update(&good, &context).unwrap();
        assert!(matches!(stream.selection(Budget::Count(D + 1)), Err(Error::InvalidParameter { .. })));
        // A long time of one class only: an answer stays, or comes back.
        for _ in 0..20 {
            let one = Target::classes(vec![0; 70], vec!["no".to_owned(), "yes".to_owned()]).unwrap();
            stream.update(&good.clone().with_target(one).unwrap(), &context).unwrap();
            if let Err(error) = stream.selection(Budget::Auto) {
                assert!(matches!(error, Error::TooFew { .. }), "{error}");
            }
        }
        stream.update(&good, &context).unwrap();
        stream.update(&good, &context).unwrap();
        assert_eq!(stream.selection(Budget::Count(3)).unwrap().order.len(), 3);
    }
    let all = DriftOptions { watched: D, ..DriftOptions::default() };
    let found = Drifting::new(ClassSums::default(), all).unwrap().update(&good, &context);
    assert!(matches!(found, Err(Error::InvalidParameter { name: "watched", .. })), "{found:?}");
    let none = DriftOptions { delta: 1.0, ..DriftOptions::default() };
    assert!(Drifting::new(ClassSums::default(), none).is_err());
}

/// At every batch a new stream takes the state of the one before, also behind an alarm; others refuse it.
#[test]
fn states_go_on_bit_for_bit() {
    let context = Context::default();
    let options = DriftOptions { watched: 5, ..DriftOptions::default() };
    let scores = [FadingScore::F, FadingScore::Correlation, FadingScore::Variance];
    let open = |score, kind: usize| -> Box<dyn StreamSelector> {
        let sums = ScoreSums::new(score).unwrap();
        match kind {
            0 => Box::new(Sliding::new(sums, 120, 40).unwrap()),
            1 => Box::new(Fading::new(sums, 60.0, 3).unwrap()),
            _ => Box::new(Drifting::new(sums, options).unwrap()),
        }
    };
    for by_class in [true, false] {
        let parts: Vec<Dataset> = (0..90)
            .map(|part: u64| samples(4, part * 77..(part + 1) * 77, Change::Abrupt(4000), by_class))
            .collect();
        for (at, score) in scores.into_iter().enumerate() {
            for kind in 0..3 {
                let (mut whole, mut again) = (open(score, kind), open(score, kind));
                let mut cut = open(score, kind);
                for part in &parts {
                    let state = again.save().unwrap();
                    assert!(again.restore(&state[..state.len() - 1]).is_err());
                    assert!(open(scores[(at + 1) % 3], kind).restore(&state).is_err());
                    assert!(open(score, (kind + 1) % 3).restore(&state).is_err());
                    again = open(score, kind);
                    again.restore(&state).unwrap();
                    whole.update(part, &context).unwrap();
                    again.update(part, &context).unwrap();
                    for rows in [0..5, 5..6, 6..77] {
                        let own = part.subset(&rows.collect::<Vec<usize>>()).unwrap();
                        cut.update(&own, &context).unwrap();
                    }
                    assert_eq!(whole.save().unwrap(), again.save().unwrap());
                    assert_eq!(whole.alarm(), again.alarm());
                }
                assert_eq!(whole.selection(Budget::Auto).unwrap(), again.selection(Budget::Auto).unwrap());
                assert_eq!(whole.selection(Budget::Auto).unwrap(), cut.selection(Budget::Auto).unwrap());
                let has_alarm = kind == 2 && score != FadingScore::Variance;
                assert_eq!(whole.alarm().is_some(), has_alarm, "{score:?} {kind}");
            }
        }
    }
}

/// The scores of the command, with equal weights, from their definitions.
#[test]
fn sums_of_scores_are_those_of_the_filters() {
    for by_class in [true, false] {
        let data = samples(8, 0..300, Change::None, by_class);
        let found = |score| {
            let mut sums = ScoreSums::new(score).unwrap();
            sums.update(&data).unwrap();
            sums.scores().unwrap().values
        };
        let expected = by_formula(&data, &[1.0; 300]);
        if by_class {
            close(&found(FadingScore::F), &expected);
        } else {
            close(&found(FadingScore::Correlation), &expected);
            let f = |r: &f64| r * r * 298.0 / (1.0 - r * r);
            close(&found(FadingScore::F), &expected.iter().map(f).collect::<Vec<f64>>());
        }
        let mut column = vec![0.0; 300];
        data.x().copy_column(4, &mut column).unwrap();
        let mean = column.iter().sum::<f64>() / 300.0;
        let variance = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 300.0;
        close(&found(FadingScore::Variance)[4..5], &[variance]);
    }
}
