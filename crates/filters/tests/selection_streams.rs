//! Forward selection from rows that come in batches: that of the same rows in one table, with the same bits.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::criteria::criteria;
use fewest_core::{
    BATCH_ROWS, Budget, Context, Dataset, DenseColumns, Error, FeatureKind, PassSelector, Ranked, RowBatches,
    SampleStream, Selection, Selector, Status, Target,
};
use fewest_filters::discretisation::{Discretisation, DiscretisationRule, Integers};
use fewest_filters::information::{Estimator, Fcq, Forward, ForwardCriterion, MrmrForm};
use fewest_filters::similarity::{TraceRatio, TraceRatioStyle};
use fewest_filters::statistical::{ChiSquare, Correction, FScore, Gini, KruskalWallis, Significant};

fn noise(i: usize, j: usize) -> f64 {
    (fewest_core::derive_seed(j as u64, i as u64) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Numbers, some of them copies of others in part, categories of few levels and of many, a constant.
fn data(n: usize, many: f64) -> Result<Dataset, Error> {
    // A class without samples, before the others.
    let class = |i: usize| 1 + u32::from(noise(i, 100) > 0.3) + u32::from(noise(i, 100) > 0.7);
    let value = |i: usize, j: usize| match j {
        0 => 4.0,
        1 | 2 => (many * noise(i, j)).floor() - 3.5,
        3 => (3.0 * noise(i, j)).floor() + f64::from(class(i)),
        _ if noise(i, 50 + j) < 0.3 => f64::from(class(i)) + 0.1 * noise(i, j),
        _ if noise(i, 50 + j) < 0.6 && j > 6 => 3.0 * noise(i, j - 2),
        _ => 3.0 * noise(i, j),
    };
    let columns: Vec<Vec<f64>> = (0..12).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    let names = ["none", "low", "middle", "high"].map(str::to_owned).to_vec();
    let target = Target::classes((0..n).map(class).collect(), names)?;
    let mut kinds = vec![FeatureKind::Numeric; columns.len()];
    kinds[1..4].fill(FeatureKind::Categorical { levels: Vec::new() });
    Dataset::new(DenseColumns::from_columns(&columns)?, target)?.with_feature_kinds(kinds)
}

fn parts(selection: &Selection) -> (&[usize], Vec<u64>, Status, &[String]) {
    let bits = selection.scores.iter().map(|score| score.to_bits()).collect();
    (&selection.order, bits, selection.status, &selection.notes)
}

#[test]
fn streams_and_tables_give_the_same_selection() -> Result<(), Error> {
    let context = Context::default();
    for (n, many, cuts) in
        [(50, 40.0, [1, 7]), (300, 200.0, [100, 300]), (2 * BATCH_ROWS + 100, 1500.0, [1000, BATCH_ROWS + 1])]
    {
        let data = data(n, many)?;
        for criterion in criteria(0.7, 0.4, 0.6) {
            let forward = Forward::new(criterion);
            for budget in [Budget::Count(6), Budget::Auto, Budget::Threshold(0.02)] {
                let table = forward.select(&data, budget, &context)?;
                for rows in cuts {
                    let mut stream = RowBatches::new(&data, rows)?;
                    let found = forward.select_stream(&mut stream, budget, &context)?;
                    assert_eq!(parts(&found), parts(&table), "{criterion:?} {n} {rows}");
                }
            }
        }
    }
    Ok(())
}

/// A number as target that the features tell, with empty bins, ties and values far from the others.
fn with_real_target(data: &Dataset) -> Result<Dataset, Error> {
    let value = |i: usize| match noise(i, 200) {
        far if far > 0.99 => 40.0 * far,
        tie if tie < 0.2 => (3.0 * noise(i, 8)).floor(),
        _ => noise(i, 5) + 3.0 * noise(i, 8) - noise(i, 9) * noise(i, 10),
    };
    data.clone().with_target(Target::real((0..data.n_samples()).map(value).collect())?)
}

fn in_bins(criterion: ForwardCriterion, discretisation: DiscretisationRule, bins: usize) -> Forward {
    let rule = Discretisation { discretisation, bins, ..Discretisation::default() };
    Forward { criterion, estimator: Estimator::Discrete(rule) }
}

const RULES: [DiscretisationRule; 2] = [DiscretisationRule::EqualWidth, DiscretisationRule::EqualFrequency];

#[test]
fn a_real_target_comes_into_the_bins_of_the_table() -> Result<(), Error> {
    let context = Context::default();
    for (n, pieces) in [(50, [(1, 1), (7, 7)]), (2 * BATCH_ROWS + 100, [(1000, 2), (BATCH_ROWS + 1, 7)])] {
        let data = with_real_target(&data(n, 40.0)?)?;
        for (criterion, (rule, bins)) in criteria(0.7, 0.4, 0.6).into_iter().flat_map(|criterion| {
            let bins = RULES.into_iter().flat_map(|rule| [2, 5, 23].map(|bins| (rule, bins)));
            bins.map(move |bins| (criterion, bins))
        }) {
            let forward = in_bins(criterion, rule, bins);
            let table = forward.select(&data, Budget::Count(5), &context)?;
            for (rows, threads) in pieces {
                let pool =
                    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("some threads");
                let mut stream = RowBatches::new(&data, rows)?;
                let found =
                    pool.install(|| forward.select_stream(&mut stream, Budget::Count(5), &context))?;
                assert_eq!(parts(&found), parts(&table), "{criterion:?} {rule:?} {bins} {n} {rows}");
            }
        }
    }
    Ok(())
}

/// The bounds of a real target are found in the pass that finds those of the features.
#[test]
fn a_real_target_takes_no_further_pass() -> Result<(), Error> {
    let (classes, context) = (data(100, 9.0)?, Context::default());
    let real = with_real_target(&classes)?;
    for rule in RULES {
        for k in [1, 4] {
            let passes = |data: &Dataset| {
                let mut stream = Passes::of(vec![data]);
                in_bins(MRMR, rule, 5).select_stream(&mut stream, Budget::Count(k), &context)?;
                Ok::<usize, Error>(stream.pass)
            };
            assert_eq!(passes(&real)?, passes(&classes)?, "{rule:?} {k}");
        }
    }
    Ok(())
}

/// Counts in bins by bins grow by the square of their number.
#[test]
fn more_bins_of_a_real_target_than_memory_holds_are_refused() -> Result<(), Error> {
    let real = with_real_target(&data(100, 9.0)?)?;
    // 20 copies of 50 by 50 counts of 8 bytes, of each of 12 features.
    let context = Context { memory: Some(20 * 50 * 50 * 8 * 12), ..Context::default() };
    for rule in RULES {
        let select = |bins: usize| {
            let mut stream = RowBatches::new(&real, 30)?;
            in_bins(MRMR, rule, bins).select_stream(&mut stream, Budget::Count(3), &context)
        };
        assert!(select(50).is_ok());
        for bins in [51, 65536] {
            let found = select(bins);
            let Err(error @ Error::InvalidParameter { name: "bins", .. }) = found else {
                panic!("{found:?}")
            };
            assert!(error.to_string().contains("at most 50 for a real target and 12 features"), "{error}");
        }
    }
    Ok(())
}

/// What a stream does at each pass, counted from 0: another table for each, or the wish to stop.
struct Passes<'a> {
    tables: Vec<&'a Dataset>,
    pass: usize,
    done: bool,
    stop: Option<(usize, &'a AtomicBool)>,
    rewinds: bool,
}

impl<'a> Passes<'a> {
    fn of(tables: Vec<&'a Dataset>) -> Self {
        Self { tables, pass: 0, done: false, stop: None, rewinds: true }
    }
}

impl SampleStream for Passes<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        if let Some((pass, flag)) = self.stop
            && pass == self.pass
        {
            flag.store(true, Ordering::Relaxed);
        }
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let last = self.tables.len() - 1;
        Ok(Some(self.tables[self.pass.min(last)].clone()))
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.pass += 1;
        self.done = false;
        Ok(self.rewinds)
    }
}

const MRMR: ForwardCriterion =
    ForwardCriterion::Mrmr { form: fewest_filters::information::MrmrForm::Difference };

#[test]
fn all_pairs_of_few_features_are_counted_in_one_pass() -> Result<(), Error> {
    let data = data(100, 9.0)?;
    for k in 1..12 {
        let mut stream = Passes::of(vec![&data]);
        Forward::new(MRMR).select_stream(&mut stream, Budget::Count(k), &Context::default())?;
        assert_eq!(stream.pass, if k == 1 { 1 } else { 2 }, "bounds, levels and pairs for {k}");
        let mut stream = Passes::of(vec![&data]);
        let jmi3 = Forward::new(ForwardCriterion::Jmi3);
        jmi3.select_stream(&mut stream, Budget::Count(k), &Context::default())?;
        // Of few selected features all triples are more than three times those that are needed.
        let expected = match k {
            1 => 1..=1,
            2 | 6.. => 2..=2,
            _ => 3..=k,
        };
        assert!(expected.contains(&stream.pass), "{} passes after the first for {k}", stream.pass);
    }
    let mut once = Passes { rewinds: false, ..Passes::of(vec![&data]) };
    let found = Forward::new(MRMR).select_stream(&mut once, Budget::Count(1), &Context::default());
    assert!(matches!(found, Err(Error::Unsupported { .. })));
    Ok(())
}

/// Of many features, those that will be selected are foreseen: wrongly where they hide behind copies of each
/// other, which costs passes and not the answer.
#[test]
fn few_passes_give_the_selection_of_the_table() -> Result<(), Error> {
    let (n, d) = (600, 150);
    let class = |i: usize| u32::from(noise(i, 1000) > 0.4) + u32::from(noise(i, 1000) > 0.8);
    let value = |i: usize, j: usize| match j % 5 {
        // Copies, one of which says all that the others say.
        0 => f64::from(class(i)) + 1.5 * noise(i, j / 50) + 0.2 * noise(i, j),
        1 => f64::from(class(i) % 2) + 2.0 * noise(i, j),
        _ => noise(i, j) + noise(i, j / 7),
    };
    let columns: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    let names = ["low", "middle", "high"].map(str::to_owned).to_vec();
    let target = Target::classes((0..n).map(class).collect(), names)?;
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, target)?;
    let context = Context::default();
    let mut most = 0;
    for criterion in criteria(0.7, 0.4, 0.6) {
        let forward = Forward::new(criterion);
        for budget in [Budget::Count(12), Budget::Count(2)] {
            let mut stream = Passes::of(vec![&data]);
            let found = forward.select_stream(&mut stream, budget, &context)?;
            assert_eq!(parts(&found), parts(&forward.select(&data, budget, &context)?), "{criterion:?}");
            most = most.max(stream.pass);
        }
    }
    // One for each of twelve features and two more, if each were counted by itself.
    assert!((3..=5).contains(&most), "{most} passes after the first");
    Ok(())
}

/// With less memory fewer pairs and triples are counted in a pass, of which there are more.
#[test]
fn any_memory_and_any_number_of_threads_give_the_selection_of_the_table() -> Result<(), Error> {
    let data = data(300, 9.0)?;
    let budget = Budget::Count(6);
    for criterion in criteria(0.7, 0.4, 0.6) {
        let forward = Forward::new(criterion);
        let table = forward.select(&data, budget, &Context::default())?;
        let mut fewest = 0;
        for (memory, threads) in [(None, 1), (None, 3), (Some(1 << 20), 3), (Some(80_000), 2)] {
            let context = Context { memory, ..Context::default() };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("some threads");
            let mut stream = Passes::of(vec![&data]);
            let found = pool.install(|| forward.select_stream(&mut stream, budget, &context))?;
            assert_eq!(parts(&found), parts(&table), "{criterion:?} {memory:?} {threads}");
            assert!(stream.pass >= fewest, "{criterion:?} {memory:?}: {} and {fewest}", stream.pass);
            fewest = stream.pass;
        }
        assert!(criterion != ForwardCriterion::Jmi3 || fewest > 6, "parts of the candidates");
        if criterion != ForwardCriterion::Jmi3 {
            // Not enough for the pairs of one feature with all others.
            let context = Context { memory: Some(6000), ..Context::default() };
            let mut stream = Passes::of(vec![&data]);
            let found = forward.select_stream(&mut stream, budget, &context)?;
            assert_eq!(parts(&found), parts(&table), "{criterion:?} in parts of the pairs");
            assert!(stream.pass > fewest.max(6), "{criterion:?}: {} passes", stream.pass);
        }
    }
    // Not enough for the triples of one candidate.
    let context = Context { memory: Some(2000), ..Context::default() };
    let jmi3 = Forward::new(ForwardCriterion::Jmi3);
    let found = jmi3.select_stream(&mut RowBatches::new(&data, 99)?, budget, &context);
    let Err(error @ Error::Unsupported { method: "jmi3", .. }) = found else { panic!("{found:?}") };
    assert!(error.to_string().contains("that there are for counts"), "{error}");
    // Which two features do not need.
    let found = jmi3.select_stream(&mut RowBatches::new(&data, 99)?, Budget::Count(2), &context)?;
    assert_eq!(parts(&found), parts(&jmi3.select(&data, Budget::Count(2), &context)?));
    Ok(())
}

/// Copies tie, and all features are asked for: more than are foreseen, and more than can be selected.
#[test]
fn ties_and_all_features_are_as_in_the_table() -> Result<(), Error> {
    let context = Context::default();
    for n in [70, 3000] {
        let class = |i: usize| u32::from(noise(i, 1000) > 0.4);
        // The last one is constant, and some are copies of others.
        let value = |i: usize, j: usize| match j {
            57 => 1.0,
            _ => (3.0 * noise(i, j % 29)).floor() + f64::from(class(i)) * (j % 29 % 4) as f64,
        };
        let columns: Vec<Vec<f64>> = (0..58).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
        let target = Target::classes((0..n).map(class).collect(), vec!["no".to_owned(), "yes".to_owned()])?;
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, target)?;
        for criterion in [MRMR, ForwardCriterion::Jmi3] {
            for rule in RULES {
                let forward = in_bins(criterion, rule, 3);
                for budget in [Budget::Count(9), Budget::Count(58), Budget::Auto] {
                    let table = forward.select(&data, budget, &context)?;
                    let found =
                        forward.select_stream(&mut RowBatches::new(&data, 5000)?, budget, &context)?;
                    assert_eq!(parts(&found), parts(&table), "{criterion:?} {n} {budget:?}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn a_run_that_is_stopped_answers_with_what_is_selected() -> Result<(), Error> {
    let data = data(100, 9.0)?;
    let all = Forward::new(MRMR).select(&data, Budget::Count(5), &Context::default())?;
    for pass in 0..3 {
        let flag = AtomicBool::new(false);
        let context = Context { interrupt: Some(&flag), ..Context::default() };
        let mut stream = Passes { stop: Some((pass, &flag)), ..Passes::of(vec![&data]) };
        let found = Forward::new(MRMR).select_stream(&mut stream, Budget::Count(5), &context);
        if pass < 2 {
            assert!(matches!(found, Err(Error::Stopped { .. })));
        } else {
            let found = found?;
            assert_eq!((found.order.as_slice(), found.status), (&all.order[..1], Status::Interrupted));
        }
    }
    Ok(())
}

#[test]
fn a_stream_whose_rows_change_is_an_error() -> Result<(), Error> {
    let (data, other) = (data(100, 9.0)?, data(100, 50.0)?);
    let fewer = data.subset(&(0..99).collect::<Vec<_>>())?;
    for tables in [vec![&data, &data, &other], vec![&data, &data, &fewer]] {
        let found =
            Forward::new(MRMR).select_stream(&mut Passes::of(tables), Budget::Count(3), &Context::default());
        assert!(matches!(found, Err(Error::Unreadable { .. })), "{found:?}");
    }
    Ok(())
}

#[test]
fn hostile_streams_are_errors() -> Result<(), Error> {
    let context = Context::default();
    let select = |forward: Forward, data: &Dataset| {
        forward.select_stream(&mut RowBatches::new(data, 999)?, Budget::Count(1), &context)
    };
    let mrmr = Forward::new(MRMR);
    let dataset =
        |values: Vec<f64>, target: Target| Dataset::new(DenseColumns::from_columns(&[values])?, target);
    let n = BATCH_ROWS + 10;
    let mut values: Vec<f64> = (0..n).map(|i| noise(i, 0)).collect();
    values[n - 1] = f64::NAN;
    let labels: Vec<bool> = (0..n).map(|i| noise(i, 1) > 0.5).collect();
    let found = select(mrmr, &dataset(values, Target::from_labels(&labels))?);
    assert!(matches!(found, Err(Error::NonFinite { row, column: 0, .. }) if row == n - 1), "{found:?}");

    let one = dataset(vec![1.0], Target::from_labels(&[1]))?;
    assert!(matches!(select(mrmr, &one), Err(Error::TooFew { found: 1, .. })));
    let two = dataset(vec![1.0, 2.0], Target::from_labels(&[1, 2]))?;
    assert_eq!(parts(&select(mrmr, &two)?), parts(&mrmr.select(&two, Budget::Count(1), &context)?));
    let constant = dataset(vec![1.0, 1.0], Target::from_labels(&[1, 2]))?;
    assert_eq!(parts(&select(mrmr, &constant)?), parts(&mrmr.select(&constant, Budget::Count(1), &context)?));
    for target in [Target::outputs(vec![0.1, 0.2, 0.3, 0.4], 2)?, Target::None] {
        let other = dataset(vec![1.0, 2.0], target)?;
        let found = select(mrmr, &other);
        assert!(matches!(found, Err(Error::UnsupportedTarget { method: "mrmr", .. })), "{found:?}");
        assert_eq!(found, mrmr.select(&other, Budget::Count(1), &context));
    }
    let one_value = dataset(vec![1.0, 2.0], Target::real(vec![0.3, 0.3])?)?;
    assert!(matches!(select(mrmr, &one_value), Err(Error::TooFew { minimum: 2, found: 1, .. })));
    assert_eq!(select(mrmr, &one_value), mrmr.select(&one_value, Budget::Count(1), &context));

    let weighted = two.clone().with_sample_weights(vec![1.0; 2])?;
    let unsupported = [
        (mrmr, &weighted),
        (Forward { estimator: Estimator::Kraskov { neighbours: 1 }, ..mrmr }, &two),
        (with(Discretisation { discretisation: DiscretisationRule::Mdl, ..Discretisation::default() }), &two),
        (with(Discretisation { integers: Integers::Levels, ..Discretisation::default() }), &two),
    ];
    for (forward, data) in unsupported {
        let found = select(forward, data);
        assert!(matches!(found, Err(Error::Unsupported { .. })), "{found:?}");
    }
    Ok(())
}

fn with(rule: Discretisation) -> Forward {
    Forward { criterion: MRMR, estimator: Estimator::Discrete(rule) }
}

/// Scores that are ranked, or cut off by significance, and sets with a largest ratio.
#[test]
fn what_is_made_of_scores_is_the_same() -> Result<(), Error> {
    let data = data(BATCH_ROWS + 500, 30.0)?;
    let context = Context::default();
    let selectors: [(&str, Box<dyn Selector>); 4] = [
        ("ranked", Box::new(Ranked::new(Gini { bins: Some(9) }))),
        ("significant", Box::new(Significant::new(FScore, 1e-3, Correction::BenjaminiHochberg))),
        (
            "significant counts",
            Box::new(Significant::new(ChiSquare::default(), 0.01, Correction::Bonferroni)),
        ),
        ("trace ratio", Box::new(TraceRatio::default())),
    ];
    for (name, selector) in &selectors {
        let in_passes = selector.in_passes().expect(name);
        for budget in [Budget::Count(4), Budget::Threshold(0.2), Budget::Auto] {
            let table = selector.select(&data, budget, &context);
            for rows in [700, 5000] {
                let found = in_passes.select_stream(&mut RowBatches::new(&data, rows)?, budget, &context);
                match (&found, &table) {
                    (Ok(found), Ok(table)) => assert_eq!(parts(found), parts(table), "{name} {budget:?}"),
                    _ => assert_eq!(found.is_err(), table.is_err(), "{name} {budget:?}"),
                }
            }
        }
    }
    Ok(())
}

/// What needs all rows at once says so.
#[test]
fn what_is_no_sum_is_refused() -> Result<(), Error> {
    let data = data(60, 9.0)?;
    let context = Context::default();
    let every_value = Ranked::new(Gini::default());
    let found = every_value.select_stream(&mut RowBatches::new(&data, 7)?, Budget::Count(2), &context);
    assert!(
        matches!(&found, Err(Error::Unsupported { instead, .. }) if instead.contains("bins=256")),
        "{found:?}"
    );
    assert!(Ranked::new(KruskalWallis).in_passes().is_none());
    let laplacian = TraceRatio { style: TraceRatioStyle::Laplacian(Default::default()) };
    assert!(laplacian.in_passes().is_none());
    Ok(())
}

/// Also with little memory, where a pass takes the correlations with one feature.
#[test]
fn quotients_of_correlations_have_the_bits_of_the_table() -> Result<(), Error> {
    let context = Context::default();
    let classes = data(BATCH_ROWS + 700, 30.0)?;
    let y = (0..classes.n_samples()).map(|i| noise(i, 5) - 2.0 * noise(i, 7) + 0.3 * noise(i, 300)).collect();
    let real = classes.clone().with_target(Target::real(y)?)?;
    for (data, form) in
        [(&classes, MrmrForm::Quotient), (&classes, MrmrForm::Difference), (&real, MrmrForm::Quotient)]
    {
        let fcq = Fcq { form };
        for budget in [Budget::Count(1), Budget::Count(6), Budget::Auto] {
            let table = fcq.select(data, budget, &context)?;
            for (rows, memory) in [(900, None), (data.n_samples(), None), (5000, Some(100))] {
                let context = Context { memory, ..context };
                let found = fcq.select_stream(&mut RowBatches::new(data, rows)?, budget, &context)?;
                assert_eq!(parts(&found), parts(&table), "{form:?} {budget:?} {rows}");
                assert_eq!(found.notes, table.notes);
            }
        }
    }
    let one = classes.clone().with_target(Target::from_labels(&vec!["a"; classes.n_samples()]))?;
    let found = Fcq::default().select_stream(&mut RowBatches::new(&one, 90)?, Budget::Count(2), &context);
    assert!(matches!(found, Err(Error::TooFew { .. })), "{found:?}");
    Ok(())
}
