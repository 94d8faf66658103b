//! The kernels of the features: one or more each, as a thin signed factor or as a whole matrix.

use std::sync::{Arc, OnceLock};

use fewest_core::{Column, Context, Dataset, Error, FeatureKind};
use fewest_counts::check_column;
use fewest_kernels::{Factor, Gram, NormalisedDelta, ScalarKernel, SharedFactor, dot_products};
use rayon::prelude::*;

use super::base::BaseKernel;
use super::vectors::add_scaled;
use crate::Form;
use crate::atoms::{range, standardise};

/// Atoms made between two looks at the clock.
const CHUNK: usize = 256;

/// Features standardised between two looks at the clock.
const BATCH: usize = 1024;

/// Up to this many features, factors of all cost less than a shared one.
const FEW: usize = 64;

/// Features whose values say how large a kernel's values are.
const SAMPLED: usize = 16;

/// Error allowed to a shared factor, relative to the mean size of `k(x, x)`, at 100 samples. What comes of errors grows with the square
/// of the number of samples, what is looked for at least in proportion.
const SHARED_ERROR: f64 = 1e-3;

/// How one base kernel is held.
pub(crate) enum Atom {
    Factor(Factor),
    Gram(Gram),
}

/// All base kernels of a data set. Those of a kernel that has a shared factor come into being when they are asked for.
pub(crate) struct Atoms {
    made: Vec<OnceLock<Atom>>,
    /// The feature and the kernel, by its place in the list, of each atom.
    owners: Vec<(usize, usize)>,
    /// The values of the features, as kernels see them, one feature after the other, and whether they are codes.
    points: Vec<f64>,
    codes: Vec<bool>,
    kernels: Vec<Arc<dyn ScalarKernel>>,
    shared: Vec<Option<SharedFactor>>,
    n_samples: usize,
    tolerance: f64,
    form: Form,
}

/// The values of feature `j` as kernels see them: standardised, or codes; `None` for a constant.
pub(crate) fn points(data: &Dataset, j: usize, column: Column<'_>) -> Option<Vec<f64>> {
    let mut points = vec![0.0; data.n_samples()];
    write_points(data, j, column, &mut points).then_some(points)
}

/// [`points`] into `out`; whether they vary.
fn write_points(data: &Dataset, j: usize, column: Column<'_>, out: &mut [f64]) -> bool {
    column.copy_to(out);
    if is_categorical(data, j) { out.iter().any(|&code| code != out[0]) } else { standardise(out) }
}

fn is_categorical(data: &Dataset, j: usize) -> bool {
    matches!(data.feature_kind(j), FeatureKind::Categorical { .. })
}

impl Atoms {
    /// The kernels of every feature that is not constant; categories always get the delta kernel `1/n_level`, once.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no kernel or a kernel's parameter; [`Error::NonFinite`] naming the cell;
    /// [`Error::Numerical`] where a kernel overflows; [`Error::Stopped`].
    pub(crate) fn new(
        data: &Dataset,
        kernels: &[BaseKernel],
        tolerance: f64,
        form: Form,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        if kernels.is_empty() {
            return Err(Error::parameter("kernel", "empty", "at least one kernel"));
        }
        let kernels = kernels.iter().map(BaseKernel::build).collect::<Result<Vec<_>, _>>()?;
        let (n, d) = (data.n_samples(), data.n_features());
        // One allocation: growing by a feature at a time costs more than standardising it.
        let mut points = vec![0.0; n * d];
        let mut ranges = Vec::with_capacity(d);
        for (batch, out) in points.chunks_mut(BATCH * n.max(1)).enumerate() {
            stop(context, "every feature was standardised")?;
            let columns = out.par_chunks_exact_mut(n).enumerate().map_init(Vec::new, |scratch, (at, out)| {
                let j = batch * BATCH + at;
                let column = data.x().column(j, scratch);
                check_column(data, j, column)?;
                Ok(write_points(data, j, column, out).then(|| range(out)))
            });
            let found: Vec<Result<Option<(f64, f64)>, Error>> = columns.collect();
            for range in found {
                ranges.push(range?);
            }
            context.report("features", ranges.len(), d);
        }
        let mut atoms = Self {
            made: Vec::new(),
            owners: Vec::new(),
            points,
            codes: (0..d).map(|j| is_categorical(data, j)).collect(),
            shared: vec![None; kernels.len()],
            kernels,
            n_samples: n,
            tolerance,
            form,
        };
        let mut numeric = Vec::new();
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for (j, range) in ranges.into_iter().enumerate() {
            let Some((least, most)) = range else { continue };
            if !atoms.codes[j] {
                numeric.push(j);
                (low, high) = (low.min(least), high.max(most));
            }
            let n_kernels = if atoms.codes[j] { 1 } else { atoms.kernels.len() };
            atoms.owners.extend((0..n_kernels).map(|which| (j, which)));
        }
        atoms.made.resize_with(atoms.owners.len(), OnceLock::new);
        if form == Form::Auto {
            atoms.share(&numeric, low, high);
        }
        for start in (0..atoms.len()).step_by(CHUNK) {
            stop(context, "every feature had its kernel")?;
            let end = atoms.len().min(start + CHUNK);
            let made: Vec<Result<(), Error>> = (start..end)
                .into_par_iter()
                .filter(|&m| atoms.shared(m).is_none())
                .map(|m| atoms.get(m).map(|_| ()))
                .collect();
            made.into_iter().collect::<Result<(), Error>>()?;
            context.report("kernels", end, atoms.len());
        }
        Ok(atoms)
    }

    /// Factors for all of the features `numeric`, whose values lie between `low` and `high`, where there are many and a kernel has one.
    fn share(&mut self, numeric: &[usize], low: f64, high: f64) {
        if numeric.len() <= FEW {
            return;
        }
        let features = numeric.iter().step_by(numeric.len() / SAMPLED);
        let sampled: Vec<f64> = features.flat_map(|&j| self.feature(j)).copied().collect();
        let relative = SHARED_ERROR * (100.0 / self.n_samples as f64).min(1.0);
        for (kernel, shared) in self.kernels.iter().zip(&mut self.shared) {
            let size = sampled.iter().map(|&x| kernel.eval(x, x).abs()).sum::<f64>() / sampled.len() as f64;
            *shared = SharedFactor::new(&**kernel, low, high, relative * size);
        }
    }

    /// The values of the feature of atom `m`.
    pub(super) fn points(&self, m: usize) -> &[f64] {
        self.feature(self.owners[m].0)
    }

    fn feature(&self, j: usize) -> &[f64] {
        &self.points[j * self.n_samples..(j + 1) * self.n_samples]
    }

    /// The shared factor of the kernel of atom `m`.
    pub(super) fn shared(&self, m: usize) -> Option<&SharedFactor> {
        if self.codes[self.owners[m].0] { None } else { self.shared[self.owners[m].1].as_ref() }
    }

    /// Whether atom `m` has come into being.
    pub(super) fn is_made(&self, m: usize) -> bool {
        self.made[m].get().is_some()
    }

    /// Atom `m`.
    ///
    /// # Errors
    /// [`Error::Numerical`] where its kernel overflows.
    pub(super) fn get(&self, m: usize) -> Result<&Atom, Error> {
        if let Some(atom) = self.made[m].get() {
            return Ok(atom);
        }
        let points = self.points(m);
        let made = if self.codes[self.owners[m].0] {
            self.make(&NormalisedDelta::from_points(points), points)?
        } else {
            self.make(&*self.kernels[self.owners[m].1], points)?
        };
        Ok(self.made[m].get_or_init(|| made))
    }

    fn make(&self, kernel: &dyn ScalarKernel, points: &[f64]) -> Result<Atom, Error> {
        if self.form == Form::Exact {
            let gram = Gram::new(kernel, points);
            if gram.as_slice().iter().any(|value| !value.is_finite()) {
                return Err(overflow());
            }
            return Ok(Atom::Gram(gram));
        }
        let mut factor = Factor::new(kernel, points, self.tolerance, self.n_samples)?;
        factor.centre();
        Ok(Atom::Factor(factor))
    }

    pub(crate) fn len(&self) -> usize {
        self.made.len()
    }

    pub(crate) fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// The feature of each atom and its kernel's place in the list.
    pub(crate) fn owners(&self) -> &[(usize, usize)] {
        &self.owners
    }

    /// `out = K_m v`, for a `v` that sums to zero.
    pub(crate) fn apply(&self, m: usize, v: &[f64], out: &mut [f64]) -> Result<(), Error> {
        out.fill(0.0);
        match self.get(m)? {
            Atom::Factor(factor) => {
                let mut weights = vec![0.0; factor.rank()];
                if factor.rank() > 0 {
                    dot_products(factor.values(), v, self.n_samples, &mut weights);
                }
                for (a, &weight) in weights.iter().enumerate() {
                    let sign = factor.signs().map_or(1.0, |signs| signs[a]);
                    add_scaled(out, sign * weight, factor.column(a));
                }
            }
            Atom::Gram(gram) => {
                for (column, &weight) in gram.as_slice().chunks_exact(self.n_samples).zip(v) {
                    if weight != 0.0 {
                        add_scaled(out, weight, column);
                    }
                }
            }
        }
        Ok(())
    }
}

fn stop(context: &Context<'_>, before: &'static str) -> Result<(), Error> {
    let is_late = context.interrupted() || context.time_left().is_some_and(|left| left.is_zero());
    if is_late { Err(Error::Stopped { before }) } else { Ok(()) }
}

fn overflow() -> Error {
    Error::Numerical {
        what: "a base kernel",
        hint: "its values are not finite: use a smaller scale, offset or degree".to_owned(),
    }
}
