//! A selector that is asked the same for several learners.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use fewest::core::{Budget, Context, Dataset, Error, Selection, Selector};

/// Remembers what it has selected from which samples.
pub struct Once {
    selector: Box<dyn Selector>,
    known: Mutex<HashMap<u64, Selection>>,
}

impl Once {
    pub fn new(selector: Box<dyn Selector>) -> Self {
        Self { selector, known: Mutex::default() }
    }
}

/// A number that tells features, target, budget and seed from all others.
fn key(data: &Dataset, budget: Budget, context: &Context<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (data.n_samples(), data.n_features(), context.seed).hash(&mut hasher);
    format!("{budget:?} {:?}", data.target()).hash(&mut hasher);
    let mut column = vec![0.0; data.n_samples()];
    for j in 0..data.n_features() {
        data.x().copy_column(j, &mut column);
        column.iter().for_each(|value| value.to_bits().hash(&mut hasher));
    }
    hasher.finish()
}

impl Selector for Once {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key(data, budget, context);
        if let Some(selection) = known().get(&key) {
            return Ok(selection.clone());
        }
        let selection = self.selector.select(data, budget, context)?;
        known().insert(key, selection.clone());
        Ok(selection)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use fewest::core::{DenseColumns, Status, Target};

    use super::*;

    struct Counting<'a>(&'a AtomicUsize);

    impl Selector for Counting<'static> {
        fn select(&self, data: &Dataset, _: Budget, _: &Context<'_>) -> Result<Selection, Error> {
            let count = self.0.fetch_add(1, Ordering::Relaxed);
            Ok(Selection::new(vec![count], vec![1.0], data.n_features(), Status::Converged))
        }
    }

    #[test]
    fn what_was_asked_before_is_not_computed_again() -> Result<(), Error> {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let once = Once::new(Box::new(Counting(&CALLS)));
        let data = |value: f64| {
            let x = DenseColumns::from_columns(&[vec![0.0, 1.0], vec![value, 2.0]])?;
            Dataset::new(x, Target::from_labels(&["a", "b"]))
        };
        let context = Context::default();
        let first = once.select(&data(1.0)?, Budget::Count(1), &context)?;
        assert_eq!(once.select(&data(1.0)?, Budget::Count(1), &context)?, first);
        assert_ne!(once.select(&data(1.5)?, Budget::Count(1), &context)?, first);
        assert_ne!(once.select(&data(1.0)?, Budget::Count(2), &context)?, first);
        assert_ne!(once.select(&data(1.0)?, Budget::Count(1), &Context::seeded(9))?, first);
        assert_eq!(CALLS.load(Ordering::Relaxed), 4);
        Ok(())
    }
}
