//! HSIC of samples that arrive: that of the table, but for the error that is told.

use fewest_core::method::{KernelWidth, Parameters};
use fewest_core::{
    Accumulator, Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Scorer, Scores, StreamSelector,
    Target, derive_seed,
};
use fewest_dependence::{
    Dependence, Hsic, HsicEstimator, HsicStream, HsicSums, InputKernel, METHODS, Normalization, OutputKernel,
};

fn noise(i: usize, j: usize) -> f64 {
    derive_seed(j as u64, i as u64) as f64 / u64::MAX as f64 - 0.5
}

/// About normal.
fn normal(i: usize, j: usize) -> f64 {
    (0..12).map(|part| noise(i, 100 * j + part)).sum()
}

/// Numbers of many kinds, a constant, whole numbers and categories of four and two levels.
fn features(n: usize) -> Vec<Vec<f64>> {
    let column = |value: &dyn Fn(usize) -> f64| (0..n).map(value).collect::<Vec<f64>>();
    vec![
        column(&|i| normal(i, 1)),
        column(&|i| 1e9 + 1e-3 * normal(i, 2)),
        column(&|i| 1e300 * noise(i, 3)),
        column(&|i| 1e-300 * (-(noise(i, 4) + 0.5).ln())),
        column(&|_| 2.5),
        column(&|i| (6.0 * noise(i, 5)).floor()),
        // What moves on while samples arrive.
        column(&|i| i as f64 / n as f64 + 0.1 * noise(i, 6)),
        column(&|i| (4.0 * (noise(i, 7) + 0.5)).floor()),
        column(&|i| f64::from(noise(i, 8) > 0.3)),
    ]
}

fn table(n: usize, target: impl Fn(&[Vec<f64>], usize) -> f64, classes: bool) -> Result<Dataset, Error> {
    let columns = features(n);
    let y: Vec<f64> = (0..n).map(|i| target(&columns, i)).collect();
    let target = match classes {
        false => Target::real(y)?,
        // One that has no samples.
        true => {
            let names = ["none", "low", "middle", "high"].map(str::to_owned).to_vec();
            let code = |y: &f64| if *y < 0.0 { 1 } else { 2 + u32::from(*y > 1.0) };
            Target::classes(y.iter().map(code).collect(), names)?
        }
    };
    let mut kinds = vec![FeatureKind::Numeric; columns.len()];
    kinds[7] = FeatureKind::Categorical { levels: ["a", "b", "c", "d"].map(str::to_owned).to_vec() };
    kinds[8] = FeatureKind::Categorical { levels: ["no", "yes"].map(str::to_owned).to_vec() };
    Dataset::new(DenseColumns::from_columns(&columns)?, target)?.with_feature_kinds(kinds)
}

fn related(columns: &[Vec<f64>], i: usize) -> f64 {
    columns[0][i].powi(2) + 0.5 * columns[5][i] + columns[6][i] + columns[7][i] / 3.0 + 0.3 * normal(i, 9)
}

fn hsic(output: OutputKernel, normalization: Normalization) -> Hsic {
    Hsic { dependence: Dependence { output, normalization, ..Dependence::default() } }
}

fn summed(hsic: &Hsic, data: &Dataset, cuts: &[usize]) -> Result<HsicSums, Error> {
    let mut sums = HsicSums::new(hsic)?;
    let mut first = 0;
    for &end in cuts.iter().chain([&data.n_samples()]) {
        sums.update(&data.subset(&(first..end).collect::<Vec<_>>())?)?;
        first = end;
    }
    Ok(sums)
}

/// The share of the largest score that a note says scores may be wrong by.
fn told_error(scores: &Scores) -> f64 {
    let told = scores.notes.iter().find_map(|note| note.strip_prefix("scores to ")?.split(' ').next());
    told.and_then(|share| share.parse().ok()).unwrap_or(0.0)
}

#[test]
fn scores_are_the_exact_ones_but_for_what_is_told() -> Result<(), Error> {
    let gaussian = || OutputKernel::Gaussian { sigma_y: KernelWidth::Value(0.7) };
    let cases = [
        (false, OutputKernel::Auto),
        (false, gaussian()),
        (true, OutputKernel::Auto),
        (true, OutputKernel::PlainDelta),
        (true, gaussian()),
    ];
    for (classes, output) in cases {
        let data = table(600, related, classes)?;
        for normalization in [Normalization::None, Normalization::Unit] {
            let hsic = hsic(output.clone(), normalization);
            let mut exact = hsic.clone();
            exact.dependence.form = fewest_kernels::Form::Exact;
            let exact = exact.score(&data, &Context::default())?.values;
            let found = summed(&hsic, &data, &[1, 2, 100])?.scores()?;
            let largest = exact.iter().copied().fold(0.0, f64::max);
            let told = told_error(&found);
            assert!(told > 0.0 && told < 1e-3, "{output:?} {normalization:?}: {told}");
            for (j, (found, exact)) in found.values.iter().zip(&exact).enumerate() {
                let error = (found - exact).abs();
                assert!(error <= told * largest, "{output:?} {normalization:?} {j}: {found} for {exact}");
                // What is told is a bound.
                assert!(error <= 2e-5 * largest, "{output:?} {normalization:?} {j}: {found} for {exact}");
            }
            assert_eq!(found.values[4], 0.0);
        }
    }
    Ok(())
}

/// A category with classes needs no grid: nothing is told, and only rounding is lost.
#[test]
fn levels_are_exact() -> Result<(), Error> {
    let data = table(300, related, true)?.feature_subset(&[7, 8])?;
    let hsic = Hsic::default();
    let found = summed(&hsic, &data, &[7])?.scores()?;
    assert!(found.notes.is_empty());
    for (found, exact) in found.values.iter().zip(hsic.score(&data, &Context::default())?.values) {
        assert!((found - exact).abs() < 1e-9 * exact.abs(), "{found} for {exact}");
    }
    Ok(())
}

#[test]
fn a_narrower_kernel_has_a_larger_error_and_tells_it() -> Result<(), Error> {
    let data = table(500, related, false)?;
    let with = |sigma: f64| Hsic {
        dependence: Dependence {
            kernel: InputKernel::Gaussian { sigma_x: KernelWidth::Value(sigma) },
            ..Dependence::default()
        },
    };
    let mut before = 0.0;
    for sigma in [2.0, 1.0, 0.3, 0.1] {
        let exact = with(sigma).score(&data, &Context::default())?.values;
        let found = summed(&with(sigma), &data, &[])?.scores()?;
        let told = told_error(&found);
        assert!(told >= before);
        before = told;
        let largest = exact.iter().copied().fold(0.0, f64::max);
        for (found, exact) in found.values.iter().zip(&exact) {
            assert!((found - exact).abs() <= (told + 0.01) * largest, "{sigma}: {found} for {exact}");
        }
    }
    assert!(before > 1e-3);
    Ok(())
}

fn bits(scores: &Scores) -> Vec<u64> {
    scores.values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn how_samples_come_together_changes_no_bit_nor_do_threads() -> Result<(), Error> {
    for classes in [false, true] {
        let data = table(400, related, classes)?;
        let one = summed(&Hsic::default(), &data, &[])?.scores()?;
        let each: Vec<usize> = (1..400).collect();
        let all = [vec![1], vec![3, 50, 51, 399], each];
        for cuts in all {
            let found = summed(&Hsic::default(), &data, &cuts)?.scores()?;
            assert_eq!((bits(&found), &found.notes), (bits(&one), &one.notes), "{cuts:?}");
        }
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        let found = alone.install(|| summed(&Hsic::default(), &data, &[77]))?;
        assert_eq!(bits(&found.scores()?), bits(&one));
    }
    Ok(())
}

#[test]
fn merged_sums_are_those_of_all_samples_whatever_their_order() -> Result<(), Error> {
    for classes in [false, true] {
        let data = table(500, related, classes)?;
        let whole = summed(&Hsic::default(), &data, &[])?.scores()?;
        let part = |rows: std::ops::Range<usize>| -> Result<HsicSums, Error> {
            let mut sums = HsicSums::new(&Hsic::default())?;
            sums.update(&data.subset(&rows.collect::<Vec<_>>())?)?;
            Ok(sums)
        };
        // Parts of very different ranges: the last feature but two moves on.
        for parts in [[0..1, 1..30, 30..500], [400..500, 0..3, 3..400], [200..201, 201..500, 0..200]] {
            let mut sums = HsicSums::new(&Hsic::default())?;
            for rows in parts {
                sums.merge(part(rows)?)?;
            }
            sums.merge(HsicSums::new(&Hsic::default())?)?;
            assert_eq!(sums.n_samples(), 500);
            let largest = whole.values.iter().copied().fold(0.0, f64::max);
            for (found, whole) in sums.finish()?.values.iter().zip(&whole.values) {
                assert!((found - whole).abs() < 1e-5 * largest, "{found} for {whole}");
            }
        }
    }
    let mut sums = summed(&Hsic::default(), &table(50, related, true)?, &[])?;
    let before = bits(&sums.scores()?);
    assert!(sums.merge(summed(&Hsic::default(), &table(50, related, false)?, &[])?).is_err());
    assert_eq!(bits(&sums.scores()?), before);
    Ok(())
}

#[test]
fn memory_does_not_grow_with_what_arrives() -> Result<(), Error> {
    for (classes, most) in [(false, 128 * 128), (true, 512 * 4)] {
        let mut sums = HsicSums::new(&Hsic::default())?;
        for part in 0..40 {
            let mut columns = features(200);
            // A walk that goes everywhere, and far.
            columns[0].iter_mut().for_each(|value| *value *= 3.0_f64.powi(part));
            let target = match classes {
                false => Target::real(columns[0].clone())?,
                true => Target::classes(
                    (0..200).map(|i| i % 4).collect(),
                    ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
                )?,
            };
            sums.update(&Dataset::new(DenseColumns::from_columns(&columns)?, target)?)?;
            assert!(sums.size() <= 9 * most, "{part}: {}", sums.size());
        }
        assert!(sums.scores()?.values.iter().all(|score| score.is_finite()));
    }
    Ok(())
}

/// The feature of which the target is the square is found, and a constant one never selected.
#[test]
fn a_stream_selects_saves_and_goes_on() -> Result<(), Error> {
    let data = table(300, |columns, i| columns[0][i].powi(2), false)?;
    let half = |rows: std::ops::Range<usize>| data.subset(&rows.collect::<Vec<_>>());
    let context = Context::default();
    let method = METHODS.iter().find(|method| method.id == "hsic").expect("hsic");
    let mut stream = method.stream(&Parameters::defaults(method), Budget::Auto, 0)?;
    assert!(matches!(
        stream.selection(Budget::Count(0)),
        Err(Error::TooFew { .. } | Error::InvalidParameter { .. })
    ));
    stream.update(&half(0..120)?, &context)?;
    let mut other = HsicStream::new(&Hsic::default())?;
    other.restore(&stream.save()?)?;
    stream.update(&half(120..300)?, &context)?;
    other.update(&half(120..300)?, &context)?;
    let selection = stream.selection(Budget::Count(9))?;
    assert_eq!(selection, other.selection(Budget::Count(9))?);
    assert_eq!((selection.order[0], selection.order.len()), (0, 8));
    assert!(!selection.order.contains(&4));
    assert_eq!(stream.save()?, other.save()?);
    assert!(stream.held().bytes > 0 && stream.held() == other.held());
    let threshold = Budget::Threshold(selection.scores[2]);
    assert_eq!(stream.selection(threshold)?.order, selection.order[..3]);
    Ok(())
}

#[test]
fn an_error_leaves_everything_as_it_was() -> Result<(), Error> {
    let context = Context::default();
    let data = table(60, related, true)?;
    let mut stream = HsicStream::new(&Hsic::default())?;
    stream.update(&data, &context)?;
    let before = stream.save()?;
    let mut columns = features(60);
    columns[6][59] = f64::NAN;
    let broken = data.clone().with_x(DenseColumns::from_columns(&columns)?)?;
    columns[6][59] = 0.0;
    columns[7][59] = 4.0;
    let level = data.clone().with_x(DenseColumns::from_columns(&columns)?)?;
    let hostile = [
        (broken, "sample 59"),
        (level, "a whole number below 4"),
        (data.feature_subset(&[0, 1])?, "features of a batch"),
        (data.clone().with_sample_weights(vec![1.0; 60])?, "weighting samples"),
        (data.clone().with_target(Target::from_labels(&[1; 60]))?, "name all classes"),
        (data.clone().with_target(Target::None)?, "classes or one real output"),
        (data.clone().with_feature_kinds(vec![FeatureKind::Numeric; 9])?, "name all levels"),
    ];
    for (hostile, expected) in hostile {
        let message = stream.update(&hostile, &context).map_err(|error| error.to_string());
        assert!(matches!(&message, Err(found) if found.contains(expected)), "{message:?}");
        assert_eq!(stream.save()?, before);
    }
    for len in (0..before.len()).step_by(997).chain([before.len() - 1]) {
        assert!(stream.restore(&before[..len]).is_err(), "{len}");
    }
    let other = hsic(OutputKernel::PlainDelta, Normalization::None);
    assert!(HsicStream::new(&other)?.restore(&before).is_err());
    assert_eq!(stream.save()?, before);
    Ok(())
}

#[test]
fn what_needs_all_samples_is_refused_before_any() {
    type Change = fn(&mut Dependence);
    let with = |change: Change| {
        let mut hsic = Hsic::default();
        change(&mut hsic.dependence);
        HsicSums::new(&hsic).map(|_| ()).map_err(|error| error.to_string())
    };
    assert!(with(|_| ()).is_ok());
    let refused: [(&str, Change); 6] = [
        ("kernel=gaussian", |own| own.kernel = InputKernel::Laplace { sigma_x: KernelWidth::Value(1.0) }),
        ("sigma_x", |own| own.kernel = InputKernel::Gaussian { sigma_x: KernelWidth::Median }),
        ("sigma_y", |own| own.output = OutputKernel::Gaussian { sigma_y: KernelWidth::Median }),
        ("estimator", |own| own.estimator = HsicEstimator::Block { block_size: 10, permutations: 2 }),
        ("form", |own| own.form = fewest_kernels::Form::Exact),
        ("factor_tolerance", |own| own.factor_tolerance = 1e-3),
    ];
    for (name, change) in refused {
        let found = with(change);
        assert!(matches!(&found, Err(message) if message.contains(name)), "{name}: {found:?}");
    }
}

#[test]
fn targets_that_do_not_vary_and_too_few_samples_are_errors() -> Result<(), Error> {
    let sums = |target: Target| -> Result<Scores, Error> {
        let n = target.n_samples().unwrap_or(0);
        let x = DenseColumns::from_columns(&[(0..n).map(|i| i as f64).collect()])?;
        let mut sums = HsicSums::new(&Hsic::default())?;
        sums.update(&Dataset::new(x, target)?)?;
        sums.scores()
    };
    assert!(matches!(sums(Target::real(vec![1.0])?), Err(Error::TooFew { .. })));
    assert!(matches!(sums(Target::real(vec![1.0; 5])?), Err(Error::UnsupportedTarget { .. })));
    assert!(matches!(sums(Target::from_labels(&[1, 1, 1])), Err(Error::UnsupportedTarget { .. })));
    assert!(sums(Target::real(vec![f64::MIN_POSITIVE / 8.0, 0.0, 1e-310])?)?.values[0] > 0.0);
    assert!(sums(Target::real(vec![f64::MAX, f64::MIN, 0.0])?)?.values[0] > 0.0);
    Ok(())
}
