//! A run that is stopped answers with what it has, or says that it has nothing; never with an empty table.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fewest_core::{
    Budget, Column, Columns, Context, Dataset, DenseColumns, Error, OnDemand, Ranked, Scorer, Selector,
    Status, Target, derive_seed,
};
use fewest_dependence::{
    Bahsic, Ckta, Dependence, Fhsic, Fvm, Hsic, HsicLasso, NoccoLasso, Normalization, Qpfs,
};
use fewest_kernels::Form;
use fewest_testkit::StopAt;

fn data() -> Result<Dataset, Error> {
    let noise =
        |j: u64| -> Vec<f64> { (0..90).map(|i| derive_seed(j, i) as f64 / u64::MAX as f64 - 0.5).collect() };
    let columns: Vec<Vec<f64>> = (0..12).map(noise).collect();
    let y = (0..90).map(|i| columns[2][i] + 4.0 * columns[7][i].powi(2) + 0.8 * columns[9][i]).collect();
    Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(y)?)
}

#[test]
fn no_stop_gives_an_empty_table() -> Result<(), Error> {
    let data = data()?;
    let selectors: [(&str, Box<dyn Selector>); 7] = [
        ("bahsic", Box::new(Bahsic { fraction: 0.0, ..Bahsic::default() })),
        ("fhsic", Box::new(Fhsic::default())),
        ("hsic-lasso", Box::new(HsicLasso::default())),
        ("nocco-lasso", Box::new(NoccoLasso::default())),
        ("ckta", Box::new(Ckta::default())),
        ("qpfs", Box::new(Qpfs::default())),
        ("fvm", Box::new(Fvm::default())),
    ];
    for (name, selector) in selectors {
        let mut partial = 0;
        for number in 1..40 {
            let stop = StopAt::report(number);
            match selector.select(&data, Budget::Count(4), &stop.context(0)) {
                Ok(selection) => {
                    assert!(!selection.order.is_empty(), "{name}, stopped at {number}");
                    partial += u32::from(selection.status == Status::Interrupted);
                }
                Err(Error::Stopped { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        assert!(partial > 0 || !["bahsic", "fhsic"].contains(&name), "{name}: never stopped with an answer");
    }
    Ok(())
}

/// What is left after three rounds is what the whole run has at its front.
#[test]
fn an_elimination_that_is_stopped_has_the_features_left() -> Result<(), Error> {
    let data = data()?;
    let bahsic = Bahsic { fraction: 0.0, ..Bahsic::default() };
    let whole = bahsic.select(&data, Budget::Count(12), &Context::default())?;
    let stop = StopAt::report(3);
    let selection = bahsic.select(&data, Budget::Count(12), &stop.context(0))?;
    assert_eq!((selection.status, selection.order.len()), (Status::Interrupted, 12));
    assert_eq!(selection.order[9..], whole.order[9..], "those that went");
    assert!(selection.notes.iter().any(|note| note.contains("9 of 12 features were left")));
    // Those left are not ordered by elimination, but what matters is among them.
    let left = &selection.order[..9];
    assert!([2, 7, 9].iter().all(|feature| left.contains(feature)), "{left:?}");
    let mut both = [left.to_vec(), whole.order[..9].to_vec()];
    both.iter_mut().for_each(|features| features.sort_unstable());
    assert_eq!(both[0], both[1]);
    Ok(())
}

/// A table that raises a flag when its first column is read.
struct Raising {
    table: DenseColumns,
    raised: Arc<AtomicBool>,
    n_reads: Arc<AtomicUsize>,
}

impl Columns for Raising {
    fn n_samples(&self) -> usize {
        self.table.n_samples()
    }

    fn n_features(&self) -> usize {
        self.table.n_features()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        self.raised.store(true, Ordering::Relaxed);
        self.n_reads.fetch_add(1, Ordering::Relaxed);
        self.table.column(j, scratch)
    }
}

/// A table may take long to read: a stop is heard before its end.
#[test]
fn a_stop_is_heard_while_the_table_is_read() -> Result<(), Error> {
    let columns: Vec<Vec<f64>> =
        (0..500).map(|j| (0..20).map(|i| derive_seed(j, i) as f64 / u64::MAX as f64).collect()).collect();
    let target = Target::real(columns[3].clone())?;
    for selector in [&Fhsic::default() as &dyn Selector, &Bahsic::default()] {
        let (raised, n_reads) = (Arc::default(), Arc::default());
        let table = DenseColumns::from_columns(&columns)?;
        let table = Raising { table, raised: Arc::clone(&raised), n_reads: Arc::clone(&n_reads) };
        let data = Dataset::new(table, target.clone())?;
        // Making the data set may have read it.
        raised.store(false, Ordering::Relaxed);
        n_reads.store(0, Ordering::Relaxed);
        let context = Context { interrupt: Some(&*raised), ..Context::default() };
        let outcome = selector.select(&data, Budget::Count(4), &context);
        assert!(matches!(outcome, Err(Error::Stopped { .. })), "{outcome:?}");
        let n_reads = n_reads.load(Ordering::Relaxed);
        assert!((1..250).contains(&n_reads), "{n_reads} columns were read");
    }
    Ok(())
}

/// Stopped while the first features are read: those read by then have their scores, the others none.
#[test]
fn scores_that_a_stopped_run_has_are_kept() -> Result<(), Error> {
    let n = 40;
    let value = |j: usize, i: usize| derive_seed(j as u64, i as u64) as f64 / u64::MAX as f64 - 0.5;
    let y = Target::real((0..n).map(|i| value(0, i).powi(2) + value(1, i)).collect())?;
    for (form, normalization) in [
        (Form::Exact, Normalization::None),
        (Form::LowRank, Normalization::None),
        (Form::Exact, Normalization::Unit),
    ] {
        let raised = Arc::new(AtomicBool::new(false));
        let raise = Arc::clone(&raised);
        let columns = OnDemand::new(n, 3000, move |j, out: &mut [f64]| {
            out.iter_mut().enumerate().for_each(|(i, out)| *out = value(j, i));
            // With another feature, a thread may stop before the one that reads the first features.
            if j == 0 {
                raise.store(true, Ordering::Relaxed);
            }
            Ok(())
        });
        let data = Dataset::new(columns, y.clone())?;
        let scorer = Hsic { dependence: Dependence { form, normalization, ..Dependence::default() } };
        let context = Context { interrupt: Some(&raised), ..Context::default() };
        let found = scorer.score(&data, &context)?;
        let expected = scorer.score(&data, &Context::default())?;
        let n_known = found.values.iter().filter(|score| !score.is_nan()).count();
        assert!((1..3000).contains(&n_known), "{n_known}");
        assert_eq!(found.values[..n_known], expected.values[..n_known]);
        assert_eq!((found.status, expected.status), (Status::Interrupted, Status::Converged));
        assert!(found.notes[0].contains(&format!("{n_known} of 3000")), "{:?}", found.notes);
        assert!(expected.notes.is_empty());
        let selection = Ranked::new(scorer).select(&data, Budget::Count(5), &context);
        assert!(matches!(selection, Err(Error::Stopped { .. })), "stopped from the start");
    }
    Ok(())
}
