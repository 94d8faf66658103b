//! Optimality from the definition, on programs of every kind.

use std::sync::atomic::AtomicBool;

use fewest_core::derive_seed;
use fewest_simplex::{Cost, Simplex};
use fewest_solver::{Control, Error, Status};
use proptest::prelude::*;

/// What a cost was made from, so that its slopes are known here without asking it.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Hinge(f64, f64, f64),
    Within(f64, f64),
}

/// A cost with a slope added.
type Spec = (Kind, f64);

fn cost((kind, tilt): Spec) -> Cost {
    let plain = match kind {
        Kind::Hinge(kink, left, right) => Cost::hinge(kink, left, right),
        Kind::Within(low, high) => Cost::within(low, high),
    };
    plain.tilted(tilt)
}

/// The value of a cost at `t`.
fn value((kind, tilt): Spec, t: f64) -> f64 {
    let plain = match kind {
        Kind::Hinge(kink, left, right) => (left * (t - kink)).max(right * (t - kink)),
        Kind::Within(..) => 0.0,
    };
    plain + tilt * t
}

/// The largest distance of `slope` from the subgradients at `t`, or of `t` from where the cost is finite;
/// what is nearer to a kink than `near` is at it.
fn broken((kind, tilt): Spec, t: f64, slope: f64, near: f64) -> f64 {
    let (low, high, slopes) = match kind {
        Kind::Hinge(kink, left, right) => (kink, kink, [left, right, right]),
        Kind::Within(low, high) => (low, high, [f64::NEG_INFINITY, 0.0, f64::INFINITY]),
    };
    let inner = if low == high { slopes[2] } else { slopes[1] };
    let (least, most) = match kind {
        _ if t < low - near => (slopes[0], slopes[0]),
        _ if t > high + near => (slopes[2], slopes[2]),
        _ if low == high => (slopes[0], slopes[2]),
        _ if t <= low + near => (slopes[0], inner),
        _ if t >= high - near => (inner, slopes[2]),
        _ => (inner, inner),
    };
    if least == most && least.is_infinite() {
        return (low - t).max(t - high);
    }
    (least + tilt - slope).max(slope - most - tilt).max(0.0)
}

#[derive(Debug, Clone)]
struct Problem {
    rows: Vec<Spec>,
    columns: Vec<Spec>,
    /// Column after column.
    entries: Vec<f64>,
}

impl Problem {
    /// Numbers between −1 and 1, rounded to multiples of 1/`grain`: a small one makes many ties.
    fn new(seed: u64, m: usize, p: usize, grain: f64) -> Self {
        let number = |stream: u64, at: usize| {
            let share = derive_seed(derive_seed(seed, stream), at as u64) as f64 / u64::MAX as f64;
            ((2.0 * share - 1.0) * grain).round() / grain
        };
        let rows = (0..m)
            .map(|i| match i % 3 {
                0 => (Kind::Hinge(1.0, -1.0, 0.0), 0.0),
                1 => (Kind::Within(-1.0 - number(1, i).abs(), 1.0), 0.0),
                _ => (Kind::Hinge(number(2, i), -0.5, 2.0), 0.25 * number(3, i)),
            })
            .collect();
        let columns = (0..p)
            .map(|j| match j % 3 {
                0 => (Kind::Hinge(0.0, -0.3, 0.3), 0.2 * number(4, j)),
                1 => (Kind::Within(0.0, 2.0), -number(5, j).abs()),
                _ => (Kind::Hinge(0.0, -0.1, 0.1), 0.0),
            })
            .collect();
        Self { rows, columns, entries: (0..m * p).map(|at| number(6, at)).collect() }
    }

    fn simplex(&self) -> Simplex {
        let mut simplex = Simplex::default();
        let rows: Vec<(usize, Cost)> = self.rows.iter().map(|spec| cost(*spec)).enumerate().collect();
        let columns: Vec<(usize, Cost)> = self.columns.iter().map(|spec| cost(*spec)).enumerate().collect();
        simplex.add_rows(&rows, &[]).unwrap();
        simplex.add_columns(&columns, &self.entries).unwrap();
        simplex
    }

    fn point(&self, simplex: &Simplex) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (mut x, mut y) = (vec![0.0; self.columns.len()], vec![0.0; self.rows.len()]);
        simplex.values().for_each(|(j, value)| x[j] = value);
        simplex.duals().for_each(|(i, value)| y[i] = value);
        let m = self.rows.len();
        let z = (0..m).map(|i| (0..x.len()).map(|j| x[j] * self.entries[i + j * m]).sum()).collect();
        (x, y, z)
    }

    fn objective(&self, simplex: &Simplex) -> f64 {
        let (x, _, z) = self.point(simplex);
        let costs = |specs: &[Spec], values: &[f64]| -> f64 {
            specs.iter().zip(values).map(|(spec, value_at)| value(*spec, *value_at)).sum()
        };
        costs(&self.columns, &x) + costs(&self.rows, &z)
    }

    /// The largest violation of an optimality condition, computed from the definition.
    fn violation(&self, simplex: &Simplex) -> f64 {
        let (x, y, z) = self.point(simplex);
        let m = self.rows.len();
        let mut worst = 0.0_f64;
        for (j, spec) in self.columns.iter().enumerate() {
            let slope = -(0..m).map(|i| y[i] * self.entries[i + j * m]).sum::<f64>();
            worst = worst.max(broken(*spec, x[j], slope, 1e-11));
        }
        for (i, spec) in self.rows.iter().enumerate() {
            worst = worst.max(broken(*spec, z[i], y[i], 1e-11));
        }
        worst
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    /// Programs of any shape; with a small grain nearly every vertex is degenerate.
    #[test]
    fn the_conditions_of_an_optimum_hold(
        seed in any::<u64>(), m in 0_usize..30, p in 0_usize..30, grain in prop::sample::select(vec![1.0, 3.0, 1e6]),
    ) {
        let problem = Problem::new(seed, m, p, grain);
        let mut simplex = problem.simplex();
        prop_assert_eq!(simplex.minimise(&Control::default()).unwrap(), Status::Converged);
        let violation = problem.violation(&simplex);
        prop_assert!(violation <= 1e-10, "{} after {} steps", violation, simplex.n_steps());
    }

    /// Rows and columns that join later, and costs that change, lead where those that were there at once do.
    #[test]
    fn what_joins_later_changes_nothing(
        seed in any::<u64>(), m in 1_usize..25, p in 1_usize..25, grain in prop::sample::select(vec![2.0, 1e6]),
    ) {
        let problem = Problem::new(seed, m, p, grain);
        let control = Control::default();
        let mut at_once = problem.simplex();
        at_once.minimise(&control).unwrap();
        let (half_m, half_p) = (m / 2, p / 2);
        let mut simplex = Simplex::default();
        let entries = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| -> Vec<f64> {
            columns.flat_map(|j| problem.entries[rows.start + j * m..rows.end + j * m].to_vec()).collect()
        };
        let rows: Vec<_> = problem.rows.iter().map(|spec| cost(*spec)).enumerate().collect();
        let columns: Vec<_> = problem.columns.iter().map(|spec| cost(*spec)).enumerate().collect();
        simplex.add_rows(&rows[..half_m], &[]).unwrap();
        // At first with another slope.
        let other: Vec<_> = columns[..half_p].iter().map(|(j, cost)| (*j, cost.tilted(0.05))).collect();
        simplex.add_columns(&other, &entries(0..half_m, 0..half_p)).unwrap();
        simplex.minimise(&control).unwrap();
        simplex.set_column_costs(|j| columns[j].1).unwrap();
        simplex.add_columns(&columns[half_p..], &entries(0..half_m, half_p..p)).unwrap();
        simplex.minimise(&control).unwrap();
        simplex.add_rows(&rows[half_m..], &entries(half_m..m, 0..p)).unwrap();
        prop_assert_eq!(simplex.minimise(&control).unwrap(), Status::Converged);
        let (one, other) = (problem.objective(&at_once), problem.objective(&simplex));
        prop_assert!((one - other).abs() <= 1e-10 * (1.0 + one.abs()), "{} and {}", one, other);
        prop_assert!(problem.violation(&simplex) <= 1e-10);
    }
}

/// With every unit a million times larger or smaller the vertex is the same.
#[test]
fn units_do_not_matter() -> Result<(), Error> {
    for seed in 0..20 {
        let problem = Problem::new(seed, 20, 15, 1e6);
        let mut simplex = problem.simplex();
        simplex.minimise(&Control::default())?;
        let (x, ..) = problem.point(&simplex);
        for unit in [1e-6, 1e6] {
            // The objective in another unit.
            let scaled = |&(kind, tilt): &Spec| match kind {
                Kind::Hinge(kink, left, right) => (Kind::Hinge(kink, unit * left, unit * right), unit * tilt),
                Kind::Within(..) => (kind, unit * tilt),
            };
            let other = Problem {
                rows: problem.rows.iter().map(scaled).collect(),
                columns: problem.columns.iter().map(scaled).collect(),
                entries: problem.entries.clone(),
            };
            let mut simplex = other.simplex();
            assert_eq!(simplex.minimise(&Control::default())?, Status::Converged);
            for (x, other) in x.iter().zip(other.point(&simplex).0) {
                assert!((x - other).abs() <= 1e-9, "{x} and {other}");
            }
        }
    }
    Ok(())
}

/// Bounds that no point keeps, and an objective that falls for ever.
#[test]
fn programs_without_an_optimum_are_told_apart() -> Result<(), Error> {
    let mut empty = Simplex::default();
    empty.add_rows(&[(0, Cost::within(2.0, 3.0)), (1, Cost::within(-1.0, 1.0))], &[])?;
    empty.add_columns(&[(0, Cost::free())], &[1.0, 1.0])?;
    assert_eq!(empty.minimise(&Control::default())?, Status::Stalled);
    let mut falling = Simplex::default();
    falling.add_rows(&[(0, Cost::hinge(1.0, -1.0, 0.0))], &[])?;
    falling.add_columns(&[(0, Cost::free().tilted(-1.0))], &[1.0])?;
    let error = falling.minimise(&Control::default());
    assert!(matches!(error, Err(Error::Numerical { .. })), "{error:?}");
    let mut broken = Simplex::default();
    broken.add_rows(&[(0, Cost::within(-1.0, 1.0))], &[])?;
    broken.add_columns(&[(0, Cost::absolute(1.0))], &[f64::NAN])?;
    assert!(matches!(broken.minimise(&Control::default()), Err(Error::Numerical { .. })));
    Ok(())
}

/// A run that is stopped goes on from where it was.
#[test]
fn a_stop_leaves_a_vertex() -> Result<(), Error> {
    let problem = Problem::new(7, 30, 25, 1e6);
    let mut simplex = problem.simplex();
    let flag = AtomicBool::new(true);
    let stopped = Control { interrupt: Some(&flag), ..Control::default() };
    assert_eq!(simplex.minimise(&stopped)?, Status::Interrupted);
    let few = Control { max_iterations: 3, ..Control::default() };
    assert_eq!(simplex.minimise(&few)?, Status::MaxIterations);
    assert_eq!(simplex.n_steps(), 3);
    assert_eq!(simplex.minimise(&Control::default())?, Status::Converged);
    assert!(problem.violation(&simplex) <= 1e-10);
    Ok(())
}
