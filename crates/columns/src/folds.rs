//! Folds of a cross-validation.

use fewest_core::{Dataset, Error, Target, derive_seed, order};

/// The fold of each sample, `0 .. n_folds`, where the samples are dealt in this `order` like cards: every
/// stretch of consecutive samples is spread evenly over the folds.
///
/// # Errors
/// [`Error::InvalidParameter`], in the name of `parameter`, for fewer than two folds or more than samples.
///
/// # Panics
/// Unless `order` has every index below its length once.
pub fn deal(order: &[usize], n_folds: usize, parameter: &'static str) -> Result<Vec<usize>, Error> {
    let n = order.len();
    if n_folds < 2 || n_folds > n {
        return Err(Error::parameter(parameter, n_folds, format!("from 2 to the number of samples, {n}")));
    }
    let mut folds = vec![0; n];
    for (place, &row) in order.iter().enumerate() {
        folds[row] = place % n_folds;
    }
    Ok(folds)
}

/// All samples in an order that `seed` decides, those of a class one after the other: for [`deal`].
pub fn seeded_order(data: &Dataset, seed: u64) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..data.n_samples()).collect();
    rows.sort_by_key(|&row| derive_seed(seed, row as u64));
    by_class(rows, data.target())
}

/// The samples `rows`, those of a class one after the other, each class in the order they had; of survival
/// times those with an event, and then the others. As they were where the target is something else.
pub fn by_class(rows: Vec<usize>, target: &Target) -> Vec<usize> {
    let codes: Vec<usize> = match target {
        Target::Class(classes) => rows.iter().map(|&row| classes.codes()[row] as usize).collect(),
        Target::Survival(survival) => rows.iter().map(|&row| usize::from(!survival.events()[row])).collect(),
        _ => return rows,
    };
    order::by_key(&codes).into_iter().map(|at| rows[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_spread_evenly_over_folds_that_are_as_large_as_each_other() {
        let codes: Vec<usize> = (0..37).map(|i| i * i % 7 % 4).collect();
        let rows: Vec<usize> = (0..37).map(|i| i * 5 % 37).collect();
        let sorted = by_class(rows.clone(), &Target::from_labels(&codes));
        assert!(sorted.windows(2).all(|pair| codes[pair[0]] <= codes[pair[1]]));
        let of = |class: usize, rows: &[usize]| -> Vec<usize> {
            rows.iter().copied().filter(|&row| codes[row] == class).collect()
        };
        assert!((0..4).all(|class| of(class, &sorted) == of(class, &rows)));
        assert_eq!(by_class(rows.clone(), &Target::None), rows);
        for n_folds in [2, 3, 5, 37] {
            let folds = deal(&sorted, n_folds, "folds").unwrap();
            let spread = |class: Option<usize>| {
                let inside = |row: &usize| class.is_none_or(|class| codes[*row] == class);
                let size = |fold| (0..37).filter(|row| inside(row) && folds[*row] == fold).count();
                let sizes: Vec<usize> = (0..n_folds).map(size).collect();
                sizes.iter().max().unwrap() - sizes.iter().min().unwrap()
            };
            assert!(spread(None) <= 1 && (0..4).all(|class| spread(Some(class)) <= 1));
        }
        for n_folds in [0, 1, 38] {
            assert!(matches!(deal(&sorted, n_folds, "x"), Err(Error::InvalidParameter { name: "x", .. })));
        }
    }
}
