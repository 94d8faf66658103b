//! The objective that a selection reports is the value of the method's formula at what it returns.

use fewest::core::method::Parameters;
use fewest::core::{Budget, Context, Dataset, DenseColumns, Error, Selection, Target};
use fewest::registry::Registry;

const N: usize = 48;
const D: usize = 6;

type Matrix = Vec<Vec<f64>>;

/// The features and the target, standardised.
struct Problem {
    data: Dataset,
    x: Matrix,
    /// The real target, or −1 and +1.
    y: Vec<f64>,
}

fn standardised(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    values.iter().map(|value| (value - mean) / deviation).collect()
}

fn problem(classes: bool) -> Result<Problem, Error> {
    let wave = |step: usize| (0..N).map(|i| ((i * step) % 49) as f64 / 24.0 - 1.0).collect::<Vec<f64>>();
    let columns: Matrix = [1, 5, 11, 17, 20, 23].into_iter().map(wave).collect();
    let values: Vec<f64> = (0..N)
        .map(|i| {
            columns[0][i] - 0.7 * columns[3][i] + 0.8 * columns[5][i] * columns[5][i] + 0.3 * columns[1][i]
        })
        .collect();
    let x = DenseColumns::from_columns(&columns)?;
    let labels: Vec<bool> = values.iter().map(|value| *value > 0.25).collect();
    let (target, y) = if classes {
        let y = labels.iter().map(|&label| if label { 1.0 } else { -1.0 }).collect();
        (Target::from_labels(&labels), y)
    } else {
        (Target::real(values.clone())?, standardised(&values))
    };
    Ok(Problem { data: Dataset::new(x, target)?, x: columns.iter().map(|x| standardised(x)).collect(), y })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The score of every feature, 0 for those not selected.
fn weights(selection: &Selection) -> Vec<f64> {
    let mut weights = vec![0.0; D];
    for (&j, &score) in selection.order.iter().zip(&selection.scores) {
        weights[j] = score;
    }
    weights
}

fn fitted(problem: &Problem, w: &[f64]) -> Vec<f64> {
    (0..N).map(|i| (0..D).map(|j| w[j] * problem.x[j][i]).sum()).collect()
}

/// The least of a convex function of the bias: no formula has it among what it returns.
fn least(value: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-20.0, 20.0);
    for _ in 0..200 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if value(a) < value(b) { high = b } else { low = a }
    }
    value(0.5 * (low + high))
}

fn norm1(w: &[f64]) -> f64 {
    w.iter().map(|w| w.abs()).sum()
}

/// `Σ cost_i ξ_i^power` at the best bias.
fn hinge(problem: &Problem, w: &[f64], costs: &[f64], power: i32) -> f64 {
    let z = fitted(problem, w);
    let slack = |i: usize, b: f64| (1.0 - problem.y[i] * (z[i] + b)).max(0.0).powi(power);
    least(|b| (0..N).map(|i| costs[i] * slack(i, b)).sum())
}

/// The mean of `ln(1 + exp(−y (z + b)))` at the best `b`.
fn logistic(problem: &Problem, w: &[f64]) -> f64 {
    let z = fitted(problem, w);
    let loss = |i: usize, b: f64| (-problem.y[i] * (z[i] + b)).exp().ln_1p();
    least(|b| (0..N).map(|i| loss(i, b)).sum::<f64>() / N as f64)
}

/// The least of a function of `±w`, over all signs.
fn of_any_signs(w: &[f64], value: impl Fn(&[f64]) -> f64) -> f64 {
    let signed = |signs: usize| -> Vec<f64> {
        let sign = |j: usize| if signs >> j & 1 == 1 { -1.0 } else { 1.0 };
        w.iter().enumerate().map(|(j, w)| sign(j) * w).collect()
    };
    (0..1 << D).map(|signs| value(&signed(signs))).fold(f64::INFINITY, f64::min)
}

/// The numbers times `factor`.
fn times(factor: f64, w: &[f64]) -> Vec<f64> {
    w.iter().map(|w| factor * w).collect()
}

/// `½ ‖y − X w‖² / n`; everything is centred.
fn squares(problem: &Problem, w: &[f64]) -> f64 {
    let z = fitted(problem, w);
    (0..N).map(|i| (problem.y[i] - z[i]).powi(2)).sum::<f64>() / (2 * N) as f64
}

fn gaussian(values: &[f64]) -> Matrix {
    values.iter().map(|a| values.iter().map(|b| (-0.5 * (a - b) * (a - b)).exp()).collect()).collect()
}

/// `1/n_y` for two samples of one class.
fn delta(y: &[f64]) -> Matrix {
    let count = |a: f64| y.iter().filter(|b| **b == a).count() as f64;
    y.iter().map(|&a| y.iter().map(|&b| if a == b { count(a).recip() } else { 0.0 }).collect()).collect()
}

fn centred(k: Matrix) -> Matrix {
    let means: Vec<f64> = k.iter().map(|row| row.iter().sum::<f64>() / N as f64).collect();
    let mean = means.iter().sum::<f64>() / N as f64;
    let entry = |i: usize, j: usize| k[i][j] - means[i] - means[j] + mean;
    (0..N).map(|i| (0..N).map(|j| entry(i, j)).collect()).collect()
}

/// `K (K + ε n I)⁻¹`, by elimination without exchanges: the matrix is positive definite.
fn nocco(k: &Matrix, epsilon: f64) -> Matrix {
    let mut left = k.clone();
    let mut right = k.clone();
    for i in 0..N {
        left[i][i] += epsilon * N as f64;
    }
    for pivot in 0..N {
        let (row, own) = (left[pivot].clone(), right[pivot].clone());
        for i in 0..N {
            let share = if i == pivot { 1.0 - row[pivot].recip() } else { left[i][pivot] / row[pivot] };
            for j in 0..N {
                left[i][j] -= share * row[j];
                right[i][j] -= share * own[j];
            }
        }
    }
    right
}

fn inner(a: &Matrix, b: &Matrix) -> f64 {
    a.iter().zip(b).map(|(a, b)| dot(a, b)).sum()
}

/// `K̄` of each feature and `L̄`.
fn kernels(problem: &Problem, output: Matrix) -> (Vec<Matrix>, Matrix) {
    (problem.x.iter().map(|x| centred(gaussian(x))).collect(), centred(output))
}

/// `½ ‖L − Σ α_k K_k‖² + λ Σ α`.
fn kernel_lasso(atoms: &[Matrix], output: &Matrix, alpha: &[f64], lambda: f64) -> f64 {
    let residual = |i: usize, j: usize| {
        output[i][j] - atoms.iter().zip(alpha).map(|(atom, a)| a * atom[i][j]).sum::<f64>()
    };
    let squares: f64 =
        (0..N).flat_map(|i| (0..N).map(move |j| (i, j))).map(|(i, j)| residual(i, j).powi(2)).sum();
    0.5 * squares + lambda * norm1(alpha)
}

/// The least of `½ xᵀ A x − pᵀ x` over all `x` with these signs, of at most this size, with the sum of the
/// start `x`, by steps between the two entries that gain most.
fn least_quadratic(a: &Matrix, p: &[f64], signs: &[f64], most: f64, mut x: Vec<f64>) -> f64 {
    let mut slopes: Vec<f64> = (0..N).map(|i| dot(&a[i], &x) - p[i]).collect();
    for step in 0.. {
        assert!(step < 100_000, "the least is not found");
        let may_grow = |i: &usize| if signs[*i] > 0.0 { x[*i] < most } else { x[*i] < 0.0 };
        let may_shrink = |i: &usize| if signs[*i] < 0.0 { x[*i] > -most } else { x[*i] > 0.0 };
        let by_slope = |a: &usize, b: &usize| slopes[*a].total_cmp(&slopes[*b]);
        let up = (0..N).filter(may_grow).min_by(by_slope).unwrap_or(0);
        let down = (0..N).filter(may_shrink).max_by(by_slope).unwrap_or(0);
        let gain = slopes[down] - slopes[up];
        if gain < 1e-11 {
            break;
        }
        let mut step = gain / (a[up][up] + a[down][down] - 2.0 * a[up][down]);
        step = step.min(if signs[up] > 0.0 { most - x[up] } else { -x[up] });
        step = step.min(if signs[down] < 0.0 { most + x[down] } else { x[down] });
        x[up] += step;
        x[down] -= step;
        slopes.iter_mut().enumerate().for_each(|(i, slope)| *slope += step * (a[i][up] - a[i][down]));
    }
    0.5 * (0..N).map(|i| x[i] * (slopes[i] - p[i])).sum::<f64>()
}

/// `R² ‖w‖²` of the machine with squared losses and of the smallest ball, both on `K + I/(2C)`.
fn radius_margin(p: &Problem, scales: &[f64], cost: f64) -> f64 {
    let product = |i: usize, j: usize| -> f64 {
        let ridge = if i == j { 0.5 / cost } else { 0.0 };
        ridge + (0..D).map(|k| scales[k].powi(2) * p.x[k][i] * p.x[k][j]).sum::<f64>()
    };
    let k: Matrix = (0..N).map(|i| (0..N).map(|j| product(i, j)).collect()).collect();
    let twice: Matrix = k.iter().map(|row| row.iter().map(|value| 2.0 * value).collect()).collect();
    let diagonal: Vec<f64> = (0..N).map(|i| k[i][i]).collect();
    let size = -2.0 * least_quadratic(&k, &p.y, &p.y, f64::INFINITY, vec![0.0; N]);
    let mut centre = vec![0.0; N];
    centre[0] = 1.0;
    -least_quadratic(&twice, &diagonal, &[1.0; N], f64::INFINITY, centre) * size
}

fn unit(mut k: Matrix) -> Matrix {
    let norm = inner(&k, &k).sqrt();
    k.iter_mut().flatten().for_each(|value| *value /= norm);
    k
}

/// What a method is asked for, and its formula: of the problem, the weights and the penalty of the report.
type Formula = fn(&Problem, &[f64], f64) -> f64;
type Row = (&'static str, &'static [&'static str], bool, Formula);

const TABLE: &[Row] = &[
    ("svm-lw", &["c=0.3"], true, |p, w, _| 0.5 * dot(w, w) + hinge(p, w, &[0.3; N], 1)),
    ("svr-lw", &["c=0.3", "epsilon=0.2"], false, |p, w, _| {
        let z = fitted(p, w);
        let outside = |b: f64| (0..N).map(|i| ((p.y[i] - z[i] - b).abs() - 0.2).max(0.0)).sum::<f64>();
        0.5 * dot(w, w) + 0.3 * least(outside)
    }),
    ("lasso-lw", &[], false, |p, w, lambda| squares(p, w) + lambda * norm1(w)),
    ("lasso-lw", &[], true, |p, w, lambda| {
        // The outputs of two classes are ±1, standardised like any other.
        let p = Problem { data: p.data.clone(), x: p.x.clone(), y: standardised(&p.y) };
        squares(&p, w) + lambda * norm1(w)
    }),
    ("l1-svm", &["c=0.2"], true, |p, w, _| norm1(w) + hinge(p, w, &[0.2; N], 2)),
    ("l1-svm", &["c=0.4", "loss=hinge"], true, |p, w, _| norm1(w) + hinge(p, w, &[0.4; N], 1)),
    ("enet-svm", &["c=0.2", "l1_ratio=0.3"], true, |p, w, _| {
        0.3 * norm1(w) + 0.35 * dot(w, w) + hinge(p, w, &[0.2; N], 2)
    }),
    ("fsv", &["lambda=0.1"], true, |p, w, _| {
        let count = |y: f64| p.y.iter().filter(|other| **other == y).count() as f64;
        let costs: Vec<f64> = p.y.iter().map(|&y| 0.9 / count(y)).collect();
        hinge(p, w, &costs, 1) + 0.1 * w.iter().map(|w| 1.0 - (-5.0 * w.abs()).exp()).sum::<f64>()
    }),
    // Of as many features as there are the first machine has all: its scales are the sizes of the weights.
    ("l0-appr", &["c=0.3"], true, |p, w, _| of_any_signs(w, |a| 0.5 * dot(a, a) + hinge(p, a, &[0.3; N], 1))),
    ("l0-appr", &["c=0.3", "norm=l1"], true, |p, w, _| {
        of_any_signs(w, |a| norm1(a) + hinge(p, a, &[0.3; N], 1))
    }),
    ("r2w2", &["c=2"], true, |p, w, _| radius_margin(p, w, 2.0)),
    ("gmkl", &["c=0.7"], true, |p, w, lambda| {
        let distance =
            |i: usize, j: usize| (0..D).map(|m| w[m] * (p.x[m][i] - p.x[m][j]).powi(2)).sum::<f64>();
        let k: Matrix = (0..N).map(|i| (0..N).map(|j| (-distance(i, j)).exp()).collect()).collect();
        lambda * norm1(w) - least_quadratic(&k, &p.y, &p.y, 0.7, vec![0.0; N])
    }),
    ("lasso", &["lambda=0.05"], false, |p, w, _| squares(p, w) + 0.05 * norm1(w)),
    ("lasso", &[], false, |p, w, lambda| squares(p, w) + lambda * norm1(w)),
    ("lasso", &["loss=logistic"], true, |p, w, lambda| logistic(p, w) + lambda * norm1(w)),
    ("lasso", &["loss=squared-hinge"], true, |p, w, lambda| {
        hinge(p, w, &[1.0 / N as f64; N], 2) + lambda * norm1(w)
    }),
    ("lasso", &["loss=huber", "delta=0.5"], false, |p, w, lambda| {
        let z = fitted(p, w);
        let huber = |r: f64| if r.abs() <= 0.5 { 0.5 * r * r } else { 0.5 * r.abs() - 0.125 };
        least(|b| (0..N).map(|i| huber(p.y[i] - z[i] - b)).sum::<f64>() / N as f64) + lambda * norm1(w)
    }),
    ("elastic-net", &["loss=logistic", "lambda=0.05", "l1_ratio=0.4"], true, |p, w, _| {
        logistic(p, w) + 0.02 * norm1(w) + 0.015 * dot(w, w)
    }),
    ("elastic-net", &["lambda=0.1", "l1_ratio=0.4"], false, |p, w, _| {
        squares(p, w) + 0.04 * norm1(w) + 0.03 * dot(w, w)
    }),
    ("adaptive-lasso", &["lambda=0.02", "gamma=2"], false, |p, w, _| {
        let n = N as f64;
        // The first estimate, by many sweeps of coordinate descent.
        let (mut first, mut residual) = ([0.0; D], p.y.clone());
        for j in (0..2000).flat_map(|_| 0..D) {
            let change = (dot(&p.x[j], &residual) / n - 0.1 * first[j]) / 1.1;
            first[j] += change;
            residual.iter_mut().zip(&p.x[j]).for_each(|(r, x)| *r -= change * x);
        }
        squares(p, w) + 0.02 * (0..D).map(|j| w[j].abs() / first[j].powi(2)).sum::<f64>()
    }),
    ("lasso", &["loss=hinge"], true, |p, w, lambda| hinge(p, w, &[1.0 / N as f64; N], 1) + lambda * norm1(w)),
    // One output: a norm is a size.
    ("l21", &["lambda=0.1"], false, |p, w, _| of_any_signs(w, |a| squares(p, a)) + 0.1 * norm1(w)),
    ("group-lasso", &["lambda=0.05", "loss=logistic"], true, |p, w, _| logistic(p, w) + 0.05 * norm1(w)),
    ("oscar", &["lambda=0.02", "l1_ratio=1", "loss=logistic"], true, |p, w, _| {
        logistic(p, w) + 0.02 * norm1(w)
    }),
    ("dantzig", &["lambda=0.05"], false, |_, w, _| norm1(w)),
    ("best-subset", &[], false, |p, w, _| squares(p, w)),
    // Rows of two classes are (−a, a): their norms do not tell the sign of a.
    ("l21-logistic", &["lambda=0.03"], true, |p, w, _| {
        of_any_signs(w, |a| logistic(p, &times(2.0_f64.sqrt(), a))) + 0.03 * norm1(w)
    }),
    ("rfs", &["lambda=3"], true, |p, w, _| {
        let mean = p.y.iter().sum::<f64>() / N as f64;
        let loss = |a: &[f64]| {
            let z = fitted(p, &times(0.5_f64.sqrt(), a));
            (0..N).map(|i| 2.0_f64.sqrt() * (0.5 * (p.y[i] - mean) - z[i]).abs()).sum()
        };
        of_any_signs(w, loss) + 3.0 * norm1(w)
    }),
    // Groups of one, and without links: the tests of the crate have more.
    ("group-lasso", &["lambda=0.1"], false, |p, w, _| squares(p, w) + 0.1 * norm1(w)),
    ("sparse-group-lasso", &["lambda=0.1"], false, |p, w, _| squares(p, w) + 0.1 * norm1(w)),
    ("tree-lasso", &["lambda=0.1"], false, |p, w, _| squares(p, w) + 0.1 * norm1(w)),
    ("graph-lasso", &["lambda=0.1", "graph=given"], false, |p, w, _| squares(p, w) + 0.05 * norm1(w)),
    ("gflasso", &["lambda=0.1", "graph=given"], false, |p, w, _| squares(p, w) + 0.05 * norm1(w)),
    ("goscar", &["lambda=0.1", "graph=given"], false, |p, w, _| squares(p, w) + 0.05 * norm1(w)),
    ("fused-lasso", &["lambda=0.1", "l1_ratio=0.3"], false, |p, w, _| {
        squares(p, w) + 0.03 * norm1(w) + 0.07 * w.windows(2).map(|w| (w[0] - w[1]).abs()).sum::<f64>()
    }),
    ("oscar", &["lambda=0.05"], false, |p, w, _| {
        let pairs = (0..D).flat_map(|a| (0..a).map(move |b| (a, b)));
        squares(p, w) + 0.025 * (norm1(w) + pairs.map(|(a, b)| w[a].abs().max(w[b].abs())).sum::<f64>())
    }),
    ("overlapping-group-lasso", &["lambda=0.1"], false, |p, w, _| squares(p, w) + 0.1 * norm1(w)),
    ("overlapping-group-lasso", &["lambda=0.1", "overlap=latent"], false, |p, w, _| {
        squares(p, w) + 0.1 * norm1(w)
    }),
    ("nonconvex-lasso", &["lambda=0.1", "gamma=2"], false, |p, w, _| {
        let mcp = |t: f64| if t <= 0.2 { 0.1 * t - 0.25 * t * t } else { 0.01 };
        squares(p, w) + w.iter().map(|w| mcp(w.abs())).sum::<f64>()
    }),
    ("nonconvex-grouping", &["lambda=0.1", "graph=given"], false, |p, w, _| squares(p, w) + 0.05 * norm1(w)),
    ("slope", &["lambda=0.05", "q=0.1"], false, |p, w, _| {
        // Quantiles of the normal distribution at 1 − 0.1 k / 12.
        let quantiles = [2.3939797998185104, 2.128045234184984, 1.9599639845400536, 1.8339146358159142];
        let quantiles = quantiles.into_iter().chain([1.7316643961222455, 1.6448536269514715]);
        let mut sizes: Vec<f64> = w.iter().map(|w| w.abs()).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        squares(p, w) + 0.05 * sizes.iter().zip(quantiles).map(|(w, q)| w * q).sum::<f64>()
    }),
    ("hsic-lasso", &["form=exact"], false, |p, w, lambda| {
        let (atoms, output) = kernels(p, gaussian(&p.y));
        kernel_lasso(&atoms, &output, w, lambda)
    }),
    ("hsic-lasso", &["form=exact", "lambda_ratio=0.1"], true, |p, w, lambda| {
        let (atoms, output) = kernels(p, delta(&p.y));
        kernel_lasso(&atoms, &output, w, lambda)
    }),
    ("nocco-lasso", &["form=exact", "lambda_ratio=0.1", "epsilon=0.01"], false, |p, w, lambda| {
        let (atoms, output) = kernels(p, gaussian(&p.y));
        let atoms: Vec<Matrix> = atoms.iter().map(|atom| nocco(atom, 0.01)).collect();
        kernel_lasso(&atoms, &nocco(&output, 0.01), w, lambda)
    }),
    ("ckta", &["form=exact", "ridge=0.01"], false, |p, w, _| {
        let (atoms, output) = kernels(p, gaussian(&p.y));
        let largest = atoms.iter().map(|atom| inner(atom, atom)).fold(0.0, f64::max);
        kernel_lasso(&atoms, &output, w, 0.0) - 0.5 * inner(&output, &output) + 0.005 * largest * dot(w, w)
    }),
    ("qpfs", &["similarity=hsic", "form=exact", "gamma=0.4"], false, |p, w, _| {
        let (atoms, output) = kernels(p, gaussian(&p.y));
        let (atoms, output) = (atoms.into_iter().map(unit).collect::<Vec<_>>(), unit(output));
        let d = |a: usize, b: usize| inner(&atoms[a], &atoms[b]);
        let pairs = (0..D).flat_map(|a| (0..D).map(move |b| (a, b)));
        let quadratic: f64 = pairs.map(|(a, b)| w[a] * w[b] * d(a, b)).sum();
        0.5 * 0.6 * quadratic - 0.4 * (0..D).map(|a| w[a] * inner(&atoms[a], &output)).sum::<f64>()
    }),
    ("fvm", &["form=exact", "lambda_ratio=0.1"], false, |p, w, lambda| {
        let (atoms, output) = kernels(p, gaussian(&p.y));
        kernel_lasso(&atoms, &output, w, lambda)
    }),
    ("trace-ratio", &[], true, |p, w, _| {
        // Features as they are: the waves.
        let mut sums = (0.0, 0.0);
        for j in (0..D).filter(|&j| w[j] != 0.0) {
            let x = p.data.x().column(j, &mut Vec::new()).map(|column| column.to_vec(N)).unwrap_or_default();
            let mean = x.iter().sum::<f64>() / N as f64;
            for class in [-1.0, 1.0] {
                let own: Vec<f64> = (0..N).filter(|&i| p.y[i] == class).map(|i| x[i]).collect();
                let own_mean = own.iter().sum::<f64>() / own.len() as f64;
                sums.0 += own.len() as f64 * (own_mean - mean).powi(2);
                sums.1 += own.iter().map(|x| (x - own_mean).powi(2)).sum::<f64>();
            }
        }
        sums.0 / sums.1
    }),
];

#[test]
fn the_objective_is_the_value_of_the_formula() -> Result<(), Error> {
    for &(id, parameters, classes, formula) in TABLE {
        let problem = problem(classes)?;
        let method = Registry::standard().find(id)?;
        let selector = method.build(&Parameters::parse(method, parameters)?)?.into_selector();
        // Of a sequence all features, so that the weights are all there are.
        let budget = Budget::Count(if ["trace-ratio", "lasso"].contains(&id) { 3 } else { D });
        let selection = selector.select(&problem.data, budget, &Context::default())?;
        let report = selection.solver.clone().ok_or(Error::Stopped { before: "a report" })?;
        let w = weights(&selection);
        assert!(w.iter().any(|w| *w != 0.0), "{id}");
        let expected = formula(&problem, &w, report.lambda);
        let size = expected.abs().max(1e-3);
        assert!(
            (report.objective - expected).abs() <= 1e-5 * size,
            "{id} {parameters:?}: {} for {expected}",
            report.objective
        );
    }
    Ok(())
}

/// Where a set is made of the solution of a relaxation, the solver reports on the relaxation, and the
/// selection on the set.
#[test]
fn of_a_relaxation_the_value_of_the_set_is_told_beside_it() -> Result<(), Error> {
    for (id, classes) in [("generalized-fisher", true), ("nmmkl", true), ("nmmklr", false)] {
        let method = Registry::standard().find(id)?;
        let selector = method.build(&Parameters::defaults(method))?.into_selector();
        let selection = selector.select(&problem(classes)?.data, Budget::Count(2), &Context::default())?;
        let relaxed = selection.solver.as_ref().map(|report| report.objective);
        let relaxed = relaxed.ok_or(Error::Stopped { before: "a report" })?;
        // Both problems have sets that are worse than mixtures of them.
        assert!(selection.objective.is_some_and(|set| set > 1.001 * relaxed), "{id}: {selection:?}");
    }
    Ok(())
}

/// Whoever reports an objective is in the table, or its own crate compares it.
#[test]
fn no_method_is_forgotten() -> Result<(), Error> {
    // The value of a set, a bound, functions and vectors are not told by the scores alone: tests of their
    // crates compare these.
    const ELSEWHERE: &[&str] = &[
        "generalized-fisher",
        "spam",
        "mcfs",
        "udfs",
        "ndfs",
        "jelsr",
        "linkedfs",
        "fsnet",
        "group-l1-l21",
        "group-l1-l21-clusters",
        "mvfs",
        "aumfs",
        "netfs",
        "lufs",
        "gpcov-var",
        "gpcov-spca",
        "grafting",
        "ogfs",
        #[cfg(feature = "usfs")]
        "usfs",
    ];
    const OTHER_FAMILIES: &[&str] = &["nmmkl", "nmmklr", "mik-fs", "rfmkl", "mkl", "ikpca"];
    for id in TABLE.iter().map(|row| row.0).chain(ELSEWHERE.iter().chain(OTHER_FAMILIES).copied()) {
        assert!(Registry::standard().find(id).is_ok_and(|method| method.id == id), "{id} is no method");
    }
    for method in Registry::standard().methods().iter() {
        let known = TABLE.iter().any(|row| row.0 == method.id)
            || ELSEWHERE.contains(&method.id)
            || OTHER_FAMILIES.contains(&method.id);
        if known {
            continue;
        }
        let mut n_answers = 0;
        for classes in [true, false] {
            let built = method.build(&Parameters::parse::<&str>(method, &[])?)?;
            let data = problem(classes)?.data;
            if let Ok(selection) = built.into_selector().select(&data, Budget::Count(2), &Context::default())
            {
                n_answers += 1;
                assert!(selection.solver.is_none(), "{}: its objective is not compared", method.id);
            }
        }
        assert!(n_answers > 0, "{}: neither problem has an answer", method.id);
    }
    Ok(())
}
