//! The cases of the support vector machine benchmark.

use std::path::{Path, PathBuf};

use fewest::columns::standardise;
use fewest::core::{Columns, DenseColumns, OnDemand, Target, derive_seed};
use fewest::data::{Missing, ReadOptions, Scaling, Table, Task};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::bench::cases::Files;
use crate::{Result, npy};

/// The problem of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// C-support vector classification.
    Svc,
    /// ε-support vector regression, `ε = 0.1`.
    Svr,
}

impl Kind {
    /// As programs call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Svc => "svc",
            Self::Svr => "svr",
        }
    }
}

/// Half the width of the tube of all regressions.
pub(super) const EPSILON: f64 = 0.1;

/// A machine on data in two files.
#[derive(Debug, Clone)]
pub(super) struct Case {
    /// A short name.
    pub name: String,
    pub kind: Kind,
    pub n: usize,
    pub d: usize,
    pub cost: f64,
    pub gamma: f64,
}

/// Samples and features of the problems that time is measured on.
const N: usize = 10_000;
const D: usize = 50;

/// Two-class and regression problems of the data folder, with which objectives are compared.
pub(super) const DATA_SETS: &[(Kind, &str)] = &[
    (Kind::Svc, "ionosphere.csv"),
    (Kind::Svc, "sonar.csv"),
    (Kind::Svc, "wdbc.csv"),
    (Kind::Svc, "colon.mat"),
    (Kind::Svc, "leukemia.mat"),
    (Kind::Svc, "madelon.mat"),
    (Kind::Svr, "auto_mpg.csv"),
    (Kind::Svr, "bodyfat.csv"),
    (Kind::Svr, "boston_housing.csv"),
    (Kind::Svr, "diabetes.csv"),
    (Kind::Svr, "abalone.csv"),
    (Kind::Svr, "cpusmall.csv"),
];

/// The costs of those.
pub(super) const COSTS: [f64; 2] = [1.0, 10.0];

fn files(scratch: &Path) -> (PathBuf, PathBuf) {
    (scratch.join("machines-x.npy"), scratch.join("machines-y.npy"))
}

fn write(scratch: &Path, x: &dyn Columns, y: &[f64]) -> Result<Files> {
    let (x_file, y_file) = files(scratch);
    npy::write_table(&x_file, x)?;
    npy::write_vector(&y_file, y)?;
    Ok(Files { x: x_file, y: Some(y_file) })
}

fn normal(stream: u64, n: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(derive_seed(0, stream));
    (0..n).map(|_| StandardNormal.sample(&mut rng)).collect()
}

/// The timed problem of this kind, written to `scratch`: 50 standard normal features of which the first four
/// (two) matter.
pub(super) fn drawn(kind: Kind, scratch: &Path) -> Result<(Case, Files)> {
    let x: Vec<Vec<f64>> = (0..4).map(|j| normal(j, N)).collect();
    let noise = normal(u64::MAX, N);
    let target = |i: usize| match kind {
        Kind::Svr => x[0][i].sin() + 0.5 * x[1][i] * x[2][i] + 0.3 * x[3][i] + 0.1 * noise[i],
        Kind::Svc => f64::from(u8::from(x[0][i] + x[1][i] * x[1][i] - 1.0 + 0.3 * noise[i] > 0.0)),
    };
    let mut y: Vec<f64> = (0..N).map(target).collect();
    if kind == Kind::Svr {
        standardise(&mut y);
    }
    let table = OnDemand::new(N, D, |j, out: &mut [f64]| {
        out.copy_from_slice(&normal(j as u64, out.len()));
        Ok(())
    });
    let name = format!("{}-n{N}-d{D}", kind.name());
    let case = Case { name, kind, n: N, d: D, cost: 1.0, gamma: 1.0 / D as f64 };
    Ok((case, write(scratch, &table, &y)?))
}

/// A data set, standardised, written to `scratch`, for each cost; `None` where its file is missing.
pub(super) fn read(
    folder: &Path,
    kind: Kind,
    file: &str,
    scratch: &Path,
) -> Result<Option<(Vec<Case>, Files)>> {
    let path = folder.join(file);
    if !path.exists() {
        return Ok(None);
    }
    let is_matlab = file.ends_with(".mat");
    let mut options = if is_matlab { ReadOptions::default() } else { ReadOptions::with_target("target") };
    options.task = if kind == Kind::Svc { Task::Classification } else { Task::Regression };
    let data = Table::read(&path, &options)?.complete(Missing::DropRows)?.dataset;
    let y = match data.target() {
        Target::Class(classes) => classes.codes().iter().map(|code| f64::from(*code)).collect(),
        Target::Real(outputs) => {
            let mut y = outputs.output(0).to_vec();
            standardise(&mut y);
            y
        }
        other => return Err(format!("{file} has {} as target", other.describe()).into()),
    };
    let scaled = Scaling::standardise(data.x())?.apply(data.shared_x())?;
    let (n, d) = (scaled.n_samples(), scaled.n_features());
    let mut columns = vec![vec![0.0; n]; d];
    for (j, column) in columns.iter_mut().enumerate() {
        scaled.copy_column(j, column)?;
    }
    let case = |cost: f64| Case { name: file.to_owned(), kind, n, d, cost, gamma: 1.0 / d as f64 };
    Ok(Some((COSTS.map(case).to_vec(), write(scratch, &DenseColumns::from_columns(&columns)?, &y)?)))
}
