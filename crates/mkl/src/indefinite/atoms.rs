//! The kernels of the features: one or more each, as a thin signed factor or as a whole matrix.

use std::sync::{Arc, OnceLock};

use fewest_columns::{Standard, map_features, range};
use fewest_core::{Column, Context, Dataset, Error, FeatureKind};
use fewest_kernels::{Delta, Factor, Gram, ScalarKernel, SharedFactor};
use fewest_linalg::dot_products;

use super::base::BaseKernel;
use fewest_kernels::Form;
use fewest_linalg::add_scaled;

/// Atoms made between two checks of the clock.
const CHUNK: usize = 256;

/// Up to this many features, factors of all cost less than a shared one.
const FEW: usize = 64;

/// Features whose values say how large a kernel's values are.
const SAMPLED: usize = 16;

/// Error allowed to a shared factor, relative to the mean size of `k(x, x)`, at 100 samples. What comes of
/// errors grows with the square of the number of samples, what is looked for at least in proportion.
const SHARED_ERROR: f64 = 1e-3;

/// And at any number: less is out of reach, and more features than need be get factors of their own.
const LEAST_SHARED_ERROR: f64 = 1e-5;

/// How one base kernel is held.
pub(crate) enum Atom {
    Factor(Factor),
    Gram(Gram),
}

/// What kernels see of a feature.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seen {
    /// Nothing: it is constant.
    Nothing,
    /// Its codes.
    Codes,
    /// Its values, standardised.
    Standardised(Standard),
}

/// All base kernels of a data set. Those of a kernel that has a shared factor come into being when they are
/// asked for.
pub(crate) struct Atoms<'a> {
    data: &'a Dataset,
    seen: Vec<Seen>,
    /// The feature and the kernel, by its place in the list, of each atom.
    owners: Vec<(usize, usize)>,
    made: Vec<OnceLock<Box<Atom>>>,
    kernels: Vec<BaseKernel>,
    /// Each of them, where it is the same for every feature.
    built: Vec<Option<Arc<dyn ScalarKernel>>>,
    shared: Vec<Option<SharedFactor>>,
    tolerance: f64,
    form: Form,
}

impl Seen {
    /// Of feature `j` with these values; and the smallest and the largest that is seen.
    fn of(data: &Dataset, j: usize, values: &[f64]) -> (Self, [f64; 2]) {
        let (low, high) = range(values);
        let mut range = [low, high];
        let seen = if matches!(data.feature_kind(j), FeatureKind::Categorical { .. }) {
            if low == high { Self::Nothing } else { Self::Codes }
        } else {
            Standard::of(values, (low, high)).map_or(Self::Nothing, Self::Standardised)
        };
        seen.apply(&mut range);
        (seen, range)
    }

    /// Makes what is seen of `values`.
    pub(super) fn apply(&self, values: &mut [f64]) {
        if let Self::Standardised(standard) = self {
            standard.apply(values);
        }
    }
}

/// The values of feature `j` as kernels see them: standardised, or codes; `None` for a constant.
pub(crate) fn points(data: &Dataset, j: usize, column: Column<'_>) -> Option<Vec<f64>> {
    let mut values = column.to_vec(data.n_samples());
    let (seen, _) = Seen::of(data, j, &values);
    seen.apply(&mut values);
    (!matches!(seen, Seen::Nothing)).then_some(values)
}

impl<'a> Atoms<'a> {
    /// The kernels of every feature that is not constant; categories always get the delta kernel,
    /// once.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no kernel or a kernel's parameter; [`Error::NonFinite`] naming the
    /// cell; [`Error::Numerical`] where a kernel overflows; [`Error::Unreadable`]; [`Error::Stopped`].
    pub(crate) fn new(
        data: &'a Dataset,
        kernels: &[BaseKernel],
        tolerance: f64,
        form: Form,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        if kernels.is_empty() {
            return Err(Error::parameter("kernel", "empty", "at least one kernel"));
        }
        let d = data.n_features();
        let mut atoms = Self {
            data,
            seen: Vec::with_capacity(d),
            owners: Vec::with_capacity(d),
            made: Vec::new(),
            shared: vec![None; kernels.len()],
            kernels: kernels.to_vec(),
            built: kernels.iter().map(BaseKernel::shared).collect::<Result<_, _>>()?,
            tolerance,
            form,
        };
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        let found = map_features(data, context, "features", |j, column| match column {
            Column::Dense(values) => Ok(Seen::of(data, j, values)),
            Column::Sparse { .. } => Ok(Seen::of(data, j, &column.to_vec(data.n_samples()))),
        })?;
        for (seen, range) in found {
            let n_kernels = match seen {
                Seen::Nothing => 0,
                Seen::Codes => 1,
                Seen::Standardised(_) => {
                    (low, high) = (low.min(range[0]), high.max(range[1]));
                    atoms.kernels.len()
                }
            };
            atoms.owners.extend((0..n_kernels).map(|which| (atoms.seen.len(), which)));
            atoms.seen.push(seen);
        }
        atoms.made.resize_with(atoms.owners.len(), OnceLock::new);
        if form == Form::Auto {
            atoms.share(low, high)?;
        }
        let own: Vec<usize> = (0..atoms.len()).filter(|&m| atoms.shared(m).is_none()).collect();
        let mut n_made = 0;
        for chunk in own.chunks(CHUNK) {
            fewest_parallel::try_map(chunk.len(), |at| {
                context.go_on("every feature had its kernel")?;
                atoms.get(chunk[at]).map(|_| ())
            })?;
            n_made += chunk.len();
            context.report("kernels", n_made, own.len());
        }
        Ok(atoms)
    }

    /// Factors for all features that are not codes, whose values lie between `low` and `high`, where there
    /// are many and a kernel has one.
    fn share(&mut self, low: f64, high: f64) -> Result<(), Error> {
        let numeric: Vec<usize> =
            (0..self.seen.len()).filter(|&j| matches!(self.seen[j], Seen::Standardised(_))).collect();
        if numeric.len() <= FEW {
            return Ok(());
        }
        let (mut sampled, mut scratch, mut points) = (Vec::new(), Vec::new(), Vec::new());
        for &j in numeric.iter().step_by(numeric.len() / SAMPLED) {
            self.write_points(j, &mut scratch, &mut points)?;
            sampled.extend_from_slice(&points);
        }
        let relative =
            (SHARED_ERROR * 100.0 / self.n_samples() as f64).clamp(LEAST_SHARED_ERROR, SHARED_ERROR);
        for (kernel, shared) in self.built.iter().zip(&mut self.shared) {
            let Some(kernel) = kernel else { continue };
            let size = sampled.iter().map(|&x| kernel.eval(x, x).abs()).sum::<f64>() / sampled.len() as f64;
            *shared = SharedFactor::new(&**kernel, low, high, relative * size);
        }
        Ok(())
    }

    /// The values of feature `j` as kernels see them, in `out`.
    fn write_points(&self, j: usize, scratch: &mut Vec<f64>, out: &mut Vec<f64>) -> Result<(), Error> {
        out.resize(self.n_samples(), 0.0);
        self.data.x().column(j, scratch)?.copy_to(out);
        self.seen[j].apply(out);
        Ok(())
    }

    /// The values of the feature of atom `m`, as its kernel sees them, in `out`.
    ///
    /// # Errors
    /// [`Error::Unreadable`].
    pub(super) fn points(&self, m: usize, scratch: &mut Vec<f64>, out: &mut Vec<f64>) -> Result<(), Error> {
        self.write_points(self.owners[m].0, scratch, out)
    }

    /// What the kernel of atom `m` sees of its feature.
    pub(super) fn seen(&self, m: usize) -> Seen {
        self.seen[self.owners[m].0]
    }

    /// The shared factor of the kernel of atom `m`.
    pub(super) fn shared(&self, m: usize) -> Option<&SharedFactor> {
        let (feature, kernel) = self.owners[m];
        if matches!(self.seen[feature], Seen::Codes) { None } else { self.shared[kernel].as_ref() }
    }

    /// Whether atom `m` has come into being.
    pub(super) fn is_made(&self, m: usize) -> bool {
        self.made[m].get().is_some()
    }

    /// Atom `m`.
    ///
    /// # Errors
    /// [`Error::Numerical`] where its kernel overflows; [`Error::Unreadable`].
    pub(super) fn get(&self, m: usize) -> Result<&Atom, Error> {
        if let Some(atom) = self.made[m].get() {
            return Ok(atom);
        }
        let (feature, kernel) = self.owners[m];
        let mut points = Vec::new();
        self.points(m, &mut Vec::new(), &mut points)?;
        let made = if matches!(self.seen[feature], Seen::Codes) {
            self.make(&Delta, &points)?
        } else {
            match &self.built[kernel] {
                Some(built) => self.make(&**built, &points)?,
                None => self.make(&*self.kernels[kernel].build(&points)?, &points)?,
            }
        };
        Ok(self.made[m].get_or_init(|| Box::new(made)))
    }

    fn make(&self, kernel: &dyn ScalarKernel, points: &[f64]) -> Result<Atom, Error> {
        if self.form == Form::Exact {
            let gram = Gram::new(kernel, points);
            if gram.as_slice().iter().any(|value| !value.is_finite()) {
                return Err(overflow());
            }
            return Ok(Atom::Gram(gram));
        }
        let mut factor = Factor::new(kernel, points, self.tolerance, self.n_samples())?;
        factor.centre();
        Ok(Atom::Factor(factor))
    }

    pub(crate) fn len(&self) -> usize {
        self.made.len()
    }

    pub(crate) fn n_samples(&self) -> usize {
        self.data.n_samples()
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
                    dot_products(factor.values(), v, v.len(), &mut weights);
                }
                for (a, &weight) in weights.iter().enumerate() {
                    let sign = factor.signs().map_or(1.0, |signs| signs[a]);
                    add_scaled(out, sign * weight, factor.column(a));
                }
            }
            Atom::Gram(gram) => {
                for (column, &weight) in gram.as_slice().chunks_exact(v.len().max(1)).zip(v) {
                    if weight != 0.0 {
                        add_scaled(out, weight, column);
                    }
                }
            }
        }
        Ok(())
    }
}

fn overflow() -> Error {
    Error::Numerical {
        what: "a base kernel",
        hint: "its values are not finite: use a smaller scale, offset or degree".to_owned(),
    }
}
