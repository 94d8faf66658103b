//! The squared hinge loss: certificates from the definition.

use std::sync::atomic::{AtomicBool, Ordering};

use fewest_cd::SquaredHingeDescent;
use fewest_solver::{
    BlockPenalty, Control, Datafit, DenseOperator, ElasticNetPenalty, Error, GroupLasso, L1, LinearOperator,
    Penalty, SquaredHinge, Status,
};

fn problem(n: usize, d: usize) -> SquaredHinge<DenseOperator> {
    // A linear congruential generator: columns that are not orthogonal and classes that overlap.
    let mut state = 12_345_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let common: Vec<f64> = (0..n).map(|_| next()).collect();
    let columns: Vec<f64> =
        (0..d).flat_map(|_| common.iter().map(|c| c + next()).collect::<Vec<_>>()).collect();
    let signal = |i: usize| columns[i] - 0.8 * columns[2 * n + i] + 0.5 * columns[5 * n + i];
    let labels = (0..n).map(|i| if signal(i) + 0.3 * next() > 0.1 { 1.0 } else { -1.0 }).collect();
    SquaredHinge::new(DenseOperator::new(columns, n, d).unwrap(), labels).unwrap()
}

/// Primal minus dual objective as defined: primal with the best bias, dual at `t α`.
fn gap(datafit: &SquaredHinge<DenseOperator>, penalty: &dyn BlockPenalty, w: &[f64]) -> f64 {
    let mut gradient = vec![0.0; w.len()];
    let primal = datafit.gradient(w, &mut gradient) + penalty.value(w);
    let v: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let t = penalty.dual_scale(&v);
    let scaled: Vec<f64> = v.iter().map(|v| t * v).collect();
    primal - (datafit.dual_value(w, t) - penalty.conjugate(&scaled))
}

#[test]
fn the_gap_is_that_of_the_definition_for_every_penalty() {
    for (n, d) in [(60, 12), (30, 200)] {
        let datafit = problem(n, d);
        let zero = datafit.value(&vec![0.0; d]);
        let mut gradient = vec![0.0; d];
        datafit.gradient(&vec![0.0; d], &mut gradient);
        let largest = gradient.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
        let groups: Vec<usize> = (0..d).map(|j| j / 3).collect();
        for ratio in [0.7, 0.2, 0.02] {
            let lambda = ratio * largest;
            let penalties: [Box<dyn BlockPenalty>; 3] = [
                Box::new(L1::new(lambda, d).unwrap()),
                Box::new(ElasticNetPenalty::new(L1::new(lambda, d).unwrap(), 0.3 * lambda).unwrap()),
                Box::new(GroupLasso::new(lambda, &groups).unwrap()),
            ];
            for (at, penalty) in penalties.iter().enumerate() {
                let control = Control::default();
                let found =
                    SquaredHingeDescent::default().minimise(&datafit, &**penalty, &[], &control).unwrap();
                assert_eq!(found.status, Status::Converged, "{n} × {d}, {ratio}, {at}: {found:?}");
                let expected = gap(&datafit, &**penalty, &found.coefficients);
                assert!(
                    (found.certificate.value() * zero - expected).abs() <= 1e-10 * zero,
                    "{} {expected}",
                    found.certificate.value()
                );
                assert!(expected <= 1.1e-9 * zero);
                let value = datafit.value(&found.coefficients) + penalty.value(&found.coefficients);
                assert!((found.objective - value).abs() <= 1e-12 * zero);
                // From another start to the same answer.
                let start: Vec<f64> = (0..d).map(|j| (j % 3) as f64 - 1.0).collect();
                let again =
                    SquaredHingeDescent::default().minimise(&datafit, &**penalty, &start, &control).unwrap();
                assert!((again.objective - found.objective).abs() <= 2e-9 * zero);
            }
        }
        // At the largest penalty and above nothing is selected.
        let none = L1::new(largest, d).unwrap();
        let found =
            SquaredHingeDescent::default().minimise(&datafit, &none, &[], &Control::default()).unwrap();
        assert!(found.coefficients.iter().all(|w| *w == 0.0));
    }
}

#[test]
fn samples_without_any_loss_left_are_no_trouble() {
    let datafit = problem(30, 200);
    // A start with all margins far beyond 1.
    let penalty = L1::new(1e-3, 200).unwrap();
    let mut fitted = vec![0.0; 30];
    let first =
        SquaredHingeDescent::default().minimise(&datafit, &penalty, &[], &Control::default()).unwrap();
    let start: Vec<f64> = first.coefficients.iter().map(|w| 50.0 * w).collect();
    datafit.operator().apply(&start, &mut fitted);
    assert!(datafit.slacks(&fitted).iter().all(|slack| *slack == 0.0));
    let again =
        SquaredHingeDescent::default().minimise(&datafit, &penalty, &start, &Control::default()).unwrap();
    assert_eq!(again.status, Status::Converged);
    assert!((again.objective - first.objective).abs() <= 1e-9 * datafit.value(&vec![0.0; 200]));
}

#[test]
fn bad_input_is_an_error() {
    let datafit = problem(30, 8);
    let minimise = |penalty: &dyn Penalty, start: &[f64]| {
        SquaredHingeDescent::default().minimise(&datafit, penalty, start, &Control::default()).unwrap_err()
    };
    assert!(matches!(minimise(&L1::new(1.0, 7).unwrap(), &[]), Error::ShapeMismatch { .. }));
    assert!(matches!(minimise(&L1::new(1.0, 8).unwrap(), &[0.0; 3]), Error::ShapeMismatch { .. }));
    let nan = minimise(&L1::new(1.0, 8).unwrap(), &[f64::NAN; 8]);
    assert!(matches!(nan, Error::InvalidParameter { name: "start", .. }), "{nan}");
    let huge = DenseOperator::new(vec![1e200, -1e200, 1e200, 3.0], 4, 1).unwrap();
    let datafit = SquaredHinge::new(huge, vec![1.0, -1.0, -1.0, 1.0]).unwrap();
    let error = SquaredHingeDescent::default().minimise(
        &datafit,
        &L1::new(1.0, 1).unwrap(),
        &[],
        &Control::default(),
    );
    assert!(matches!(error, Err(Error::Numerical { .. })), "{error:?}");
}

/// Interrupts when a column is asked for.
struct Interrupting<'a>(DenseOperator, &'a AtomicBool);

impl LinearOperator for Interrupting<'_> {
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn n_columns(&self) -> usize {
        self.0.n_columns()
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        self.1.store(true, Ordering::Relaxed);
        self.0.column(j, out);
    }

    fn apply(&self, w: &[f64], out: &mut [f64]) {
        self.0.apply(w, out);
    }

    fn apply_transpose(&self, r: &[f64], out: &mut [f64]) {
        self.0.apply_transpose(r, out);
    }
}

/// An iteration takes up to a hundred Newton steps: none is taken after a stop.
#[test]
fn a_stop_is_heard_within_an_iteration() -> Result<(), Error> {
    let datafit = problem(60, 12);
    let interrupt = AtomicBool::new(false);
    let operator = Interrupting(datafit.operator().clone(), &interrupt);
    let watched = SquaredHinge::new(operator, datafit.labels().to_vec())?;
    let control = Control { interrupt: Some(&interrupt), ..Control::default() };
    let found = SquaredHingeDescent::default().minimise(&watched, &L1::new(0.1, 12)?, &[], &control)?;
    assert_eq!(found.status, Status::Interrupted);
    assert!(found.coefficients.iter().all(|w| *w == 0.0), "{:?}", found.coefficients);
    Ok(())
}
