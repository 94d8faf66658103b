use super::*;
use crate::{Columns, DenseColumns, FeatureKind, Graph, Status, Target, Views, rank};

const N: usize = 7;

fn views(n_features: usize, sets: &[(&str, &[usize])]) -> Views {
    let sets = sets.iter().map(|(name, set)| ((*name).to_owned(), set.to_vec())).collect();
    Views::new(n_features, sets).unwrap()
}

/// Features that are told apart by every value, with all that can be known about them.
fn data() -> Dataset {
    let value = |i: usize, j: usize| ((i * 5 + j * 3 + i * i * j) % 11) as f64 - 4.0;
    let columns: Vec<Vec<f64>> = (0..5).map(|j| (0..N).map(|i| value(i, j)).collect()).collect();
    let levels = vec!["no".to_owned()];
    let mut kinds = vec![FeatureKind::Numeric; 5];
    kinds[3] = FeatureKind::Categorical { levels };
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&[1, 1, 0, 2, 0, 1, 0]))
        .unwrap()
        .with_feature_names(["a", "b", "c", "d", "e"].map(str::to_owned).to_vec())
        .unwrap()
        .with_feature_kinds(kinds)
        .unwrap()
        .with_feature_graph(Graph::undirected(5, &[(0, 3, 0.5), (1, 2, 2.0)]).unwrap())
        .unwrap()
        .with_views(views(5, &[("left", &[0, 1]), ("right", &[3, 4]), ("middle", &[2])]))
        .unwrap()
        .with_sample_ids((0..N).map(|i| format!("s{i}")).collect())
        .unwrap()
        .with_sample_weights((0..N).map(|i| i as f64).collect())
        .unwrap()
}

/// All that two data sets tell, compared.
fn assert_same(a: &Dataset, b: &Dataset) {
    assert_eq!((a.n_samples(), a.n_features()), (b.n_samples(), b.n_features()));
    assert_eq!(a.target(), b.target());
    for j in 0..a.n_features() {
        let column = |data: &Dataset| {
            let mut values = vec![0.0; data.n_samples()];
            assert_eq!(data.x().copy_column(j, &mut values), Ok(()));
            values
        };
        assert_eq!(column(a), column(b));
        assert_eq!(a.feature_name(j), b.feature_name(j));
        assert_eq!(a.feature_kind(j), b.feature_kind(j));
    }
    assert_eq!(a.feature_groups(), b.feature_groups());
    assert_eq!(a.feature_graph(), b.feature_graph());
    assert_eq!(a.views(), b.views());
    assert_eq!(a.sample_ids(), b.sample_ids());
    assert_eq!(a.sample_weights(), b.sample_weights());
}

fn drain(stream: &mut dyn SampleStream) -> Result<Vec<Dataset>, Error> {
    let mut batches = Vec::new();
    while let Some(batch) = stream.next_batch()? {
        batches.push(batch);
    }
    Ok(batches)
}

#[test]
fn rows_come_in_order_with_all_that_is_known_and_again_after_rewinding() -> Result<(), Error> {
    let data = data();
    for rows in 1..=N + 1 {
        let mut stream = RowBatches::new(&data, rows)?;
        for _ in 0..2 {
            let batches = drain(&mut stream)?;
            assert!(batches[..batches.len() - 1].iter().all(|batch| batch.n_samples() == rows));
            assert_same(&Dataset::stacked(&batches)?, &data);
            assert!(stream.next_batch()?.is_none());
            assert!(stream.rewind()?);
        }
    }
    Ok(())
}

#[test]
fn batches_are_cut_anew() -> Result<(), Error> {
    let data = data();
    for (came, wanted) in (1..=N).flat_map(|came| (1..=N).map(move |wanted| (came, wanted))) {
        let mut stream = RowBatches::new(&data, came)?;
        let mut whole = Whole::new(&mut stream, wanted);
        for first in (0..N).step_by(wanted) {
            let expected = data.copy_rows(first..N.min(first + wanted))?;
            assert_same(&whole.next_batch()?.unwrap(), &expected);
        }
        assert!(whole.next_batch()?.is_none() && whole.next_batch()?.is_none());
    }
    Ok(())
}

/// Batches that somebody else made.
struct Given(std::vec::IntoIter<Dataset>);

impl SampleStream for Given {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        Ok(self.0.next())
    }
}

/// Counts the samples of each class by code, as if all batches had the classes of the first.
#[derive(Default)]
struct ByCode(Vec<usize>);

impl crate::Accumulator for ByCode {
    type Output = Vec<usize>;

    fn update(&mut self, batch: &Dataset) -> Result<(), Error> {
        if let Target::Class(classes) = batch.target() {
            self.0.resize(classes.n_classes(), 0);
            classes.codes().iter().for_each(|&code| self.0[code as usize] += 1);
        }
        Ok(())
    }

    fn merge(&mut self, later: Self) -> Result<(), Error> {
        self.0.resize(later.0.len().max(self.0.len()), 0);
        self.0.iter_mut().zip(later.0).for_each(|(count, later)| *count += later);
        Ok(())
    }

    fn finish(self) -> Result<Vec<usize>, Error> {
        Ok(self.0)
    }
}

/// Full batches are handed on as they came, others are cut anew: both are compared with the first.
#[test]
fn batches_that_are_not_about_the_same_are_errors_that_name_the_batch() -> Result<(), Error> {
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let one =
        |rows: usize, target: Target| Dataset::new(DenseColumns::new(vec![1.0; 2 * rows], rows, 2)?, target);
    let classes = |rows: usize, of: &[&str]| one(rows, Target::classes(vec![0; rows], names(of))?);
    let levels = |rows: usize, of: &[&str]| {
        let kinds = vec![FeatureKind::Numeric, FeatureKind::Categorical { levels: names(of) }];
        one(rows, Target::None)?.with_feature_kinds(kinds)
    };
    let count = |batches: Vec<Dataset>| {
        crate::accumulate(&mut Given(batches.into_iter()), ByCode::default, &Context::default())
    };
    for rows in [crate::BATCH_ROWS, 100] {
        let same = || classes(rows, &["a", "b"]);
        assert_eq!(count(vec![same()?, same()?, same()?])?, [3 * rows, 0]);
        let narrow = Dataset::new(DenseColumns::new(vec![1.0; rows], rows, 1)?, Target::None)?;
        let numeric = || one(rows, Target::None);
        let real = |outputs: usize| one(rows, Target::outputs(vec![0.0; outputs * rows], rows)?);
        for (first, other, name, told) in [
            (
                classes(rows, &["a", "b", "c"])?,
                same()?,
                "classes of a batch",
                ["no class 2", "`c` as class 2"],
            ),
            (
                same()?,
                classes(rows, &["a", "b", "c"])?,
                "classes of a batch",
                ["`c` as class 2", "no class 2"],
            ),
            (
                same()?,
                classes(rows, &["b", "a"])?,
                "classes of a batch",
                ["`b` as class 0", "`a` as class 0"],
            ),
            (same()?, numeric()?, "target of a batch", ["missing", "2 classes"]),
            (real(1)?, real(2)?, "target of a batch", ["2 real outputs", "1 real output"]),
            (real(1)?, same()?, "target of a batch", ["2 classes", "1 real output"]),
            (numeric()?, narrow, "features of a batch", ["1", "2"]),
            (numeric()?, levels(rows, &["x"])?, "kind of a feature", ["categorical for `f1`", "numeric"]),
            (levels(rows, &["x"])?, numeric()?, "kind of a feature", ["numeric for `f1`", "categorical"]),
            (
                levels(rows, &["x", "y"])?,
                levels(rows, &["y", "x"])?,
                "kind of a feature",
                ["`y` as level 0 for `f1`", "`x` as level 0"],
            ),
        ] {
            match count(vec![first.clone(), first, other]) {
                Err(Error::InvalidParameter { name: found, value, expected }) => {
                    assert_eq!(found, name);
                    assert!(value.starts_with(told[0]) && value.contains("in batch 2 "), "{value}");
                    assert!(
                        expected.starts_with(told[1]) && expected.contains(" as in batch 0: "),
                        "{expected}"
                    );
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    Ok(())
}

/// Links between the samples of a stretch stay; what is put together has none, as those between two parts are
/// not known.
#[test]
fn a_stretch_keeps_the_links_between_its_samples() -> Result<(), Error> {
    let links = [(0, 1, 1.0), (1, 2, 2.0), (2, 4, 3.0), (3, 4, 4.0), (5, 6, 5.0)];
    let data = data().with_sample_graph(Graph::undirected(N, &links)?)?;
    let expected = Graph::undirected(3, &[(0, 2, 3.0), (1, 2, 4.0)])?;
    assert_eq!(data.copy_rows(2..5)?.sample_graph(), Some(&expected));
    assert_eq!(data.copy_rows(0..N)?.sample_graph(), data.sample_graph());
    let mut stream = RowBatches::new(&data, 2)?;
    let batches = drain(&mut stream)?;
    assert_eq!(batches[0].sample_graph(), Some(&Graph::undirected(2, &[(0, 1, 1.0)])?));
    assert_eq!(Dataset::stacked(&batches)?.sample_graph(), None);
    Ok(())
}

/// Views follow the features that are chosen.
#[test]
fn some_features_keep_their_views() -> Result<(), Error> {
    let data = data().with_sample_graph(Graph::undirected(N, &[(0, 1, 1.0)])?)?;
    for (features, expected) in [
        (vec![0, 1, 2, 3, 4], views(5, &[("left", &[0, 1]), ("right", &[3, 4]), ("middle", &[2])])),
        (vec![4, 3, 2, 1], views(4, &[("left", &[3]), ("right", &[0, 1]), ("middle", &[2])])),
        (vec![2, 3], views(2, &[("right", &[1]), ("middle", &[0])])),
        (vec![2], views(1, &[("middle", &[0])])),
        (vec![0, 3, 1], views(3, &[("left", &[0, 2]), ("right", &[1])])),
    ] {
        let some = data.feature_subset(&features)?;
        assert_eq!(some.views(), Some(&expected), "{features:?}");
        // What is known of the samples stays.
        assert_eq!(some.sample_ids(), data.sample_ids());
        assert_eq!(some.sample_weights(), data.sample_weights());
        assert_eq!(some.sample_graph(), data.sample_graph());
        for (new, &old) in features.iter().enumerate() {
            assert_eq!(some.feature_name(new), data.feature_name(old));
            assert_eq!(some.feature_kind(new), data.feature_kind(old));
        }
    }
    assert!(matches!(data.feature_subset(&[]), Err(Error::TooFew { .. })));
    assert!(matches!(data.feature_subset(&[5]), Err(Error::InvalidParameter { .. })));
    Ok(())
}

/// Every second value is stored.
struct Half;

impl Columns for Half {
    fn n_samples(&self) -> usize {
        N
    }

    fn n_features(&self) -> usize {
        1
    }

    fn column<'a>(&'a self, _: usize, _: &'a mut Vec<f64>) -> Result<crate::Column<'a>, Error> {
        Ok(crate::Column::Sparse { rows: &[1, 3, 5], values: &[1.5, 2.5, 3.5] })
    }
}

#[test]
fn sparse_columns_stay_sparse_unless_a_part_is_dense() -> Result<(), Error> {
    let data = Dataset::new(Half, Target::None)?;
    let parts = [data.copy_rows(0..2)?, data.copy_rows(2..6)?, data.copy_rows(6..N)?];
    let scratch = &mut Vec::new();
    let stored = |data: &Dataset, scratch: &mut Vec<f64>| match data.x().column(0, scratch) {
        Ok(crate::Column::Sparse { rows, values }) => Some((rows.to_vec(), values.to_vec())),
        _ => None,
    };
    assert_eq!(stored(&parts[1], scratch), Some((vec![1, 3], vec![2.5, 3.5])));
    assert_eq!(stored(&parts[2], scratch), Some((vec![], vec![])));
    let whole = Dataset::stacked(&parts)?;
    assert_eq!(stored(&whole, scratch), Some((vec![1, 3, 5], vec![1.5, 2.5, 3.5])));
    let dense = Dataset::new(DenseColumns::new(vec![9.0, 8.0], 2, 1)?, Target::None)?;
    for (parts, expected) in [
        ([data.clone(), dense.clone()], vec![0.0, 1.5, 0.0, 2.5, 0.0, 3.5, 0.0, 9.0, 8.0]),
        ([dense.clone(), data.clone()], vec![9.0, 8.0, 0.0, 1.5, 0.0, 2.5, 0.0, 3.5, 0.0]),
    ] {
        let mut values = vec![0.0; expected.len()];
        Dataset::stacked(&parts)?.x().copy_column(0, &mut values)?;
        assert_eq!(values, expected);
    }
    Ok(())
}

#[test]
fn rows_that_do_not_fit_together_are_errors() -> Result<(), Error> {
    let one = |target: Target| Dataset::new(DenseColumns::new(vec![1.0, 2.0], 2, 1)?, target);
    let classes = one(Target::from_labels(&["a", "b"]))?;
    for other in [Target::None, Target::real(vec![0.0, 1.0])?, Target::from_labels(&["a", "c"])] {
        let found = Dataset::stacked(&[classes.clone(), one(other.clone())?]);
        assert!(matches!(found, Err(Error::InvalidParameter { .. })));
        let found = Dataset::stacked(&[one(other)?, classes.clone()]);
        assert!(matches!(found, Err(Error::InvalidParameter { .. })));
    }
    let wide = Dataset::new(DenseColumns::new(vec![1.0, 2.0], 1, 2)?, Target::from_labels(&["a"]))?;
    assert!(matches!(Dataset::stacked(&[classes.clone(), wide]), Err(Error::ShapeMismatch { .. })));
    let weighted = classes.clone().with_sample_weights(vec![1.0, 1.0])?;
    assert!(matches!(Dataset::stacked(&[classes.clone(), weighted]), Err(Error::InvalidParameter { .. })));
    let affinity = one(Target::affinity(vec![1.0; 4], 2)?)?;
    assert!(matches!(affinity.copy_rows(0..1), Err(Error::Unsupported { .. })));
    assert!(matches!(classes.copy_rows(1..3), Err(Error::InvalidParameter { .. })));
    // No rows, also where the end comes before the start, whatever the target.
    let real = one(Target::real(vec![0.0, 1.0])?)?;
    for (start, end) in [(1, 1), (2, 1), (5, 2), (9, 9)] {
        for data in [&classes, &real] {
            assert!(matches!(data.copy_rows(start..end), Err(Error::TooFew { .. })));
        }
    }
    assert!(matches!(Dataset::stacked(&[]), Err(Error::TooFew { .. })));
    assert!(RowBatches::new(&classes, 0).is_err());
    Ok(())
}

/// Sums of features; what arrives are samples or features, whichever is not the same as before.
#[derive(Default)]
struct Sums {
    by_sample: bool,
    sums: Vec<f64>,
    related: bool,
}

impl StreamSelector for Sums {
    fn update(&mut self, arrived: &Dataset, _: &Context<'_>) -> Result<(), Error> {
        let sum = |j: usize| {
            let mut values = vec![0.0; arrived.n_samples()];
            arrived.x().copy_column(j, &mut values)?;
            arrived.check_finite(j, &values)?;
            Ok(values.iter().sum::<f64>())
        };
        let sums = (0..arrived.n_features()).map(sum).collect::<Result<Vec<f64>, Error>>()?;
        if self.by_sample {
            self.sums.resize(sums.len(), 0.0);
            self.sums.iter_mut().zip(sums).for_each(|(sum, more)| *sum += more);
        } else {
            self.sums.extend(sums);
        }
        Ok(())
    }

    fn held(&self) -> crate::Held {
        crate::Held::new(self.sums.len(), self.sums.len())
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        budget.check(self.sums.len())?;
        let mut order = rank(&self.sums, true);
        if let Budget::Count(k) = budget {
            order.truncate(k);
        }
        let scores = order.iter().map(|&j| self.sums[j]).collect();
        let mut selection = Selection::new(order, scores, self.sums.len(), Status::Converged);
        if self.related {
            let related = |&feature: &usize| vec![crate::Related { feature, relatedness: 1.0 }];
            selection.related = selection.order.iter().map(related).collect();
            let mut coefficients: Vec<(usize, f64)> =
                selection.order.iter().map(|&j| (j, j as f64)).collect();
            coefficients.sort_unstable_by_key(|(j, _)| *j);
            let points = vec![crate::PathPoint { lambda: 1.0, coefficients }];
            selection.path =
                Some(crate::Path { points, entered: selection.order.clone(), ..Default::default() });
        }
        Ok(selection)
    }
}

/// Whole numbers, so that no order of summing shows.
fn expected(k: usize) -> Result<Selection, Error> {
    let mut whole = Sums { by_sample: true, ..Sums::default() };
    whole.update(&data(), &Context::default())?;
    whole.selection(Budget::Count(k))
}

#[test]
fn fed_in_any_batches_or_groups_a_stream_selector_answers_as_on_the_whole() -> Result<(), Error> {
    let data = data();
    let context = Context::default();
    let budgets: Vec<Budget> = (1..=5).map(Budget::Count).collect();
    for size in 1..=N {
        let by_samples = FedBySamples::new(|| Ok(Sums { by_sample: true, ..Sums::default() }), size)?;
        let by_features = FedByFeatures::new(|| Ok(Sums::default()), size)?;
        for selector in [&by_samples as &dyn Selector, &by_features] {
            let many = selector.select_many(&data, &budgets, &context)?;
            for (k, (&budget, many)) in (1..).zip(budgets.iter().zip(many)) {
                assert_eq!(many, expected(k)?);
                assert_eq!(selector.select(&data, budget, &context)?, many);
            }
            assert!(selector.select(&data, Budget::Count(6), &context).is_err());
        }
    }
    Ok(())
}

/// Groups that are not in the order of the features: the answer has the table's numbers, everywhere.
#[test]
fn features_that_arrive_in_another_order_keep_their_numbers() -> Result<(), Error> {
    let data = data().with_feature_groups(crate::Groups::partition(vec![9, 2, 9, 0, 2]))?;
    let selector = FedByFeatures::new(|| Ok(Sums { related: true, ..Sums::default() }), 1)?;
    assert_eq!(selector.groups(&data)?, [vec![3], vec![1, 4], vec![0, 2]]);
    let found = selector.select(&data, Budget::Count(5), &Context::default())?;
    let whole = expected(5)?;
    // No two sums are equal, so the order of arrival cannot show in the order chosen.
    assert!(whole.scores.windows(2).all(|pair| pair[0] > pair[1]));
    assert_eq!((&found.order, &found.scores), (&whole.order, &whole.scores));
    let related: Vec<usize> = found.related.iter().map(|related| related[0].feature).collect();
    assert_eq!(related, whole.order);
    let path = found.path.unwrap();
    assert_eq!(path.entered, whole.order);
    // Values are the numbers in order of arrival: 3, 1, 4, 0, 2.
    assert_eq!(path.points[0].coefficients, [(0, 3.0), (1, 1.0), (2, 4.0), (3, 0.0), (4, 2.0)]);
    Ok(())
}

#[test]
fn errors_name_the_cell_of_the_table() -> Result<(), Error> {
    let mut columns = vec![vec![0.0; N]; 5];
    columns[3][4] = f64::INFINITY;
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
    let by_samples = FedBySamples::new(|| Ok(Sums { by_sample: true, ..Sums::default() }), 3)?;
    let by_features = FedByFeatures::new(|| Ok(Sums::default()), 2)?;
    for selector in [&by_samples as &dyn Selector, &by_features] {
        let found = selector.select(&data, Budget::Count(1), &Context::default());
        assert!(matches!(&found, Err(Error::NonFinite { row: 4, column: 3, .. })), "{found:?}");
    }
    Ok(())
}

/// Stopped from the start: one batch is seen, and the answer says so.
#[test]
fn a_stopped_run_answers_from_what_has_arrived() -> Result<(), Error> {
    let data = data();
    let stop = std::sync::atomic::AtomicBool::new(true);
    let context = Context { interrupt: Some(&stop), ..Context::default() };
    let by_samples = FedBySamples::new(|| Ok(Sums { by_sample: true, ..Sums::default() }), 3)?;
    let found = by_samples.select(&data, Budget::Count(5), &context)?;
    assert_eq!(found.status, Status::Interrupted);
    assert_eq!(found.notes, ["3 of 7 samples were seen"]);
    let by_features = FedByFeatures::new(|| Ok(Sums::default()), 2)?;
    let found = by_features.select(&data, Budget::Count(5), &context)?;
    assert_eq!((found.status, found.order.len(), found.n_features), (Status::Interrupted, 2, 5));
    // All seen: nothing was stopped.
    let by_features = FedByFeatures::new(|| Ok(Sums::default()), 5)?;
    assert_eq!(by_features.select(&data, Budget::Count(5), &context)?.status, Status::Converged);
    Ok(())
}

#[test]
fn a_part_that_cannot_be_read_again_is_an_error() {
    struct Count;
    impl RowSums for Count {
        fn of_part(&self, part: &mut dyn SampleStream, _: usize) -> Result<Vec<u8>, Error> {
            let mut bytes = Vec::new();
            drain(part)?.len().save(&mut bytes);
            Ok(bytes)
        }
        fn of_all(&self, _: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
            Ok(Vec::new())
        }
    }
    struct Once<'a>(RowBatches<'a>);
    impl SampleStream for Once<'_> {
        fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
            self.0.next_batch()
        }
    }
    let data = data();
    let sums = |stream: &mut dyn SampleStream| stream.sum_elsewhere(&Count);
    let sums_after_a_look = |stream: &mut dyn SampleStream| {
        stream.next_batch()?;
        sums(stream)
    };
    let once = || Once(RowBatches::new(&data, 2).unwrap());
    // What was not read begins at its start.
    let whole = sum_part(&mut once(), 0, &AskedPass::default(), sums).unwrap();
    assert_eq!(
        sum_part(&mut RowBatches::new(&data, 2).unwrap(), 0, &AskedPass::default(), sums_after_a_look),
        Ok(whole.clone())
    );
    // What was looked at comes again, and is not read again.
    assert_eq!(sum_part(&mut once(), 0, &AskedPass::default(), sums_after_a_look), Ok(whole));
    let sums_from_the_start = |stream: &mut dyn SampleStream| {
        stream.next_batch()?;
        crate::rewind(stream)?;
        sums(stream)
    };
    assert!(matches!(
        sum_part(&mut once(), 0, &AskedPass::default(), sums_from_the_start),
        Err(Error::Unsupported { method: "a stream that cannot be rewound", .. })
    ));
}

/// A pass behind one with instructions, or over all features behind their parts, has no earlier sums to take.
#[test]
fn a_pass_without_instructions_behind_one_with_them_is_an_error() -> Result<(), Error> {
    struct Bytes;
    impl RowSums for Bytes {
        fn of_part(&self, _: &mut dyn SampleStream, _: usize) -> Result<Vec<u8>, Error> {
            Ok(Vec::new())
        }
        fn of_all(&self, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
            Ok(parts.concat())
        }
    }
    let data = data();
    let mut rows = RowBatches::new(&data, 2)?;
    let mut asked = Vec::new();
    let mut stream = SummedElsewhere::new(&mut rows, |pass| {
        asked.push(pass);
        Ok(vec![vec![7]])
    });
    stream.sum_elsewhere(&Bytes)?;
    stream.sum_elsewhere(&Bytes)?;
    stream.instruct(vec![1, 2]);
    stream.sum_elsewhere(&Bytes)?;
    let Err(Error::Unsupported { what, .. }) = stream.sum_elsewhere(&Bytes) else {
        panic!("earlier sums were kept")
    };
    assert!(what.contains("instructions"), "{what}");
    stream.instruct(vec![3]);
    stream.sum_elsewhere(&Bytes)?;
    let known = |pass: &AskedPass| (pass.earlier.len(), pass.instructions.clone());
    let expected = [(0, None), (1, None), (0, Some(vec![1, 2])), (0, Some(vec![3]))];
    assert_eq!(asked.iter().map(known).collect::<Vec<_>>(), expected);
    Ok(())
}
