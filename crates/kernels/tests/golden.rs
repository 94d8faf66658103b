//! HSIC and NOCCO of real data, against values computed independently from the formulas of Yamada et al.
//! (2014) in double precision: standardised features (and regression target), sigma = 1, `1/n_y` for classes.

use fewest_kernels::hsic::{self, HsicScaling};
use fewest_kernels::{
    Factor, Gaussian, Gram, NormalisedDelta, ScalarKernel, centred_packed, nocco, packed_len,
};
use fewest_linalg::dot_products;

struct Case {
    features: Vec<Vec<f64>>,
    target: Vec<f64>,
    output: Box<dyn ScalarKernel>,
    hsic: &'static [f64],
    unit: &'static [f64],
    nocco: &'static [f64],
}

fn columns(text: &str) -> Vec<Vec<f64>> {
    let mut columns = Vec::new();
    for line in text.lines().skip(1) {
        for (j, cell) in line.split(',').enumerate() {
            if columns.len() <= j {
                columns.push(Vec::new());
            }
            columns[j].push(cell.parse().unwrap());
        }
    }
    columns
}

fn standardise(values: &mut [f64]) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    for value in values {
        *value = (*value - mean) / deviation;
    }
}

fn cases() -> Vec<Case> {
    let mut auto_mpg = columns(include_str!("data/auto_mpg.csv"));
    auto_mpg.iter_mut().for_each(|column| standardise(column));
    let mut wdbc = columns(include_str!("data/wdbc_columns.csv"));
    let classes = wdbc.pop().unwrap();
    wdbc.iter_mut().for_each(|column| standardise(column));
    vec![
        Case {
            target: auto_mpg.pop().unwrap(),
            features: auto_mpg,
            output: Box::new(Gaussian::new(1.0).unwrap()),
            hsic: &[
                10192.4965969,
                9616.77400155,
                7037.25230624,
                9287.62988718,
                1657.07311056,
                3545.19482359,
                4297.72933684,
            ],
            unit: &[
                0.644210395816,
                0.671432090114,
                0.591387306047,
                0.672633872476,
                0.140686234843,
                0.247810408601,
                0.291178412678,
            ],
            nocco: &[
                1.06652558368,
                1.31479662264,
                1.44147335402,
                1.46660759293,
                0.493520665138,
                0.490505889189,
                0.399120755883,
            ],
        },
        Case {
            features: wdbc,
            output: Box::new(NormalisedDelta::from_points(&classes)),
            target: classes,
            hsic: &[79.6433326566, 99.6072851711, 0.987865444291],
            unit: &[0.536416224872, 0.648652009211, 0.0072115594201],
            nocco: &[0.390559725403, 0.447843881847, 0.0161521500523],
        },
    ]
}

/// Agreement relative to the largest expected value, as the reference's tolerance is stated.
fn assert_agree(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let largest = expected.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    assert_eq!(found.len(), expected.len());
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= tolerance * largest,
            "{what}, feature {k}: {found} for {expected}"
        );
    }
}

#[test]
fn whole_gram_matrices() {
    let kernel = Gaussian::new(1.0).unwrap();
    for case in cases() {
        let output = Gram::new(&*case.output, &case.target);
        let normalised_output = nocco::normalise(&output.centre(), 1e-3).unwrap();
        let (mut trace, mut unit, mut normalised) = (Vec::new(), Vec::new(), Vec::new());
        for (k, feature) in case.features.iter().enumerate() {
            let gram = Gram::new(&kernel, feature);
            trace.push(hsic::biased(&gram, &output, HsicScaling::Trace).unwrap());
            unit.push(hsic::normalised(&gram, &output).unwrap());
            if k < 2 {
                let gram = nocco::normalise(&gram.centre(), 1e-3).unwrap();
                normalised.push(gram.inner(&normalised_output));
            }
        }
        assert_agree(&trace, case.hsic, 1e-9, "hsic");
        assert_agree(&unit, case.unit, 1e-9, "normalised hsic");
        assert_agree(&normalised, &case.nocco[..2], 1e-8, "nocco");
    }
}

#[test]
fn factors() {
    let kernel = Gaussian::new(1.0).unwrap();
    for case in cases() {
        let factor = |kernel: &dyn ScalarKernel, points: &[f64]| {
            let mut factor = Factor::new(kernel, points, 1e-13, 100).unwrap();
            factor.centre();
            factor
        };
        let output = factor(&*case.output, &case.target);
        let normalised_output = output.nocco(1e-3).unwrap();
        let (mut trace, mut unit, mut normalised) = (Vec::new(), Vec::new(), Vec::new());
        for feature in &case.features {
            let factor = factor(&kernel, feature);
            trace.push(hsic::biased(&factor, &output, HsicScaling::Trace).unwrap());
            unit.push(hsic::normalised(&factor, &output).unwrap());
            normalised.push(factor.nocco(1e-3).unwrap().inner(&normalised_output));
        }
        assert_agree(&trace, case.hsic, 1e-9, "hsic");
        assert_agree(&unit, case.unit, 1e-9, "normalised hsic");
        assert_agree(&normalised, case.nocco, 1e-8, "nocco");
    }
}

#[test]
fn packed_vectors() {
    let kernel = Gaussian::new(1.0).unwrap();
    for case in cases() {
        let m = packed_len(case.target.len());
        let mut scratch = Vec::new();
        let mut output = vec![0.0; m];
        centred_packed(&*case.output, &case.target, &mut scratch, &mut output);
        let mut features = vec![0.0; m * case.features.len()];
        for (packed, feature) in features.chunks_exact_mut(m).zip(&case.features) {
            centred_packed(&kernel, feature, &mut scratch, packed);
        }
        let mut found = vec![0.0; case.features.len()];
        dot_products(&features, &output, m, &mut found);
        assert_agree(&found, case.hsic, 1e-9, "hsic");
    }
}
