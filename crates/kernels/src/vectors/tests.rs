use super::*;

const KERNELS: [VectorKernel; 3] = [
    VectorKernel::Linear,
    VectorKernel::Gaussian { gamma: 0.07 },
    VectorKernel::Polynomial { gamma: 0.3, offset: 1.0, degree: 3 },
];

fn samples(n: usize, d: usize) -> Vec<f64> {
    (0..n * d).map(|k| 2.0 * ((k * k) as f64 * 0.37).sin() + (k % d) as f64 * 0.1).collect()
}

fn exact(kernel: VectorKernel, a: &[f64], b: &[f64]) -> f64 {
    let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let distance: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    match kernel {
        VectorKernel::Linear => product,
        VectorKernel::Gaussian { gamma } => (-gamma * distance).exp(),
        VectorKernel::Polynomial { gamma, offset, degree } => (gamma * product + offset).powi(degree as i32),
    }
}

fn matrix(rows: &VectorRows) -> Vec<f64> {
    let n = rows.n_samples();
    let mut values = vec![0.0; n * n];
    for (i, row) in values.chunks_exact_mut(n).enumerate() {
        rows.row(i, row);
    }
    values
}

#[test]
fn rows_are_those_of_the_formula_and_symmetric_bit_for_bit() {
    for (n, d) in [(1, 1), (3, 2), (16, 5), (33, 7), (50, 40)] {
        let samples = samples(n, d);
        let point = |i: usize| &samples[i * d..(i + 1) * d];
        for kernel in KERNELS {
            let rows = VectorRows::new(&samples, n, kernel).unwrap();
            let values = matrix(&rows);
            let size = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            for i in 0..n {
                assert_eq!(rows.diagonal(i), values[i * n + i]);
                for j in 0..n {
                    assert_eq!(values[i * n + j], values[j * n + i]);
                    let expected = exact(kernel, point(i), point(j));
                    assert!((values[i * n + j] - expected).abs() <= 2e-14 * size, "{kernel:?} {n} {d}");
                }
                let mut at = vec![0.0; n];
                rows.row_at(point(i), &mut at).unwrap();
                assert_eq!(at, values[i * n..(i + 1) * n]);
            }
            // Whatever rows come together, and whether there is one left over.
            for indices in [vec![], vec![0], (0..n).rev().collect(), (0..n).chain([n / 2]).collect()] {
                let mut together = vec![0.0; indices.len() * n];
                rows.rows(&indices, &mut together);
                for (&i, row) in indices.iter().zip(together.chunks_exact(n)) {
                    assert_eq!(row, &values[i * n..(i + 1) * n]);
                }
            }
        }
    }
}

#[test]
fn an_offset_costs_no_digits_and_equal_samples_are_at_no_distance() {
    let (n, d) = (20, 3);
    let plain = samples(n, d);
    // Powers of two as offset: the shifted values are exact to 2⁻²⁰ relative of the offset's rounding.
    let rounded: Vec<f64> = plain.iter().map(|value| (value * 1e6).round() / 1_048_576.0).collect();
    let shifted: Vec<f64> = rounded.iter().map(|value| value + 1_048_576.0).collect();
    let gaussian = VectorKernel::Gaussian { gamma: 0.5 };
    let (a, b) = (VectorRows::new(&rounded, n, gaussian), VectorRows::new(&shifted, n, gaussian));
    for (a, b) in matrix(&a.unwrap()).iter().zip(&matrix(&b.unwrap())) {
        assert!((a - b).abs() < 1e-8);
    }
    let mut twice = plain.clone();
    twice.extend_from_slice(&plain);
    let rows = VectorRows::new(&twice, 2 * n, VectorKernel::Gaussian { gamma: 1e12 }).unwrap();
    let mut row = vec![0.0; 2 * n];
    for i in 0..n {
        rows.row(i, &mut row);
        assert_eq!((row[i], row[i + n]), (1.0, 1.0));
    }
}

#[test]
fn faults_are_named() {
    let gaussian = VectorKernel::Gaussian { gamma: 1.0 };
    let name = |error: Result<VectorRows, Error>| match error {
        Err(Error::InvalidParameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(name(VectorRows::new(&[1.0], 1, VectorKernel::Gaussian { gamma })), "gamma");
    }
    let polynomial = |offset, degree| VectorKernel::Polynomial { gamma: 1.0, offset, degree };
    assert_eq!(name(VectorRows::new(&[1.0], 1, polynomial(-1.0, 2))), "offset");
    assert_eq!(name(VectorRows::new(&[1.0], 1, polynomial(0.0, 0))), "degree");
    assert!(matches!(VectorRows::new(&[], 0, gaussian), Err(Error::TooFew { what: "samples", .. })));
    assert!(matches!(VectorRows::new(&[], 3, gaussian), Err(Error::TooFew { what: "features", .. })));
    assert!(matches!(VectorRows::new(&[1.0; 5], 2, gaussian), Err(Error::ShapeMismatch { .. })));
    let nan = VectorRows::new(&[1.0, 2.0, 3.0, f64::NAN], 2, gaussian);
    assert!(matches!(nan, Err(Error::NonFinite { row: 1, column: 1, .. })));
    for huge in [1e300, f64::MAX] {
        let rows = VectorRows::new(&[huge, -huge], 2, gaussian);
        assert!(matches!(rows, Err(Error::Numerical { .. })), "{huge}");
    }
    let rows = VectorRows::new(&[1.0, 2.0], 2, gaussian).unwrap();
    assert!(rows.row_at(&[1.0, 2.0], &mut [0.0; 2]).is_err());
    assert!(rows.row_at(&[1.0], &mut [0.0; 3]).is_err());
}
