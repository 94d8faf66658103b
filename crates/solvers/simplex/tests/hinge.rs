//! Hinge loss with an l1 norm: certificates from the definition.

use std::sync::atomic::AtomicBool;

use fewest_core::derive_seed;
use fewest_simplex::{HingeOptimum, L1Hinge};
use fewest_solver::{Control, DenseOperator, Error, Status};
use nalgebra::{DMatrix, DVector};

type Tested = Result<(), Error>;

fn wave(n: usize, step: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * step) % (n + 1)) as f64 / n as f64).collect()
}

/// A table by columns, labels, penalties and costs.
struct Machine {
    columns: Vec<Vec<f64>>,
    labels: Vec<f64>,
    penalties: Vec<f64>,
    costs: Vec<f64>,
}

impl Machine {
    fn solve(&self, intercept: bool, tolerance: f64) -> Result<HingeOptimum, Error> {
        let n = self.labels.len();
        let operator = DenseOperator::new(self.columns.concat(), n, self.columns.len())?;
        let mut program = L1Hinge::new(&operator, self.labels.clone(), self.costs.clone(), intercept)?;
        program.minimise(&self.penalties, &Control { tolerance, ..Control::default() })
    }

    fn norm(&self, w: &[f64]) -> f64 {
        w.iter().zip(&self.penalties).map(|(w, c)| c * w.abs()).sum()
    }

    /// The loss at `w` and `b`.
    fn loss_at(&self, w: &[f64], b: f64) -> f64 {
        let fitted = |i: usize| -> f64 { w.iter().zip(&self.columns).map(|(w, column)| w * column[i]).sum() };
        (0..self.labels.len())
            .map(|i| self.costs[i] * (1.0 - self.labels[i] * (fitted(i) + b)).max(0.0))
            .sum()
    }

    /// The loss at `w` with the best intercept, which is at a kink, or with none.
    fn loss(&self, w: &[f64], intercept: bool) -> f64 {
        let fitted = |i: usize| -> f64 { w.iter().zip(&self.columns).map(|(w, column)| w * column[i]).sum() };
        let kinks = (0..self.labels.len()).map(|i| self.labels[i] - fitted(i));
        match intercept {
            true => kinks.map(|b| self.loss_at(w, b)).fold(f64::INFINITY, f64::min),
            false => self.loss_at(w, 0.0),
        }
    }

    /// The gap of the optimum relative to the objective at zero, and the largest violation of a condition of
    /// its dual point relative to the largest penalty.
    fn gap(&self, found: &HingeOptimum, intercept: bool) -> (f64, f64) {
        let at_zero = self.loss(&vec![0.0; self.columns.len()], intercept);
        let primal = self.loss(&found.weights, intercept) + self.norm(&found.weights);
        let loss = self.loss_at(&found.weights, found.intercept);
        assert!((loss - found.loss).abs() <= 1e-12 * at_zero, "{loss} and {}", found.loss);
        let mut broken = 0.0_f64;
        for (column, c) in self.columns.iter().zip(&self.penalties) {
            let product: f64 =
                column.iter().zip(&found.dual).zip(&self.labels).map(|((x, u), y)| x * u * y).sum();
            broken = broken.max(product.abs() - c);
        }
        broken /= self.penalties.iter().copied().fold(0.0, f64::max);
        for (u, d) in found.dual.iter().zip(&self.costs) {
            assert!((0.0..=*d).contains(u));
        }
        if intercept {
            let balance: f64 = found.dual.iter().zip(&self.labels).map(|(u, y)| u * y).sum();
            assert!(balance.abs() <= 1e-12 * self.costs.iter().sum::<f64>(), "{balance}");
        }
        ((primal - found.dual.iter().sum::<f64>()) / at_zero, broken)
    }
}

/// The objective is linear between the planes `w_j = 0` and `y_i (⟨w, x_i⟩ + b) = 1` and bounded below, so
/// its minimum is where three of them meet: all such points are tried.
#[test]
fn the_optimum_is_the_best_vertex() -> Tested {
    let n = 8;
    let columns = vec![wave(n, 2), wave(n, 5)];
    for labels in [[1.0, 1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0], [-1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0]] {
        for (penalties, cost) in [([1.0, 1.0], 0.3), ([1.0, 0.2], 1.0), ([0.05, 0.1], 2.0)] {
            let costs: Vec<f64> = (0..n).map(|i| cost * (1.0 + 0.1 * i as f64)).collect();
            let objective = |w: [f64; 2], b: f64| -> f64 {
                let fitted = |i: usize| w[0] * columns[0][i] + w[1] * columns[1][i] + b;
                let hinge = |i: usize| costs[i] * (1.0 - labels[i] * fitted(i)).max(0.0);
                penalties[0] * w[0].abs() + penalties[1] * w[1].abs() + (0..n).map(hinge).sum::<f64>()
            };
            let mut planes = vec![([1.0, 0.0, 0.0], 0.0), ([0.0, 1.0, 0.0], 0.0)];
            planes.extend((0..n).map(|i| ([columns[0][i], columns[1][i], 1.0], labels[i])));
            let mut best = f64::INFINITY;
            for a in 0..planes.len() {
                for b in 0..a {
                    for c in 0..b {
                        let rows: Vec<f64> = [a, b, c].iter().flat_map(|&p| planes[p].0).collect();
                        let right = DVector::from_iterator(3, [a, b, c].iter().map(|&p| planes[p].1));
                        if let Some(at) = DMatrix::from_row_slice(3, 3, &rows).lu().solve(&right) {
                            best = best.min(objective([at[0], at[1]], at[2]));
                        }
                    }
                }
            }
            let machine = Machine {
                columns: columns.clone(),
                labels: labels.to_vec(),
                penalties: penalties.to_vec(),
                costs,
            };
            let found = machine.solve(true, 1e-12)?;
            let objective = found.loss + machine.norm(&found.weights);
            assert!((objective - best).abs() <= 1e-12 * best, "{objective} and {best}");
            assert_eq!(found.status, Status::Converged, "gap {}", found.gap);
        }
    }
    Ok(())
}

/// More columns than samples and fewer, columns twice, penalties and costs of very different sizes, with an
/// intercept and without: the gap, computed from the definition, is small each time.
#[test]
fn every_shape_has_a_small_gap() -> Tested {
    for (n, steps) in [(8, 1..40), (60, 1..4), (30, 1..2), (40, 1..41), (300, 1..20)] {
        let mut columns: Vec<Vec<f64>> = steps.map(|step| wave(n, step)).collect();
        columns.extend(columns.clone());
        let labels: Vec<f64> = (0..n).map(|i| if i * 7 % 11 < 4 { 1.0 } else { -1.0 }).collect();
        for spread in [0, 3, 8] {
            let power = |i: usize| 10.0_f64.powi((i % 5) as i32 * spread / 4 - spread / 2);
            let machine = Machine {
                penalties: (0..columns.len()).map(power).collect(),
                costs: (0..n).map(|i| 2.0 * power(i + 1)).collect(),
                columns: columns.clone(),
                labels: labels.clone(),
            };
            for intercept in [true, false] {
                let found = machine.solve(intercept, 1e-9)?;
                assert_eq!(found.status, Status::Converged, "{n} samples, spread {spread}: {}", found.gap);
                let (gap, broken) = machine.gap(&found, intercept);
                assert!((-1e-12..=1e-9).contains(&gap) && broken <= 1e-9, "{gap} and {broken}");
                // Where costs are far larger than penalties, rounding is of the size of the costs.
                let largest = machine.penalties.iter().copied().fold(0.0, f64::max);
                let rounding = 1e-12 + 1e-15 * machine.costs.iter().sum::<f64>() / largest;
                assert!((gap.max(broken) - found.gap).abs() <= rounding, "{gap}, {broken}, {}", found.gap);
            }
        }
    }
    Ok(())
}

/// Features of two values, so that many samples are equal: nearly every vertex is degenerate.
#[test]
fn equal_samples_do_not_stop_the_steps() -> Tested {
    let (n, d) = (400, 12);
    let bit = |stream: u64, i: usize| derive_seed(stream, i as u64).is_multiple_of(2);
    let columns: Vec<Vec<f64>> =
        (0..d as u64).map(|j| (0..n).map(|i| if bit(j, i % 37) { 1.0 } else { -1.0 }).collect()).collect();
    let labels: Vec<f64> = (0..n).map(|i| if bit(0, i % 37) == bit(77, i) { 1.0 } else { -1.0 }).collect();
    for penalty in [0.3, 0.1, 0.03, 0.001] {
        let machine = Machine {
            columns: columns.clone(),
            labels: labels.clone(),
            penalties: vec![penalty; d],
            costs: vec![1.0 / n as f64; n],
        };
        let found = machine.solve(true, 1e-12)?;
        let (gap, broken) = machine.gap(&found, true);
        assert!((-1e-13..=1e-12).contains(&gap) && broken <= 1e-13, "{gap} and {broken} at {penalty}");
        assert!(found.steps < 1000, "{}", found.steps);
    }
    Ok(())
}

/// Samples given twice are samples of twice the cost.
#[test]
fn copies_of_samples_are_costs() -> Tested {
    let n = 50;
    let columns: Vec<Vec<f64>> = (1..80).map(|step| wave(n, step)).collect();
    let labels: Vec<f64> = (0..n).map(|i| if i * 7 % 11 < 4 { 1.0 } else { -1.0 }).collect();
    let penalties = vec![0.7; columns.len()];
    let doubled = Machine {
        costs: vec![2.0; n],
        penalties: penalties.clone(),
        labels: labels.clone(),
        columns: columns.clone(),
    };
    let twice = |values: &Vec<f64>| [values.clone(), values.clone()].concat();
    let copied = Machine {
        costs: vec![1.0; 2 * n],
        penalties,
        labels: twice(&labels),
        columns: columns.iter().map(twice).collect(),
    };
    let (one, other) = (doubled.solve(true, 1e-12)?, copied.solve(true, 1e-12)?);
    let value = |machine: &Machine, found: &HingeOptimum| found.loss + machine.norm(&found.weights);
    let (one, other) = (value(&doubled, &one), value(&copied, &other));
    assert!((one - other).abs() <= 1e-12 * one, "{one} and {other}");
    Ok(())
}

/// A program that has been solved for other penalties has the optimum of a new one, in fewer steps.
#[test]
fn it_goes_on_from_where_it_is() -> Tested {
    let n = 60;
    let columns: Vec<Vec<f64>> = (1..90).map(|step| wave(n, step % 60 + step / 60)).collect();
    let labels: Vec<f64> = (0..n)
        .map(|i| if columns[6][i] + columns[16][i] - columns[30][i] > 0.5 { 1.0 } else { -1.0 })
        .collect();
    let operator = DenseOperator::new(columns.concat(), n, columns.len())?;
    let control = Control { tolerance: 1e-12, ..Control::default() };
    let mut warm = L1Hinge::new(&operator, labels.clone(), vec![1.0; n], true)?;
    let (mut warm_steps, mut cold_steps) = (0, 0);
    for penalty in [8.0, 6.0, 4.0, 3.0, 2.0, 2.5] {
        let penalties = vec![penalty; columns.len()];
        let found = warm.minimise(&penalties, &control)?;
        let cold =
            L1Hinge::new(&operator, labels.clone(), vec![1.0; n], true)?.minimise(&penalties, &control)?;
        let value =
            |found: &HingeOptimum| found.loss + penalty * found.weights.iter().map(|w| w.abs()).sum::<f64>();
        assert!((value(&found) - value(&cold)).abs() <= 1e-11 * value(&cold));
        warm_steps += found.steps;
        cold_steps += cold.steps;
    }
    assert!(warm_steps < cold_steps, "{warm_steps} and {cold_steps}");
    Ok(())
}

#[test]
fn faults_and_stops_are_told() -> Tested {
    let operator = DenseOperator::new(wave(6, 5), 6, 1)?;
    let labels = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0].to_vec();
    let few = L1Hinge::new(&operator, vec![1.0; 5], vec![1.0; 6], true);
    assert!(matches!(few, Err(Error::ShapeMismatch { what: "labels", .. })));
    let mut program = L1Hinge::new(&operator, labels, vec![1.0; 6], true)?;
    let found = program.minimise(&[1.0, 1.0], &Control::default());
    assert!(matches!(found, Err(Error::ShapeMismatch { what: "penalties", .. })));
    let flag = AtomicBool::new(true);
    let stopped = program.minimise(&[1.0], &Control { interrupt: Some(&flag), ..Control::default() });
    assert_eq!(stopped.err(), Some(Error::Stopped { before: "the first linear program was solved" }));
    for penalty in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        let found = program.minimise(&[penalty], &Control::default());
        assert!(matches!(found, Err(Error::InvalidParameter { name: "penalties", .. })), "{found:?}");
    }
    let refused = |labels: [f64; 6], costs: [f64; 6]| match L1Hinge::new(
        &operator,
        labels.to_vec(),
        costs.to_vec(),
        true,
    ) {
        Err(Error::InvalidParameter { name, .. }) => Some(name),
        _ => None,
    };
    for wrong in [f64::NAN, 0.0, 2.0] {
        assert_eq!(refused([1.0, -1.0, wrong, 1.0, 1.0, 1.0], [1.0; 6]), Some("labels"), "{wrong}");
    }
    for wrong in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        assert_eq!(refused([1.0; 6], [1.0, wrong, 1.0, 1.0, 1.0, 1.0]), Some("costs"), "{wrong}");
    }
    assert_eq!(refused([1.0; 6], [1.0; 6]), None);
    Ok(())
}

/// One cell that is no number, in a column of many, whatever the others are; and costs whose sum is none.
#[test]
fn what_is_no_number_is_an_error() -> Tested {
    let n = 12;
    let labels: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    for (at, wrong) in [(5, f64::NAN), (17, f64::NAN), (17, f64::INFINITY), (30, -f64::INFINITY)] {
        for intercept in [true, false] {
            let mut columns = vec![labels.clone(), wave(n, 5), wave(n, 7)];
            columns[at / n][at % n] = wrong;
            let machine = Machine {
                columns,
                labels: labels.clone(),
                penalties: vec![0.5, 100.0, 100.0],
                costs: vec![1.0; n],
            };
            let found = machine.solve(intercept, 1e-9);
            assert!(matches!(found, Err(Error::Numerical { .. })), "{wrong} at {at}: {found:?}");
        }
    }
    let columns = vec![wave(n, 5).iter().map(|x| 0.01 * x).collect()];
    let machine = Machine { columns, labels, penalties: vec![1.0], costs: vec![1e308; n] };
    let found = machine.solve(false, 1e-9);
    assert!(matches!(found, Err(Error::Numerical { .. })), "{found:?}");
    Ok(())
}

/// The intercept alone tells one class from none.
#[test]
fn one_class_needs_no_weights() -> Tested {
    for class in [1.0, -1.0] {
        let machine = Machine {
            columns: vec![wave(6, 5), wave(6, 3)],
            labels: vec![class; 6],
            penalties: vec![0.1; 2],
            costs: vec![1.0; 6],
        };
        let found = machine.solve(true, 1e-9)?;
        assert_eq!((found.status, found.gap, found.loss), (Status::Converged, 0.0, 0.0));
        assert_eq!((found.weights, found.intercept), (vec![0.0; 2], class));
        // Without an intercept, weights have to do it.
        let found = machine.solve(false, 1e-9)?;
        assert_eq!((found.status, found.intercept), (Status::Converged, 0.0));
        assert!(found.weights.iter().any(|w| *w != 0.0));
    }
    Ok(())
}

/// Classes that a line tells apart, and penalties next to nothing: the objective is flat where it is least.
#[test]
fn penalties_of_nearly_nothing_leave_no_loss() -> Tested {
    let n = 60;
    let columns: Vec<Vec<f64>> = [1, 18].map(|step| wave(n, step)).to_vec();
    let side = |i: usize| columns[0][i] - 0.6 * columns[1][i] > 0.3;
    let labels: Vec<f64> = (0..n).map(|i| if side(i) { 1.0 } else { -1.0 }).collect();
    for size in [1e-6, 1e-33, 1e-52] {
        let machine = Machine {
            columns: columns.clone(),
            labels: labels.clone(),
            penalties: vec![size, 0.1 * size],
            costs: (0..n).map(|i| if side(i) { 0.04 } else { 0.026 }).collect(),
        };
        let found = machine.solve(true, 1e-9)?;
        assert_eq!(found.status, Status::Converged, "{size:e}: {}", found.gap);
        assert!(found.loss <= 1e-9, "{size:e}: {}", found.loss);
    }
    Ok(())
}
