//! A run that is stopped answers with what it has, or says that it has nothing; never with an empty table.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, Progress, Selector, Status, Target, derive_seed,
};
use fewest_dependence::{Bahsic, Ckta, Fhsic, Fvm, HsicLasso, NoccoLasso, Qpfs};

/// Interrupts at the progress report of this number.
struct StopAt {
    number: u64,
    seen: AtomicU64,
    raised: AtomicBool,
}

impl StopAt {
    fn new(number: u64) -> Self {
        Self { number, seen: AtomicU64::new(0), raised: AtomicBool::new(false) }
    }
}

impl Progress for StopAt {
    fn update(&self, _: &str, _: u64, _: u64) {
        if self.seen.fetch_add(1, Ordering::Relaxed) + 1 == self.number {
            self.raised.store(true, Ordering::Relaxed);
        }
    }
}

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
            let stop = StopAt::new(number);
            let context =
                Context { progress: Some(&stop), interrupt: Some(&stop.raised), ..Context::default() };
            match selector.select(&data, Budget::Count(4), &context) {
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
    let stop = StopAt::new(3);
    let context = Context { progress: Some(&stop), interrupt: Some(&stop.raised), ..Context::default() };
    let selection = bahsic.select(&data, Budget::Count(12), &context)?;
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
