//! Sums that are taken of parts of the rows, as on several machines, give the scores of the table in memory.

use fewest_core::method::{Method, Parameters};
use fewest_core::{
    AskedPass, BATCH_ROWS, Budget, Context, Dataset, DenseColumns, Error, FeatureKind, RowBatches, RowSums,
    SampleStream, Selection, Selector, SummedElsewhere, Target, sum_part,
};
use fewest_filters::{information, similarity, statistical};

fn noise(i: usize, j: usize) -> f64 {
    (fewest_core::derive_seed(j as u64, i as u64) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Numbers of many sizes, categories, a constant; two classes or a real target.
fn data(n: usize, is_real: bool) -> Dataset {
    let class = |i: usize| u32::from(noise(i, 100) > 0.4);
    let value = |i: usize, j: usize| match j {
        0 => 4.0,
        1 => (40.0 * noise(i, j)).floor(),
        2 => (3.0 * noise(i, j)).floor() + f64::from(class(i)),
        // Whose squares are no numbers.
        3 => 1e200 * (noise(i, j) + f64::from(class(i))),
        _ => noise(i, j) * 10_f64.powi(j as i32) + f64::from(class(i)) * j as f64,
    };
    let columns: Vec<Vec<f64>> = (0..10).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    let target = match is_real {
        true => Target::real((0..n).map(|i| noise(i, 4) + noise(i, 101) / 3.0).collect()).unwrap(),
        false => {
            Target::classes((0..n).map(class).collect(), ["no", "yes"].map(str::to_owned).to_vec()).unwrap()
        }
    };
    let mut kinds = vec![FeatureKind::Numeric; columns.len()];
    let levels = |n: usize| (0..n).map(|level| level.to_string()).collect();
    kinds[1] = FeatureKind::Categorical { levels: levels(40) };
    kinds[2] = FeatureKind::Categorical { levels: levels(4) };
    let data = Dataset::new(DenseColumns::from_columns(&columns).unwrap(), target).unwrap();
    data.with_feature_kinds(kinds).unwrap()
}

/// As on machines that have the batches from each cut to the next.
fn select_in_parts(
    selector: &dyn Selector,
    data: &Dataset,
    cuts: &[usize],
    budget: Budget,
) -> Result<Selection, Error> {
    let context = Context::default();
    let in_passes = selector.in_passes().unwrap();
    let parts: Vec<(Dataset, usize)> = cuts
        .windows(2)
        .map(|cut| {
            let rows: Vec<usize> = (cut[0] * BATCH_ROWS..data.n_samples().min(cut[1] * BATCH_ROWS)).collect();
            (data.subset(&rows).unwrap(), cut[0])
        })
        .collect();
    let mut rows = RowBatches::new(data, 1000)?;
    let ask = |pass: AskedPass| {
        let sums = parts.iter().map(|(part, first_batch)| {
            let select = |stream: &mut dyn SampleStream| in_passes.select_stream(stream, budget, &context);
            sum_part(&mut RowBatches::new(part, 3000)?, *first_batch, &pass, select)
        });
        sums.collect()
    };
    in_passes.select_stream(&mut SummedElsewhere::new(&mut rows, ask), budget, &context)
}

/// A stream whose sums over all rows are kept.
struct Kept<'a> {
    stream: &'a mut dyn SampleStream,
    sums: Vec<Vec<u8>>,
}

impl SampleStream for Kept<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        self.stream.next_batch()
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.stream.rewind()
    }

    fn sum_elsewhere(&mut self, sums: &dyn RowSums) -> Result<Option<Vec<u8>>, Error> {
        let whole = self.stream.sum_elsewhere(sums)?;
        self.sums.extend(whole.clone());
        Ok(whole)
    }
}

fn methods() -> impl Iterator<Item = &'static Method> {
    [information::METHODS, similarity::METHODS, statistical::METHODS].into_iter().flatten()
}

#[test]
fn parts_have_the_bits_of_the_table() {
    let n = 5 * BATCH_ROWS + 123;
    let (classes, real) = (data(n, false), data(n, true));
    let mut seen = Vec::new();
    for method in methods() {
        // What a method of passes needs beside its defaults.
        for given in [&[][..], &["bins=5"], &["discretisation=equal-frequency"], &["coefficient=pearson"]] {
            let Ok(parameters) = Parameters::parse(method, given) else { continue };
            let Ok(built) = method.build(&parameters) else { continue };
            if !built.reads_in_passes() {
                continue;
            }
            let selector = built.into_selector();
            let budget = Budget::Count(5);
            for (data, target) in [(&classes, "classes"), (&real, "real")] {
                // What rows of one machine do not give, parts do not either.
                let (context, mut rows) = (Context::default(), RowBatches::new(data, 5000).unwrap());
                let in_passes = selector.in_passes().unwrap();
                let Ok(expected) = in_passes.select_stream(&mut rows, budget, &context) else { continue };
                assert_eq!(selector.select(data, budget, &context).unwrap(), expected, "{}", method.id);
                for cuts in [&[0, 6][..], &[0, 1, 6], &[0, 2, 3, 5, 6]] {
                    let found = select_in_parts(&*selector, data, cuts, budget).unwrap();
                    assert_eq!(found, expected, "{} {given:?} {cuts:?}", method.id);
                    seen.push((method.id, target));
                }
            }
        }
    }
    seen.dedup();
    let scores = ["variance", "f-score", "t-score", "fisher", "correlation", "chi2", "gini"];
    let criteria = ["mim", "mrmr", "jmi", "cmim", "jmi3", "fcq"];
    let of = |ids: &[&'static str], target| ids.iter().map(move |id| (*id, target)).collect::<Vec<_>>();
    for expected in [of(&scores, "classes"), of(&criteria, "classes"), of(&criteria, "real")].concat() {
        assert!(seen.contains(&expected), "{expected:?} is not among {seen:?}");
    }
}

#[test]
fn a_part_with_other_features_or_of_another_pass_is_an_error() {
    // One pass: no squares that overflow.
    let data = data(2 * BATCH_ROWS, false).feature_subset(&[0, 1, 2, 4, 5]).unwrap();
    let method = methods().find(|method| method.id == "f-score").unwrap();
    let selector = method.build(&Parameters::defaults(method)).unwrap().into_selector();
    let in_passes = selector.in_passes().unwrap();
    let (budget, context) = (Budget::Count(2), Context::default());
    let part = |data: &Dataset, batch: usize, earlier: &[Vec<u8>]| {
        let select = |stream: &mut dyn SampleStream| in_passes.select_stream(stream, budget, &context);
        let pass = AskedPass { earlier: earlier.to_vec(), ..AskedPass::default() };
        sum_part(&mut RowBatches::new(data, 500)?, batch, &pass, select)
    };
    let rows = |first: usize| data.subset(&(first..first + BATCH_ROWS).collect::<Vec<_>>()).unwrap();
    let (first, second) = (rows(0), rows(BATCH_ROWS));
    let fewer = second.feature_subset(&[0, 1, 2]).unwrap();
    let sums = |second: &Dataset, batch: usize| {
        vec![part(&first, 0, &[]).unwrap(), part(second, batch, &[]).unwrap()]
    };
    let mut all = RowBatches::new(&data, 500).unwrap();
    let mut select = |sums: Vec<Vec<u8>>| {
        let mut stream = SummedElsewhere::new(&mut all, |_| Ok(sums.clone()));
        in_passes.select_stream(&mut stream, budget, &context)
    };
    assert!(select(sums(&second, 1)).is_ok());
    // Other features, other numbers of batches, bytes that are none.
    assert!(select(sums(&fewer, 1)).is_err());
    assert!(select(sums(&second, 0)).is_err());
    assert!(select(vec![part(&first, 0, &[]).unwrap()[1..].to_vec()]).is_err());
    assert!(select(Vec::new()).is_err());
    // The method has one pass: after it nothing is left to sum.
    let mut rows = RowBatches::new(&data, 500).unwrap();
    let mut stream = SummedElsewhere::new(&mut rows, |_| Ok(sums(&second, 1)));
    let mut kept = Kept { stream: &mut stream, sums: Vec::new() };
    in_passes.select_stream(&mut kept, budget, &context).unwrap();
    assert_eq!(kept.sums.len(), 1);
    assert!(matches!(
        part(&first, 0, &kept.sums),
        Err(Error::InvalidParameter { name: "pass", value, .. }) if value == "1"
    ));
    // Bytes that are no sums of a pass.
    assert!(part(&first, 0, &[vec![1, 2, 3]]).is_err());
}
