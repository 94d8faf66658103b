//! Losses with free columns minimised out: derivatives by differences, the minimum and the gap by their
//! definitions.

use fewest_core::derive_seed;
use fewest_solver::Error;
use fewest_solver::loss::{
    Cox, Huber, Logistic, Loss, Multinomial, Poisson, Profiled, Samples, Separable, Squared, SquaredHinge,
    Ties,
};

type Tested = Result<(), Error>;

const N: usize = 24;

fn noise(n: usize, seed: u64) -> Vec<f64> {
    (0..n as u64).map(|i| 2.0 * (derive_seed(seed, i) as f64 / u64::MAX as f64) - 1.0).collect()
}

/// Two columns, of which none separates anything.
fn free() -> Vec<f64> {
    [noise(N, 90), noise(N, 91)].concat()
}

type Losses = Vec<(&'static str, Box<dyn Loss>, bool)>;

/// Every loss, with whether a constant is minimised out, too.
fn losses() -> Result<Losses, Error> {
    let samples = || {
        let weights: Vec<f64> = (0..N).map(|i| [1.0, 2.0, 0.5, 0.0][i % 4]).collect();
        Samples::weighted(&weights)
    };
    let signs: Vec<f64> = noise(N, 1).iter().map(|value| value.signum()).collect();
    let counts: Vec<f64> = noise(N, 2).iter().map(|value| (4.0 * value.abs()).floor()).collect();
    let times: Vec<f64> = noise(N, 3).iter().map(|value| (6.0 * value).ceil()).collect();
    let events: Vec<bool> = (0..N).map(|i| i % 5 != 1).collect();
    let with_offsets = || samples()?.with_offsets(noise(N, 4));
    Ok(vec![
        ("squared", Box::new(Separable::new(Squared, noise(N, 5), samples()?)?), false),
        ("two outputs", Box::new(Separable::new(Squared, noise(2 * N, 5), samples()?)?), true),
        ("logistic", Box::new(Separable::new(Logistic, signs.clone(), with_offsets()?)?), true),
        ("no constant", Box::new(Separable::new(Logistic, signs.clone(), samples()?)?), false),
        ("squared hinge", Box::new(Separable::new(SquaredHinge, signs, samples()?)?), true),
        ("huber", Box::new(Separable::new(Huber::new(0.7)?, noise(N, 6), samples()?)?), true),
        ("poisson", Box::new(Separable::new(Poisson, counts, with_offsets()?)?), true),
        (
            "multinomial",
            Box::new(Multinomial::new((0..N).map(|i| (7 * i + i / 5) % 3).collect(), 3, samples()?)?),
            true,
        ),
        ("breslow", Box::new(Cox::new(&times, &events, Ties::Breslow, with_offsets()?)?), false),
        ("efron", Box::new(Cox::new(&times, &events, Ties::Efron, samples()?)?), false),
    ])
}

fn dual(loss: &dyn Loss, fitted: &[f64]) -> Vec<f64> {
    let mut dual = vec![f64::NAN; fitted.len()];
    loss.dual_point(fitted, &mut dual);
    dual
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `DᵀHD`, with the reductions taken off.
fn curvature_along(loss: &dyn Loss, fitted: &[f64], change: &[f64]) -> f64 {
    let c = loss.n_outputs();
    let mut h = vec![f64::NAN; N * c * c];
    loss.curvature(fitted, &mut h);
    let outputs: Vec<usize> = (0..c).collect();
    let reductions = loss.reductions(fitted, change, &outputs);
    let n_rows = reductions.len() / c;
    let row = |at: usize| reductions.iter().skip(at).step_by(n_rows.max(1)).sum::<f64>();
    let mut sum = -(0..n_rows).map(|at| row(at) * row(at)).sum::<f64>();
    for i in 0..N {
        for k in 0..c {
            for l in 0..c {
                sum += change[i + k * N] * h[i + N * (k + c * l)] * change[i + l * N];
            }
        }
    }
    sum
}

#[test]
fn derivatives_are_those_of_the_value() -> Tested {
    for (name, inner, intercept) in losses()? {
        let loss = Profiled::new(&*inner, free(), intercept)?;
        let m = N * loss.n_outputs();
        for (size, seed) in [(0.3, 11), (1.5, 12)] {
            let fitted: Vec<f64> = noise(m, seed).iter().map(|z| size * z).collect();
            let change = noise(m, seed + 7);
            let at = |t: f64| -> Vec<f64> { fitted.iter().zip(&change).map(|(z, d)| z + t * d).collect() };
            let slope = |point: &[f64]| -dot(&dual(&loss, point), &change);
            let step = 1e-5;
            let difference = (loss.value(&at(step)) - loss.value(&at(-step))) / (2.0 * step);
            assert!((difference - slope(&fitted)).abs() < 1e-8, "{name}: {difference}");
            let second = (slope(&at(step)) - slope(&at(-step))) / (2.0 * step);
            let given = curvature_along(&loss, &fitted, &change);
            // Where a Hessian vanishes, the curvature of a loss is a little more.
            let extra = if name == "huber" { 0.3 } else { 4e-3 };
            assert!(given >= second - 1e-6, "{name}: {given} {second}");
            assert!(given <= second + extra * dot(&change, &change), "{name}: {given} {second}");
        }
    }
    Ok(())
}

/// The value is that of the loss at the whole fitted values, no other coefficients of the free columns have a
/// smaller one, and what the columns could still explain of the dual point is rounding.
#[test]
fn the_value_is_a_minimum_over_free_coefficients() -> Tested {
    for (name, inner, intercept) in losses()? {
        let loss = Profiled::new(&*inner, free(), intercept)?;
        let c = loss.n_outputs();
        let mut columns = free();
        columns.resize(if intercept { 3 * N } else { 2 * N }, 1.0);
        let m = columns.len() / N;
        for seed in 40..44 {
            let fitted: Vec<f64> = noise(N * c, seed).iter().map(|z| 3.0 * z).collect();
            let at = |v: &[f64]| -> Vec<f64> {
                let z = |at: usize| -> f64 {
                    let (i, k) = (at % N, at / N);
                    fitted[at] + (0..m).map(|j| v[j + k * m] * columns[i + j * N]).sum::<f64>()
                };
                (0..N * c).map(z).collect()
            };
            let v = loss.coefficients(&fitted);
            let (whole, value) = (loss.whole(&fitted), loss.value(&fitted));
            assert!(whole.iter().zip(at(&v)).all(|(a, b)| (a - b).abs() < 1e-12), "{name}");
            assert_eq!(value, inner.value(&whole), "{name}");
            for (size, other) in [(1e-4, 50), (1e-2, 51), (1.0, 52), (10.0, 53)] {
                let moved: Vec<f64> = v.iter().zip(noise(m * c, other)).map(|(v, d)| v + size * d).collect();
                assert!(inner.value(&at(&moved)) >= value - 1e-15, "{name} {size}");
            }
            let theta = dual(&loss, &fitted);
            for output in theta.chunks_exact(N) {
                for column in columns.chunks_exact(N) {
                    assert!(dot(output, column).abs() < 1e-13, "{name}: {}", dot(output, column));
                }
            }
            // What was asked for before changes nothing.
            loss.value(&vec![0.5; N * c]);
            assert_eq!(v, loss.coefficients(&fitted), "{name}");
        }
    }
    Ok(())
}

/// `ℓ̃(Z') ≥ −ℓ̃*(−tΘ) − t⟨Θ, Z'⟩ = ℓ̃(Z) − gap − t⟨Θ, Z' − Z⟩`, with equality at `Z` for `t = 1`.
#[test]
fn gaps_bound_every_other_value() -> Tested {
    for (name, inner, intercept) in losses()? {
        let loss = Profiled::new(&*inner, free(), intercept)?;
        let m = N * loss.n_outputs();
        for seed in 20..24 {
            let fitted = noise(m, seed);
            let theta = dual(&loss, &fitted);
            assert!((0.0..=1e-15).contains(&loss.loss_gap(&fitted, &theta, 1.0)), "{name}");
            for scale in [0.0, 0.3, 0.9, 1.0] {
                let gap = loss.loss_gap(&fitted, &theta, scale);
                assert!(gap >= 0.0 && gap.is_finite(), "{name}: {gap}");
                for other in 30..50 {
                    let size = f64::from(other - 29);
                    let point: Vec<f64> = noise(m, other as u64).iter().map(|z| size * z).collect();
                    let along = dot(&theta, &point) - dot(&theta, &fitted);
                    let (value, bound) = (loss.value(&point), loss.value(&fitted) - gap - scale * along);
                    assert!(value >= bound - 1e-12 * value.abs().max(1.0), "{name} {scale}: {value} {bound}");
                }
            }
        }
    }
    Ok(())
}

/// A column that separates the classes has no best coefficient, nor has one of the only samples without a
/// count.
#[test]
fn columns_without_a_best_coefficient_are_refused() -> Tested {
    let group: Vec<f64> = (0..N).map(|i| f64::from(u8::from(i < 6))).collect();
    let refused = |loss: &dyn Loss| {
        let found = Profiled::new(loss, group.clone(), true).err();
        let told = found.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(matches!(found, Some(Error::Numerical { .. })) && told.contains("covariate"), "{found:?}");
    };
    let signs: Vec<f64> = (0..N).map(|i| if i < 6 || i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    refused(&Separable::new(Logistic, signs, Samples::mean(N))?);
    let counts = (0..N).map(|i| if i < 6 { 0.0 } else { (i % 3) as f64 }).collect();
    refused(&Separable::new(Poisson, counts, Samples::mean(N))?);
    let squared = Separable::new(Squared, noise(N, 1), Samples::mean(N))?;
    let found = Profiled::new(&squared, vec![0.0; N + 1], false).err();
    assert!(matches!(found, Some(Error::ShapeMismatch { .. })), "{found:?}");
    Ok(())
}
