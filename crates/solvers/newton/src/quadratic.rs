//! The quadratic model of a loss at a point.

use fewest_core::room;
use fewest_linalg::{dot, dot_products, gram};
use fewest_solver::loss::Loss;
use fewest_solver::{Control, Error, Links, Quadratic};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// What a curvature that is reduced has of its decrement at most, as far as has been seen: it decides how
/// accurate steps are, and no certificate.
const REDUCED: f64 = 10.0;

/// Numbers of the curvature that are written between two looks at the time.
const AT_ONCE: usize = 1 << 24;

/// The atoms of a model: `(column, output)` of each coefficient, with the columns of length `n` in memory.
pub(crate) struct Atoms<'a> {
    pub(crate) columns: &'a [f64],
    pub(crate) of: &'a [(usize, usize)],
    pub(crate) n: usize,
    pub(crate) c: usize,
}

impl Atoms<'_> {
    pub(crate) fn column(&self, at: usize) -> &[f64] {
        let (column, _) = self.of[at];
        &self.columns[column * self.n..(column + 1) * self.n]
    }

    /// `⟨x, rₖ⟩` of every coefficient, for the output `k` it belongs to.
    pub(crate) fn correlations(&self, right: &[f64]) -> Vec<f64> {
        let entry = |at: usize| {
            let (_, k) = self.of[at];
            dot(self.column(at), &right[k * self.n..(k + 1) * self.n])
        };
        (0..self.of.len()).map(entry).collect()
    }
}

/// `ℓ(Z) − ⟨Θ, D⟩ + ½ ⟨D, H D⟩` for a change `D = X(W' − W) + 1(b' − b)ᵀ` of the fitted values, with the best
/// `b'` for each `W'`: a [`Quadratic`] in `W'`.
pub(crate) struct LocalModel {
    pub(crate) quadratic: Quadratic,
    intercepts: Option<Intercepts>,
}

/// `b' − b = F⁻¹ (s − C (W' − W))`.
struct Intercepts {
    factor: Cholesky<f64, Dyn>,
    sums: DVector<f64>,
    crossed: DMatrix<f64>,
}

/// What a model is made of, before the intercepts are minimised out.
struct Parts {
    gram: DMatrix<f64>,
    /// `XᵀΘ`.
    correlations: DVector<f64>,
    /// `Σᵢ θᵢᵀ Hᵢ⁻¹ θᵢ`.
    decrement: f64,
}

/// Room for the curvature of the loss of every sample.
///
/// # Errors
/// [`Error::Numerical`] where there is no such memory.
pub(crate) fn curvature_room(n: usize, c: usize) -> Result<Vec<f64>, Error> {
    let what = "memory for the curvature of all samples";
    room(what, &[n, c, c], "Newton's method", "use fewer samples or classes")
}

fn go_on(control: &Control<'_>) -> Result<(), Error> {
    match control.stopped() {
        Some(_) => Err(Error::Stopped { before: "a Newton step was taken" }),
        None => Ok(()),
    }
}

impl LocalModel {
    /// At the coefficients `w` with their links, fitted values and dual point.
    pub(crate) fn new(
        atoms: &Atoms<'_>,
        loss: &dyn Loss,
        fitted: &[f64],
        dual: &[f64],
        (w, links): (&[f64], Option<&Links>),
        intercept: bool,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let (n, c) = (atoms.n, atoms.c);
        let (mut h, all) = (curvature_room(n, c)?, n * c * c);
        // Of many classes it takes seconds.
        while h.len() < all {
            go_on(control)?;
            h.resize(all.min(h.len() + AT_ONCE), 0.0);
        }
        loss.curvature(fitted, &mut h);
        go_on(control)?;
        let (parts, intercepts) = if c == 1 {
            one_output(atoms, loss, fitted, &h, dual, intercept)
        } else {
            outputs(atoms, loss, fitted, &h, dual, intercept, control)?
        };
        let Parts { mut gram, correlations, decrement } = parts;
        let w = DVector::from_column_slice(w);
        let products = &gram * &w;
        let squared_norm = w.dot(&products) + 2.0 * w.dot(&correlations) + decrement;
        let right = products + correlations;
        // They add `L` to the matrix and `L w − L w` to the right side.
        for (j, mut column) in gram.column_iter_mut().enumerate().filter(|_| links.is_some()) {
            links.iter().flat_map(|links| links.column(j)).for_each(|&(i, value)| column[i] += value);
        }
        let quadratic =
            Quadratic::new(gram.as_slice().to_vec(), right.as_slice().to_vec(), squared_norm.max(0.0))?;
        Ok(Self { quadratic, intercepts })
    }

    /// `b' − b` for the change of the coefficients.
    pub(crate) fn intercept_change(&self, change: &[f64]) -> Option<Vec<f64>> {
        let intercepts = self.intercepts.as_ref()?;
        let right = &intercepts.sums - &intercepts.crossed * DVector::from_column_slice(change);
        Some(intercepts.factor.solve(&right).as_slice().to_vec())
    }
}

/// With one output the columns are centred by their weighted mean: nothing cancels, however much one sample
/// outweighs the others.
fn one_output(
    atoms: &Atoms<'_>,
    loss: &dyn Loss,
    fitted: &[f64],
    h: &[f64],
    dual: &[f64],
    intercept: bool,
) -> (Parts, Option<Intercepts>) {
    let (n, m) = (atoms.n, atoms.of.len());
    let total: f64 = h.iter().sum();
    let intercept = intercept && total > 0.0;
    let roots: Vec<f64> = h.iter().map(|h| h.sqrt()).collect();
    let mut centred = vec![0.0; n * m];
    let mut correlations = DVector::zeros(m);
    let mut crossed = DMatrix::zeros(1, m);
    for (at, centred) in centred.chunks_exact_mut(n).enumerate() {
        let column = atoms.column(at);
        let sum = if intercept { dot(column, h) } else { 0.0 };
        let mean = if intercept { sum / total } else { 0.0 };
        centred.iter_mut().zip(column).for_each(|(out, x)| *out = x - mean);
        (correlations[at], crossed[at]) = (dot(centred, dual), sum);
    }
    let reductions = loss.reductions(fitted, &centred, &vec![0; m]);
    for column in centred.chunks_exact_mut(n) {
        column.iter_mut().zip(&roots).for_each(|(value, root)| *value *= root);
    }
    let sum: f64 = dual.iter().sum();
    let term = |(theta, h): (&f64, &f64)| if *h > 0.0 { theta * theta / h } else { 0.0 };
    let mut decrement: f64 = dual.iter().zip(h).map(term).sum();
    let factor = DMatrix::from_element(1, 1, total).cholesky().filter(|_| intercept);
    if factor.is_some() {
        decrement -= sum * sum / total;
    }
    let mut matrix = DMatrix::from_vec(m, m, gram(&centred, n));
    if !reductions.is_empty() {
        matrix -= DMatrix::from_vec(m, m, gram(&reductions, reductions.len() / m));
        (0..m).for_each(|j| matrix[(j, j)] = matrix[(j, j)].max(0.0));
        decrement *= REDUCED;
    }
    let intercepts = factor.map(|factor| Intercepts { factor, sums: DVector::from_element(1, sum), crossed });
    (Parts { gram: matrix, correlations, decrement }, intercepts)
}

fn outputs(
    atoms: &Atoms<'_>,
    loss: &dyn Loss,
    fitted: &[f64],
    h: &[f64],
    dual: &[f64],
    intercept: bool,
    control: &Control<'_>,
) -> Result<(Parts, Option<Intercepts>), Error> {
    let (n, c, m) = (atoms.n, atoms.c, atoms.of.len());
    let block = |k: usize, l: usize| &h[n * (k + c * l)..n * (k + c * l + 1)];
    let members: Vec<Vec<usize>> =
        (0..c).map(|k| (0..m).filter(|&at| atoms.of[at].1 == k).collect()).collect();
    let plain: Vec<Vec<f64>> = members
        .iter()
        .map(|members| members.iter().flat_map(|&at| atoms.column(at)).copied().collect())
        .collect();
    let mut gram = DMatrix::zeros(m, m);
    let (mut weighted, mut products) = (Vec::new(), Vec::new());
    for l in 0..c {
        go_on(control)?;
        for k in (0..=l).filter(|&k| k == l || block(k, l).iter().any(|h| *h != 0.0)) {
            weighted.clear();
            for column in plain[l].chunks_exact(n) {
                weighted.extend(column.iter().zip(block(k, l)).map(|(x, h)| x * h));
            }
            products.clear();
            products.resize(members[k].len() * members[l].len(), 0.0);
            dot_products(&plain[k], &weighted, n, &mut products);
            for (&right, products) in members[l].iter().zip(products.chunks_exact(members[k].len().max(1))) {
                for (&left, value) in members[k].iter().zip(products) {
                    gram[(left, right)] = *value;
                    gram[(right, left)] = *value;
                }
            }
        }
    }
    let mut correlations = DVector::from_vec(atoms.correlations(dual));
    let mut decrement = 0.0;
    for i in 0..n {
        go_on(control)?;
        decrement += sample_decrement(h, dual, i, n, c);
    }
    let of: Vec<usize> = atoms.of.iter().map(|(_, k)| *k).collect();
    let all: Vec<f64> = (0..m).flat_map(|at| atoms.column(at)).copied().collect();
    let reductions = loss.reductions(fitted, &all, &of);
    if !reductions.is_empty() {
        gram -= DMatrix::from_vec(m, m, fewest_linalg::gram(&reductions, reductions.len() / m));
        (0..m).for_each(|j| gram[(j, j)] = gram[(j, j)].max(0.0));
        decrement *= REDUCED;
    }
    let mut intercepts = None;
    if intercept {
        let mut free = DMatrix::from_fn(c, c, |k, l| block(k, l).iter().sum::<f64>());
        // A shift of all outputs may change nothing.
        let ridge = 1e-13 * free.trace();
        (0..c).for_each(|k| free[(k, k)] += ridge);
        let mut crossed = DMatrix::zeros(c, m);
        for (at, mut crossed) in crossed.column_iter_mut().enumerate() {
            go_on(control)?;
            let (column, output) = (atoms.column(at), atoms.of[at].1);
            crossed.iter_mut().enumerate().for_each(|(k, value)| *value = dot(block(k, output), column));
        }
        let sums = DVector::from_fn(c, |k, _| dual[k * n..(k + 1) * n].iter().sum::<f64>());
        if let Some(factor) = free.cholesky() {
            let solved = factor.solve(&crossed);
            gram -= crossed.transpose() * &solved;
            correlations -= solved.transpose() * &sums;
            decrement -= sums.dot(&factor.solve(&sums));
            intercepts = Some(Intercepts { factor, sums, crossed });
            for j in 0..m {
                for i in 0..j {
                    gram[(i, j)] = gram[(j, i)];
                }
                gram[(j, j)] = gram[(j, j)].max(0.0);
            }
        }
    }
    Ok((Parts { gram, correlations, decrement }, intercepts))
}

/// `θᵢᵀ Hᵢ⁻¹ θᵢ`.
fn sample_decrement(h: &[f64], dual: &[f64], i: usize, n: usize, c: usize) -> f64 {
    let theta = DVector::from_fn(c, |k, _| dual[i + k * n]);
    if theta.amax() == 0.0 {
        return 0.0;
    }
    let mut matrix = DMatrix::from_fn(c, c, |k, l| h[i + n * (k + c * l)]);
    let ridge = 1e-12 * matrix.trace();
    (0..c).for_each(|k| matrix[(k, k)] += ridge);
    matrix.cholesky().map_or(0.0, |factor| theta.dot(&factor.solve(&theta)))
}
