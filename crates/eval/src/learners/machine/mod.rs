//! Kernel support vector machines, whose parameters are chosen by cross-validation.

mod classification;
mod planes;
mod regression;
mod twin;

pub use classification::{SupportVectorClassifier, SupportVectorClassifierModel};
pub use regression::{SupportVectorRegression, SupportVectorRegressionModel};
pub use twin::{TwinClassifier, TwinClassifierModel, TwinRegularization};

use fewest_core::{Columns, Context, Dataset, Error, Status, derive_seed, order, words};
use fewest_kernels::{SquaredDistances, VectorKernel};
use fewest_machines::{Encoding, PointRows, Points};
use fewest_smo::{GramRows, KernelRows, SubsetRows};
use fewest_solver::Control;

use crate::{KFold, Split, Splitter};

/// Largest number of training samples for which all squared distances are stored: 72 MB, and as much for a
/// kernel matrix.
const MOST_KEPT: usize = 3000;

/// Rows of a kernel between two checks of the clock.
const AT_ONCE: usize = 64;

/// The duality gap of machines that only compare parameters.
const ROUGH: f64 = 1e-3;

words! {
    /// The kernel of a machine.
    #[derive(Default)]
    pub enum MachineKernel {
        /// `exp(−γ ‖x − z‖²)`.
        #[default]
        Gaussian = "gaussian",
        /// `⟨x, z⟩`, without a width to choose.
        Linear = "linear",
    }
}

/// The parameters of a machine to choose from, by cross-validation over the training samples.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineGrid {
    /// The costs `C`, above 0. Default 0.1, 1, 10, 100.
    pub costs: Vec<f64>,
    /// The widths `γ` of a Gaussian kernel in units of the inverse of the variance of all features together:
    /// 1 / (number of features) if none is constant. Above 0. Default 1/16, 1/4, 1, 4.
    pub gammas: Vec<f64>,
    /// Number of folds, at least 2; at most as many as there are training samples are used. Default 3.
    pub folds: usize,
}

impl Default for MachineGrid {
    fn default() -> Self {
        Self { costs: vec![0.1, 1.0, 10.0, 100.0], gammas: vec![0.0625, 0.25, 1.0, 4.0], folds: 3 }
    }
}

impl MachineGrid {
    fn check(&self) -> Result<(), Error> {
        for (name, values) in [("costs", &self.costs), ("gammas", &self.gammas)] {
            check_values(name, values, |value| value > 0.0, "at least one value, all above 0 and finite")?;
        }
        if self.folds < 2 {
            return Err(Error::parameter("folds", self.folds, "at least 2"));
        }
        Ok(())
    }

    /// Increasing: each machine starts from the one of the previous cost.
    fn sorted_costs(&self) -> Vec<f64> {
        sorted(&self.costs)
    }

    fn kernels(&self, kernel: MachineKernel, unit: f64) -> Vec<VectorKernel> {
        match kernel {
            MachineKernel::Linear => vec![VectorKernel::Linear],
            MachineKernel::Gaussian => {
                let gaussian = |gamma: f64| VectorKernel::Gaussian { gamma: gamma * unit };
                sorted(&self.gammas).into_iter().map(gaussian).collect()
            }
        }
    }

    /// The folds for the choice; none if there are fewer than two candidates or samples.
    fn splits(
        &self,
        data: &Dataset,
        candidates: usize,
        stratified: bool,
        context: &Context<'_>,
    ) -> Result<Vec<Split>, Error> {
        let folds = self.folds.min(data.n_samples());
        if folds < 2 || candidates < 2 {
            return Ok(Vec::new());
        }
        KFold { folds, stratified }.splits(data, derive_seed(context.seed, 0))
    }
}

fn check_values(
    name: &'static str,
    values: &[f64],
    fine: impl Fn(f64) -> bool,
    expected: &str,
) -> Result<(), Error> {
    if values.is_empty() {
        return Err(Error::parameter(name, "empty", expected));
    }
    match values.iter().find(|value| !(value.is_finite() && fine(**value))) {
        Some(value) => Err(Error::parameter(name, value, expected)),
        None => Ok(()),
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    order::sort(&mut values);
    values
}

/// Training samples as points, standardised by all of them, also inside the folds that choose parameters:
/// this choice never uses a test sample of the caller.
struct Space {
    encoding: Encoding,
    points: Points,
    /// For up to [`MOST_KEPT`] samples: one computation for all widths and folds.
    distances: Option<SquaredDistances>,
    /// One divided by the variance of all coordinates.
    unit: f64,
}

impl Space {
    fn new(data: &Dataset, kernel: MachineKernel, context: &Context<'_>) -> Result<Self, Error> {
        let encoding = Encoding::fit(data)?;
        let points = encoding.encode(data.x())?;
        let n = points.n_samples;
        let keeps = kernel == MachineKernel::Gaussian && n <= MOST_KEPT;
        let distances =
            if keeps { Some(SquaredDistances::new(encoding.by_feature(&points), n, context)?) } else { None };
        let variance: f64 = (0..points.width)
            .map(|j| {
                let column = || points.values.iter().skip(j).step_by(points.width);
                let mean = column().sum::<f64>() / n as f64;
                column().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n as f64
            })
            .sum();
        let unit = if variance > 0.0 { 1.0 / variance } else { 1.0 };
        Ok(Self { encoding, points, distances, unit })
    }

    /// A kernel between all training samples.
    fn rows(&self, kernel: VectorKernel) -> Result<Box<dyn KernelRows>, Error> {
        match (&self.distances, kernel) {
            (Some(distances), VectorKernel::Gaussian { gamma }) => {
                let mut values = distances.values().to_vec();
                SquaredDistances::gaussian(gamma, &mut values);
                Ok(Box::new(GramRows::trusted(values, distances.n_samples())?))
            }
            _ => Ok(Box::new(PointRows::new(&self.points, kernel)?)),
        }
    }

    /// [`rows`](Self::rows) for machines of several costs and folds: of up to [`MOST_KEPT`] samples, kernel
    /// values are computed once.
    fn shared_rows(&self, kernel: VectorKernel, context: &Context<'_>) -> Result<Box<dyn KernelRows>, Error> {
        let rows = self.rows(kernel)?;
        let n = rows.len();
        if n > MOST_KEPT || self.distances.is_some() {
            return Ok(rows);
        }
        let mut values = vec![0.0; n * n];
        let indices: Vec<usize> = (0..n).collect();
        for (indices, values) in indices.chunks(AT_ONCE).zip(values.chunks_mut(AT_ONCE * n)) {
            context.go_on("the products of the samples were computed")?;
            rows.rows(indices, values);
        }
        Ok(Box::new(GramRows::trusted(values, n)?))
    }
}

/// Calls `visit` with the kernel values of each test sample with the training samples of a split.
fn visit_tests(
    rows: &dyn KernelRows,
    split: &Split,
    mut visit: impl FnMut(usize, &[f64]) -> Result<(), Error>,
) -> Result<(), Error> {
    let (mut whole, mut own) = (vec![0.0; rows.len()], vec![0.0; split.train.len()]);
    for &i in &split.test {
        rows.row(i, &mut whole);
        for (value, &j) in own.iter_mut().zip(&split.train) {
            *value = whole[j];
        }
        visit(i, &own)?;
    }
    Ok(())
}

fn train_rows<'a>(rows: &'a dyn KernelRows, split: &Split) -> Result<SubsetRows<'a>, Error> {
    SubsetRows::new(rows, split.train.clone())
}

fn control<'a>(tolerance: f64, context: &Context<'a>) -> Control<'a> {
    Control { tolerance, ..Control::from(context) }
}

fn check_stop(status: Status) -> Result<(), Error> {
    match status {
        Status::Interrupted | Status::TimeLimit => {
            Err(Error::Stopped { before: "the support vector machine was trained" })
        }
        _ => Ok(()),
    }
}

/// Calls `predict` with the kernel values of each sample of `x` with the training samples.
fn visit_unseen(
    encoding: &Encoding,
    rows: &PointRows,
    x: &dyn Columns,
    mut predict: impl FnMut(&[f64]) -> Result<(), Error>,
) -> Result<(), Error> {
    let points = encoding.encode(x)?;
    let mut row = vec![0.0; rows.len()];
    for i in 0..points.n_samples {
        rows.0.row_at(points.point(i), &mut row)?;
        predict(&row)?;
    }
    Ok(())
}

fn gamma_of(kernel: VectorKernel) -> f64 {
    match kernel {
        VectorKernel::Gaussian { gamma } => gamma,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests;
