//! Which features may get a weight: products of all kernels with the machines, as exactly as it takes to
//! tell.

use fewest_core::{Context, Error};
use fewest_kernels::{Interpolated, Pair, SharedFactor};

use super::atoms::Atoms;
use super::fit::FITTED;
use fewest_linalg::dot;

/// What a shared factor's checks have found is taken times this.
const CAUTION: f64 = 2.0;

/// Atoms that one thread looks at in a row.
const AT_ONCE: usize = 64;

/// Vectors `u_t` and `v_t` of all samples, each summing to zero, for which `Σ_t u_tᵀ K_m v_t` is asked.
#[derive(Clone)]
pub(crate) struct Pairs {
    /// All `u`, then all `v`.
    vectors: Vec<f64>,
    n_samples: usize,
    /// The samples at which any vector is not zero, and the vectors on these alone.
    rows: Vec<usize>,
    packed: Vec<Pair>,
}

/// A number and what it may be wrong by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Estimate {
    /// What the number is not above.
    pub(crate) fn bound(self) -> f64 {
        self.value + self.error
    }

    /// What the number is not below.
    pub(crate) fn least(self) -> f64 {
        self.value - self.error
    }
}

fn size(vector: &[f64]) -> f64 {
    vector.iter().map(|value| value.abs()).sum()
}

fn distance(u: &[f64], v: &[f64]) -> f64 {
    u.iter().zip(v).map(|(u, v)| (u - v).abs()).sum()
}

impl Pairs {
    /// # Errors
    /// [`Error::Stopped`]: there is a pair for each two classes, each as long as there are samples.
    pub(crate) fn new(
        u: &[Vec<f64>],
        v: &[Vec<f64>],
        n_samples: usize,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let mut vectors = Vec::with_capacity(n_samples * (u.len() + v.len()));
        let mut counts = vec![false; n_samples];
        for vector in u.iter().chain(v) {
            context.go_on(FITTED)?;
            counts.iter_mut().zip(vector).for_each(|(counts, value)| *counts |= *value != 0.0);
            vectors.extend_from_slice(vector);
        }
        let rows: Vec<usize> = (0..n_samples).filter(|&i| counts[i]).collect();
        let pack = |vector: &[f64]| -> Vec<f64> { rows.iter().map(|&i| vector[i]).collect() };
        let pair = |(u, v): (&Vec<f64>, &Vec<f64>)| {
            context.go_on(FITTED)?;
            Ok(Pair::new(&pack(u), &pack(v)))
        };
        let packed = u.iter().zip(v).map(pair).collect::<Result<_, Error>>()?;
        Ok(Self { vectors, n_samples, rows, packed })
    }

    fn each(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        let (u, v) = self.vectors.split_at(self.vectors.len() / 2);
        u.chunks_exact(self.n_samples.max(1)).zip(v.chunks_exact(self.n_samples.max(1)))
    }

    /// `Σ_t ‖u_t‖₁ ‖v_t‖₁`: what a kernel without a value above 1 in size makes of them at most.
    fn size(&self) -> f64 {
        self.each().map(|(u, v)| size(u) * size(v)).sum()
    }

    /// How far the product with such a kernel can be from that of `other`:
    /// `uᵀKv − aᵀKb = (u − a)ᵀKv + aᵀK(v − b)`.
    fn distance(&self, other: &Self) -> f64 {
        let pairs = self.each().zip(other.each());
        pairs.map(|((u, v), (a, b))| distance(u, a) * size(v) + size(a) * distance(v, b)).sum()
    }
}

impl Atoms<'_> {
    /// `Σ_t u_tᵀ K_m v_t`.
    ///
    /// # Errors
    /// [`Error::Numerical`] where the kernel overflows; [`Error::Stopped`].
    pub(crate) fn product(&self, m: usize, pairs: &Pairs, context: &Context<'_>) -> Result<f64, Error> {
        let mut image = vec![0.0; self.n_samples()];
        let mut sum = 0.0;
        for (u, v) in pairs.each() {
            context.go_on(FITTED)?;
            self.apply(m, v, &mut image)?;
            sum += dot(u, &image);
        }
        Ok(sum)
    }
}

/// What the worker threads compute in.
#[derive(Default)]
struct Memory {
    column: Vec<f64>,
    points: Vec<f64>,
    chosen: Vec<f64>,
    interpolated: Interpolated,
}

/// Products of all atoms as they were when they were last looked at. While machines move little, most
/// features gain far less than their penalty, and need not be computed again.
#[derive(Default)]
pub(crate) struct Screen {
    /// What was asked before.
    asked: Vec<Pairs>,
    looks: Vec<Option<Look>>,
}

/// An atom's product, and which of the questions it answers.
#[derive(Debug, Clone, Copy)]
struct Look {
    estimate: Estimate,
    when: usize,
}

impl Look {
    /// The estimate now that the question has `moved` from what was asked.
    fn now(self, largest: f64, moved: &[f64]) -> Estimate {
        Estimate { error: self.estimate.error + CAUTION * largest * moved[self.when], ..self.estimate }
    }
}

impl Screen {
    /// `Σ_t u_tᵀ K_m v_t` of every atom: by the shared factors where atoms have not come into being, and from
    /// before where that is enough. Exact enough to know on which side of `least` the product lies, where the
    /// shared factors are.
    ///
    /// # Errors
    /// [`Error::Stopped`]; [`Error::Numerical`] where a kernel overflows; [`Error::Unreadable`]. Of several
    /// the first.
    pub(crate) fn estimates(
        &mut self,
        atoms: &Atoms<'_>,
        pairs: &Pairs,
        least: f64,
        context: &Context<'_>,
    ) -> Result<Vec<Estimate>, Error> {
        let mut moved: Vec<f64> = self.asked.iter().map(|before| pairs.distance(before)).collect();
        let when = match moved.iter().position(|moved| *moved == 0.0) {
            Some(when) => when,
            None => {
                self.asked.push(pairs.clone());
                moved.push(0.0);
                self.asked.len() - 1
            }
        };
        let size = CAUTION * pairs.size();
        self.looks.resize(atoms.len(), None);
        let update = |memory: &mut Memory, (m, look): (usize, &mut Option<Look>)| -> Result<(), Error> {
            context.go_on(FITTED)?;
            let (false, Some(shared)) = (atoms.is_made(m), atoms.shared(m)) else {
                if look.is_none_or(|look| look.when != when || look.estimate.error > 0.0) {
                    let value = atoms.product(m, pairs, context)?;
                    *look = Some(Look { estimate: Estimate { value, error: 0.0 }, when });
                }
                return Ok(());
            };
            if let Some(look) = look {
                let old = look.now(shared.largest(), &moved);
                let is_new = look.when == when;
                let is_finest = old.error <= shared.error() * size;
                if old.bound() <= least || (is_new && (is_finest || old.least() >= least)) {
                    return Ok(());
                }
            }
            let Memory { column, points, chosen, interpolated } = memory;
            atoms.points(m, column, points)?;
            if pairs.rows.len() < points.len() {
                chosen.clear();
                chosen.extend(pairs.rows.iter().map(|&i| points[i]));
                std::mem::swap(points, chosen);
            }
            let is_enough = |value: f64, error: f64| (value - least).abs() >= error * size;
            let (value, error) = shared.product(points, &pairs.packed, interpolated, is_enough);
            *look = Some(Look { estimate: Estimate { value, error: error * size }, when });
            Ok(())
        };
        let updated = fewest_parallel::chunks(&mut self.looks, AT_ONCE, |chunk, looks| {
            let mut memory = Memory::default();
            let mut looks = looks.iter_mut().enumerate();
            looks.try_for_each(|(at, look)| update(&mut memory, (chunk * AT_ONCE + at, look)))
        });
        updated.into_iter().collect::<Result<(), Error>>()?;
        let now =
            |(m, look): (usize, &Look)| look.now(atoms.shared(m).map_or(0.0, SharedFactor::largest), &moved);
        let estimates = self.looks.iter().flatten().enumerate().map(now).collect();
        self.forget();
        Ok(estimates)
    }

    /// Drops what no atom refers to any more.
    fn forget(&mut self) {
        let mut is_needed = vec![false; self.asked.len()];
        self.looks.iter().flatten().for_each(|look| is_needed[look.when] = true);
        let mut place = 0;
        let places: Vec<usize> = is_needed
            .iter()
            .map(|needed| {
                place += usize::from(*needed);
                place.saturating_sub(1)
            })
            .collect();
        self.looks.iter_mut().flatten().for_each(|look| look.when = places[look.when]);
        let mut needed = is_needed.into_iter();
        self.asked.retain(|_| needed.next().unwrap_or(false));
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::method::KernelWidth;
    use fewest_core::{Context, Dataset, DenseColumns, Target, derive_seed};

    use super::super::base::BaseKernel;
    use super::super::descent::Descent;
    use super::super::fit::Limits;
    use super::super::tasks::tasks;
    use super::*;
    use fewest_kernels::Form;

    /// Uniform in [-1, 1].
    fn random(seed: u64, stream: usize) -> f64 {
        2.0 * (derive_seed(seed, stream as u64) as f64 / u64::MAX as f64) - 1.0
    }

    /// Three classes that the first two of 200 features separate; some values lie far out.
    fn data(n: usize) -> Result<Dataset, Error> {
        let columns: Vec<Vec<f64>> =
            (0..200).map(|j| (0..n).map(|i| random(7, i * 200 + j).powi(5)).collect()).collect();
        let class =
            |i: usize| (columns[0][i] > 0.0) as u32 + u32::from(columns[1][i] + 0.1 * random(8, i) > 0.0);
        let target = Target::from_labels(&(0..n).map(class).collect::<Vec<_>>());
        Dataset::new(DenseColumns::from_columns(&columns)?, target)
    }

    fn kernels() -> Vec<BaseKernel> {
        vec![BaseKernel::default(), BaseKernel::Gaussian { sigma: KernelWidth::Value(1.0) }]
    }

    #[test]
    fn estimates_are_wrong_by_no_more_than_they_say() -> Result<(), Error> {
        let context = &Context::default();
        let n = 40;
        let data = data(n)?;
        let atoms = |form| Atoms::new(&data, &kernels(), 1e-10, form, context);
        let (own, exact) = (atoms(Form::Auto)?, atoms(Form::Exact)?);
        assert!((0..own.len()).all(|m| own.shared(m).is_some() && !own.is_made(m)));
        let vector = |seed: u64, step: f64| -> Vec<f64> {
            let mut v: Vec<f64> = (0..n).map(|i| random(seed, i) + step * random(seed + 50, i)).collect();
            v[3] = 0.0;
            let mean = v.iter().sum::<f64>() / (n - 1) as f64;
            v.iter_mut().enumerate().filter(|(i, _)| *i != 3).for_each(|(_, v)| *v -= mean);
            v
        };
        let mut screen = Screen::default();
        let mut old = 0;
        for (round, step) in [0.0, 1e-3, 1e-3, 2e-3, 0.5].into_iter().enumerate() {
            let pairs = Pairs::new(
                &[vector(1, step), vector(2, step)],
                &[vector(3, step), vector(4, step)],
                n,
                context,
            )?;
            let products: Vec<f64> =
                (0..exact.len()).map(|m| exact.product(m, &pairs, context)).collect::<Result<_, _>>()?;
            let least = products.iter().copied().fold(f64::NEG_INFINITY, f64::max) * 0.5;
            let estimates = screen.estimates(&own, &pairs, least, context)?;
            for (m, (estimate, product)) in estimates.iter().zip(&products).enumerate() {
                assert!(
                    (estimate.value - product).abs() <= estimate.error,
                    "{round} {m}: {estimate:?} {product}"
                );
            }
            old += screen.looks.iter().flatten().filter(|look| look.when + 1 < screen.asked.len()).count();
            assert!(screen.asked.len() <= round + 1);
        }
        assert!(old > 0, "nothing was ever left as it was");
        Ok(())
    }

    #[test]
    fn no_weight_that_was_left_out_would_rise() -> Result<(), Error> {
        let data = data(50)?;
        let tasks = tasks(&data, 0.1, "test")?;
        let limits = |working_set| Limits {
            tolerance: 1e-8,
            min_improvement: 1e-9,
            iterations: 2000,
            inner_tolerance: 1e-10,
            inner_iterations: 1000,
            accelerated: true,
            working_set,
        };
        let atoms = Atoms::new(&data, &kernels(), 1e-10, Form::Auto, &Context::default())?;
        let exact = Atoms::new(&data, &kernels(), 1e-10, Form::Exact, &Context::default())?;
        let mut ends = Vec::new();
        for (atoms, working_set) in [(&atoms, true), (&exact, false)] {
            let context = Context::default();
            let Some(mut descent) = Descent::new(atoms, &tasks, 1.0, &context)? else {
                panic!("nothing has a weight")
            };
            let lambda2 = 0.2 * descent.largest();
            let fit = descent.to(lambda2, &limits(working_set), &Context::default())?;
            assert!(fit.history.windows(2).all(|pair| pair[1] <= pair[0]));
            ends.push((fit, lambda2));
        }
        let [(own, lambda2), (all, _)] = &ends[..] else { panic!("two fits") };
        let value = |history: &[f64]| history.last().copied().unwrap_or(f64::NAN);
        let (a, b) = (value(&own.history), value(&all.history));
        assert!((a - b).abs() < 1e-5 * b, "{a} {b}");
        let n_made = (0..atoms.len()).filter(|&m| atoms.is_made(m)).count();
        assert!(n_made < atoms.len() / 2, "{n_made} of {} factors", atoms.len());
        // The slopes of all weights at the end, from whole matrices: β is stationary, so that each is λ₂ − λ₁
        // Σ βᵀK_mβ.
        for m in 0..exact.len() {
            let mut gain = 0.0;
            for (task, machine) in tasks.tasks.iter().zip(&own.point.machines) {
                let (mut spread, mut image) = (vec![0.0; 50], vec![0.0; 50]);
                task.rows.iter().zip(&machine.beta).for_each(|(&row, &beta)| spread[row] = beta);
                exact.apply(m, &spread, &mut image)?;
                gain += dot(&spread, &image);
            }
            assert!(gain < lambda2 * (1.0 + 1e-3), "{m}: {gain} against {lambda2}");
            assert!(own.point.weights[m] == 0.0 || gain > lambda2 * (1.0 - 1e-3), "{m}: {gain}");
        }
        Ok(())
    }
}
