//! Runs one after another: other costs, limits, and how a run ends.

use fewest_core::derive_seed;
use fewest_simplex::{Cost, Joining, Program, Simplex, solve};
use fewest_solver::{Control, Error, Status};

type Tested = Result<(), Error>;

/// A line `x₀ + x₁ t` through points, with the least sum of distances, and what its intercept may cost.
struct Line {
    t: Vec<f64>,
    y: Vec<f64>,
}

impl Line {
    fn simplex(&self, intercept: Cost) -> Result<Simplex, Error> {
        let mut simplex = Simplex::default();
        let rows: Vec<_> = self.y.iter().map(|y| Cost::hinge(*y, -1.0, 1.0)).enumerate().collect();
        simplex.add_rows(&rows, &[])?;
        let entries = [vec![1.0; self.t.len()], self.t.clone()].concat();
        simplex.add_columns(&[(0, intercept), (1, Cost::free())], &entries)?;
        Ok(simplex)
    }

    /// The least objective for an intercept of `weight` a unit, from `simplex`.
    fn minimise(&self, simplex: &mut Simplex, weight: f64) -> Result<f64, Error> {
        assert_eq!(simplex.minimise(&Control::default())?, Status::Converged);
        let mut x = [0.0; 2];
        simplex.values().for_each(|(j, value)| x[j] = value);
        let distances = self.t.iter().zip(&self.y).map(|(t, y)| (x[0] + x[1] * t - y).abs());
        Ok(distances.sum::<f64>() + weight * x[0].abs())
    }
}

/// A free column crosses 0, where its cost had no kink; the next costs have one.
#[test]
fn a_column_that_was_free_has_the_slope_of_its_side() -> Tested {
    let steep = Line { t: vec![0.01, 0.02, 0.03, 0.04, 0.05], y: vec![1.0, 3.0, 5.0, 7.0, 9.0] };
    let number = |seed: u64, at: u64| derive_seed(seed, at) as f64 / u64::MAX as f64;
    let line = |seed: u64| Line {
        t: (0..7).map(|at| number(seed, at)).collect(),
        y: (7..14).map(|at| 10.0 * number(seed, at) - 5.0).collect(),
    };
    for line in std::iter::once(steep).chain((0..300).map(line)) {
        let mut warm = line.simplex(Cost::free())?;
        line.minimise(&mut warm, 0.0)?;
        for weight in [0.3, 3.0, 0.0, 1.0] {
            warm.set_column_costs(|j| if j == 0 { Cost::absolute(weight) } else { Cost::free() })?;
            let found = line.minimise(&mut warm, weight)?;
            let fresh = line.minimise(&mut line.simplex(Cost::absolute(weight))?, weight)?;
            assert!((found - fresh).abs() <= 1e-10 * fresh.max(1.0), "{found} and {fresh} for {:?}", line.y);
        }
    }
    Ok(())
}

/// A row so costly that no other step shows in the objective: they are taken for rounding, but there is one
/// more, so that the end is no optimum.
#[test]
fn steps_that_are_left_are_no_optimum() -> Tested {
    let mut simplex = Simplex::default();
    simplex.add_rows(&[(0, Cost::hinge(1e10, -1e7, 1e7))], &[])?;
    simplex.add_columns(&[(0, Cost::free())], &[1.0])?;
    assert_eq!(simplex.minimise(&Control::default())?, Status::Converged);
    simplex.set_column_costs(|_| Cost::absolute(1.0))?;
    let n = 1500;
    let columns: Vec<_> = (1..=n).map(|j| (j, Cost::within(0.0, 1.0).tilted(-1.0))).collect();
    simplex.add_columns(&columns, &vec![0.0; n])?;
    let status = simplex.minimise(&Control::default())?;
    let at_their_best = simplex.values().filter(|(j, value)| *j > 0 && *value == 1.0).count();
    assert!(at_their_best < n);
    assert_eq!(status, Status::Stalled);
    Ok(())
}

/// A limit is that of a call, whatever came before.
#[test]
fn the_limit_of_steps_begins_anew() -> Tested {
    let t: Vec<f64> = (0..40).map(f64::from).collect();
    let line = Line { y: t.iter().map(|t| (3.7 * t).sin() + 0.1 * t).collect(), t };
    let mut simplex = line.simplex(Cost::free())?;
    simplex.minimise(&Control::default())?;
    let before = simplex.n_steps();
    assert!(before > 1);
    for weight in [30.0, 1.0] {
        simplex.set_column_costs(|j| if j == 0 { Cost::absolute(weight) } else { Cost::free() })?;
        let limited = Control { max_iterations: before, ..Control::default() };
        assert_eq!(simplex.minimise(&limited)?, Status::Converged);
    }
    assert!(simplex.n_steps() > before);
    Ok(())
}

/// Columns of a program, each of which improves by one step and joins alone.
struct OneByOne(usize);

impl Program for OneByOne {
    fn column_cost(&self, _column: usize) -> Cost {
        Cost::within(0.0, 1.0).tilted(-1.0)
    }

    fn row_cost(&self, _row: usize) -> Cost {
        Cost::free()
    }

    fn entries(&self, _rows: &[usize], _columns: &[usize], _out: &mut [f64]) -> Result<(), Error> {
        Ok(())
    }

    fn price(&mut self, vertex: &Simplex) -> Result<Joining, Error> {
        let next = vertex.columns().len();
        Ok(Joining { rows: Vec::new(), columns: (next..self.0).take(1).collect() })
    }
}

/// And it holds for all that joins in the call.
#[test]
fn a_limit_holds_for_all_that_joins() -> Tested {
    let mut simplex = Simplex::default();
    let few = Control { max_iterations: 4, ..Control::default() };
    for steps in [4, 8] {
        assert_eq!(solve(&mut OneByOne(10), &mut simplex, &few)?, Status::MaxIterations);
        assert_eq!(simplex.n_steps(), steps);
    }
    assert_eq!(solve(&mut OneByOne(10), &mut simplex, &few)?, Status::Converged);
    assert_eq!(simplex.values().count(), 10);
    Ok(())
}
