//! The table of solvers by loss and penalty: every cell is a run, and the solvers in it find the same
//! minimum.
//!
//! `FEWEST_WRITE_PAGES=1 cargo test -p fewest-experiments solvers::` writes the table.

use std::path::PathBuf;

use fewest::core::derive_seed;
use fewest::solver::loss::{self, Loss, Samples, Separable, Ties};
use fewest::solver::{
    BlockPenalty, Composite, Control, Datafit, DenseOperator, DualDatafit, ElasticNetPenalty, Error,
    GraphFusedLasso, GroupLasso, L1, Logistic, Penalty, Quadratic, QuadraticSolver, SignedEdge, Solution,
    SortedL1, SquaredHinge, Status, TreeLasso,
};
use fewest::solvers::cd::{CoordinateDescent, SquaredHingeDescent};
use fewest::solvers::dal::DualAugmentedLagrangian;
use fewest::solvers::lars::Lars;
use fewest::solvers::newton::LinearModel;
use fewest::solvers::pgd::{self, ProximalGradient};
use fewest::solvers::simplex::L1Hinge;

type Tested<T = ()> = Result<T, Error>;

/// Samples and features of the problem.
const N: usize = 24;
const D: usize = 6;

const TOLERANCE: f64 = 1e-6;

/// The level of every penalty, of a loss that is a sum over samples.
const LEVEL: f64 = 1.0;

fn value(i: usize, j: usize) -> f64 {
    derive_seed(j as u64, i as u64) as f64 / u64::MAX as f64 - 0.5
}

/// The features, column after column.
fn features() -> Vec<f64> {
    (0..D).flat_map(|j| (0..N).map(move |i| 2.0 * value(i, j))).collect()
}

fn numbers() -> Vec<f64> {
    (0..N).map(|i| 3.0 * value(i, 0) - 2.0 * value(i, 3) + value(i, 99)).collect()
}

fn labels() -> Vec<f64> {
    numbers().into_iter().map(f64::signum).collect()
}

fn operator() -> Tested<DenseOperator> {
    DenseOperator::new(features(), N, D)
}

fn control() -> Control<'static> {
    Control { tolerance: TOLERANCE, max_iterations: 20_000, ..Control::default() }
}

/// The penalties of this workspace, by name, on `D` features of `c` outputs each.
fn penalties(c: usize) -> Tested<Vec<(&'static str, Box<dyn BlockPenalty>)>> {
    let n = D * c;
    let weights: Vec<f64> = (0..n).map(|j| 0.5 + (j % 3) as f64).collect();
    let groups: Vec<usize> = (0..n).map(|j| j / (2 * c)).collect();
    let whole: Vec<Vec<usize>> = (0..3).map(|g| (2 * c * g..2 * c * (g + 1)).collect()).collect();
    let single = (0..n).map(|j| vec![j]);
    let tree: Vec<Vec<usize>> = single.chain(whole).chain([(0..n).collect()]).collect();
    let edge = |a, b, opposite| SignedEdge { ends: (a, b), weight: 0.5, opposite };
    let chain: Vec<SignedEdge> = (1..n).map(|j| edge(j - 1, j, false)).collect();
    let graph = [edge(0, 1, false), edge(1, 2, true), edge(0, 2, false), edge(3, 5, false)];
    let sorted = (0..n).map(|j| LEVEL * (1.0 + 0.1 * (n - j) as f64)).collect();
    Ok(vec![
        ("l1", Box::new(L1::new(LEVEL, n)?)),
        ("l1 with weights", Box::new(L1::weighted(LEVEL, &weights)?)),
        ("l1, w ≥ 0", Box::new(L1::new(LEVEL, n)?.nonnegative())),
        ("elastic net", Box::new(ElasticNetPenalty::new(L1::new(LEVEL, n)?, LEVEL)?)),
        ("group lasso", Box::new(GroupLasso::new(LEVEL, &groups)?.weighted_by_size())),
        ("sparse group lasso", Box::new(GroupLasso::new(LEVEL, &groups)?.with_l1(0.5 * LEVEL)?)),
        ("tree lasso", Box::new(TreeLasso::new(0.5 * LEVEL, n, &tree)?)),
        ("fused lasso", Box::new(GraphFusedLasso::new(LEVEL, n, &chain)?)),
        ("fused on a graph", Box::new(GraphFusedLasso::new(LEVEL, n, &graph)?)),
        ("sorted l1 (OSCAR)", Box::new(SortedL1::new(sorted)?)),
    ])
}

/// Squared errors by inner products.
fn quadratic() -> Tested<Quadratic> {
    let (x, y) = (features(), numbers());
    let column = |j: usize| &x[j * N..(j + 1) * N];
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let gram = (0..D).flat_map(|j| (0..D).map(move |i| (i, j))).map(|(i, j)| dot(column(i), column(j)));
    Quadratic::new(gram.collect(), (0..D).map(|j| dot(column(j), &y)).collect(), dot(&y, &y))
}

fn by_newton(loss: &dyn Loss, intercept: bool, penalty: &dyn Penalty) -> Tested<Solution> {
    let design = operator()?;
    let model = LinearModel { design: &design, loss, intercept };
    let null = model.null(&control())?;
    let found = model.minimise(&null, penalty, &CoordinateDescent::default(), None, &control())?;
    Ok(found.solution)
}

fn by_dal<F: DualDatafit>(datafit: F, penalty: &dyn Penalty) -> Tested<Solution> {
    DualAugmentedLagrangian::default().solve(&datafit, penalty, &[0.0; D], &control())
}

fn by_pgd<F: Datafit>(datafit: F, penalty: &dyn Penalty) -> Tested<Solution> {
    pgd::solve(Composite::new(&datafit, penalty)?, &[0.0; D], &control())
}

/// The weights that `L1Hinge` takes, of a penalty that is an l1 norm.
fn by_simplex(name: &str, penalty: &dyn Penalty) -> Tested<Solution> {
    let mut unit = vec![0.0; D];
    let of = |j: usize, unit: &mut Vec<f64>| {
        unit.fill(0.0);
        unit[j] = 1.0;
        penalty.value(unit)
    };
    let levels: Vec<f64> = (0..D).map(|j| of(j, &mut unit)).collect();
    if !["l1", "l1 with weights"].contains(&name) {
        let (what, instead) = (name.to_owned(), "an l1 norm".to_owned());
        return Err(Error::Unsupported { method: "simplex", what, instead });
    }
    let samples = operator()?;
    let found = L1Hinge::new(&samples, labels(), vec![1.0; N], true)?.minimise(&levels, &control())?;
    let solved = found.gap <= TOLERANCE;
    let norm: f64 = levels.iter().zip(&found.weights).map(|(level, w)| level * w.abs()).sum();
    Ok(Solution {
        objective: found.loss + norm,
        coefficients: found.weights,
        certificate: fewest::core::Certificate::gap(found.gap),
        iterations: 0,
        status: if solved { Status::Converged } else { Status::Stalled },
    })
}

/// Every solver that might take the loss, with its answer for a penalty. They solve the same problem: with
/// an intercept where the loss of all of them has one.
fn answers(
    loss: &str,
    name: &str,
    penalty: &dyn BlockPenalty,
) -> Tested<Vec<(&'static str, Tested<Solution>)>> {
    let samples = || Samples::sum(N);
    let newton = |loss: &dyn Loss, intercept| ("newton", by_newton(loss, intercept, penalty));
    let separable = |observations| Separable::new(loss::Squared, observations, samples());
    let quadratic = quadratic()?;
    let by = |solver: &dyn QuadraticSolver| {
        (solver.name(), solver.minimise(&quadratic, penalty, &[0.0; D], &control()))
    };
    let classes: Vec<usize> =
        numbers().iter().map(|y| usize::from(*y > -0.5) + usize::from(*y > 0.5)).collect();
    let counts: Vec<f64> = numbers().iter().map(|y| (1.0 + y).exp().floor()).collect();
    let times: Vec<f64> = numbers().iter().map(|y| (5.0 - y).max(0.0)).collect();
    let events: Vec<bool> = (0..N).map(|i| i % 4 != 0).collect();
    Ok(match loss {
        "squared" => vec![
            by(&CoordinateDescent::default()),
            by(&DualAugmentedLagrangian::default()),
            by(&Lars),
            by(&ProximalGradient::default()),
            newton(&separable(numbers())?, false),
        ],
        "Huber" => {
            vec![newton(&Separable::new(loss::Huber::new(0.5)?, numbers(), samples())?, true)]
        }
        "logistic" => vec![
            ("dal", by_dal(Logistic::new(operator()?, labels())?, penalty)),
            ("pgd", by_pgd(Logistic::new(operator()?, labels())?, penalty)),
            newton(&Separable::new(loss::Logistic, labels(), samples())?, false),
        ],
        "squared hinge" => {
            let hinge = SquaredHinge::new(operator()?, labels())?;
            let descent = SquaredHingeDescent::default();
            vec![
                ("cd", descent.minimise(&hinge, penalty, &[0.0; D], &control())),
                ("pgd", by_pgd(hinge, penalty)),
                newton(&Separable::new(loss::SquaredHinge, labels(), samples())?, true),
            ]
        }
        "hinge" => vec![("simplex", by_simplex(name, penalty))],
        "multinomial" => vec![newton(&loss::Multinomial::new(classes, 3, samples())?, true)],
        "Poisson" => vec![newton(&Separable::new(loss::Poisson, counts, samples())?, true)],
        "Cox" => vec![newton(&loss::Cox::new(&times, &events, Ties::Efron, samples())?, true)],
        _ => vec![newton(&loss::RowNorm::new(numbers(), 0.01, samples())?, false)],
    })
}

const LOSSES: &[&str] =
    &["squared", "Huber", "logistic", "squared hinge", "hinge", "multinomial", "Poisson", "Cox", "row norm"];

/// The largest difference of the objectives of two solvers that have solved a problem: each is above the
/// minimum by its gap at most, which is relative to the objective at zero, and for every loss here that is
/// below the second factor.
const APART: f64 = 2.0 * TOLERANCE * (4 * N) as f64;

/// The solvers that solved a problem, of which all claim a minimum: they must have found the same.
fn solved(
    problem: &str,
    answers: Vec<(&'static str, Tested<Solution>)>,
) -> Result<Vec<&'static str>, String> {
    let mut solved: Vec<(&'static str, f64)> = Vec::new();
    for (solver, answer) in answers {
        match answer {
            Ok(solution) if solution.status == Status::Converged => solved.push((solver, solution.objective)),
            Ok(solution) => println!("{solver}, {problem}: {:?}", solution.status),
            Err(Error::Unsupported { .. }) => {}
            Err(error) => return Err(format!("{solver}, {problem}: {error}")),
        }
    }
    for (solver, objective) in &solved {
        let (first, other) = solved[0];
        // What is no number is not close to any.
        let is_same = (objective - other).abs() < APART;
        if !is_same {
            return Err(format!("{problem}: {other} by {first}, {objective} by {solver}"));
        }
    }
    Ok(solved.into_iter().map(|(solver, _)| solver).collect())
}

/// The table: a line for each penalty, a column for each loss.
fn table() -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut lines = vec![
        format!("| penalty | {} |", LOSSES.join(" | ")),
        format!("|---|{}", "---|".repeat(LOSSES.len())),
    ];
    for (at, (name, _)) in penalties(1)?.iter().enumerate() {
        let mut cells = vec![(*name).to_owned()];
        for loss in LOSSES {
            let outputs = if *loss == "multinomial" { 3 } else { 1 };
            let (_, penalty) = penalties(outputs)?.swap_remove(at);
            let solved = solved(&format!("{loss}, {name}"), answers(loss, name, &*penalty)?)?;
            cells.push(if solved.is_empty() { "–".to_owned() } else { solved.join(", ") });
        }
        lines.push(format!("| {} |", cells.join(" | ")));
    }
    Ok(lines)
}

/// The page with this table in the place of its own.
fn with_table(text: &str, table: &[String]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| line.starts_with('|')).unwrap_or(lines.len());
    let rest = lines[start..].iter().skip_while(|line| line.starts_with('|'));
    let table = table.iter().map(String::as_str);
    let whole: Vec<&str> = lines[..start].iter().copied().chain(table).chain(rest.copied()).collect();
    whole.join("\n") + "\n"
}

#[test]
fn the_table_of_solvers_is_what_they_solve() -> Result<(), Box<dyn std::error::Error>> {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/solvers/README.md");
    let text = std::fs::read_to_string(&page)?;
    let table = table()?;
    // What everybody takes for granted.
    assert!(table.iter().any(|line| line.starts_with("| l1 | cd, dal, lars, pgd, newton |")), "{table:#?}");
    let right = with_table(&text, &table);
    if std::env::var_os("FEWEST_WRITE_PAGES").is_some() {
        std::fs::write(&page, right)?;
    } else {
        assert_eq!(text, right, "{}: write the table with FEWEST_WRITE_PAGES=1", page.display());
    }
    Ok(())
}

#[test]
fn a_table_that_is_old_is_replaced() {
    let table = ["| a |".to_owned(), "|---|".to_owned(), "| b |".to_owned()];
    let right = "text\n\n| a |\n|---|\n| b |\n\nmore\n";
    assert_eq!(with_table(right, &table), right);
    assert_eq!(with_table("text\n\n| old |\n\nmore\n", &table), right);
}

/// A solver that says it has solved a problem and has not is found out.
#[test]
fn solvers_that_disagree_are_an_error() -> Tested {
    let of = |level: f64| -> Tested<Solution> {
        let penalty = L1::new(level, D)?;
        CoordinateDescent::default().minimise(&quadratic()?, &penalty, &[0.0; D], &control())
    };
    let same = solved("l1", vec![("a", of(LEVEL)), ("b", of(LEVEL))]);
    assert_eq!(same, Ok(vec!["a", "b"]));
    let told = solved("l1", vec![("a", of(LEVEL)), ("b", of(1.001 * LEVEL))]).unwrap_err();
    assert!(told.contains("by a") && told.contains("by b"), "{told}");
    let stopped = of(LEVEL).map(|solution| Solution { status: Status::Stalled, objective: 7.0, ..solution });
    assert_eq!(solved("l1", vec![("a", of(LEVEL)), ("b", stopped)]), Ok(vec!["a"]));
    Ok(())
}
