//! Cases of methods to which features or samples arrive, which are compared with all that they tell on the
//! way.

use fewest::columns::standardise;
use fewest::core::method::Regularization;
use fewest::core::{
    Budget, Context, Dataset, DenseColumns, FeatureBatches, FeatureStream, Selection, StreamSelector,
};
use fewest::streams::{
    AlphaInvesting, FastOsfs, Fsds, Grafting, IndependenceTest, InvestingTest, Ofs, Osfs, OuterAnalysis,
    Verdict,
};
use fewest_testkit::golden::{self, Case, CaseComparison, Observed};
use serde_json::Value;

use crate::Result;

/// Their names in the corpus.
pub(super) const METHODS: [&str; 6] = ["alpha_investing", "grafting", "osfs", "fast_osfs", "ofs", "fsds"];

pub(super) fn compare(case: &Case, data: &Dataset) -> Result<Vec<(String, CaseComparison)>> {
    let (alpha, most) = (number(case, "alpha"), number(case, "max_conditioning"));
    let observed = match case.method.as_str() {
        "alpha_investing" => {
            let test = match word(case, "test")? {
                "t" => InvestingTest::T,
                "lr" => InvestingTest::Lr,
                "ll" => InvestingTest::Ll,
                other => return Err(format!("no test `{other}`").into()),
            };
            let (wealth, reward) = (number(case, "w0")?, number(case, "alpha_delta")?);
            let mut stream = AlphaInvesting { wealth, reward, test }.stream()?;
            let scores = values(&mut stream, data, |stream| stream.last())?;
            let ranking = answer(&stream)?.order;
            Observed { scores, ranking, objective: Some(stream.wealth()), gap: None }
        }
        "grafting" => {
            let options = Grafting { regularization: Regularization::Value(alpha?), tolerance: 1e-13 };
            let mut stream = options.stream()?;
            values(&mut stream, data, |stream| stream.last())?;
            Observed::from(&answer(&stream)?)
        }
        "osfs" | "fast_osfs" => {
            let (test, alpha, max_conditioning) = (independence(case)?, alpha?, most? as usize);
            let mut stream = if case.method == "osfs" {
                Osfs { test, alpha, max_conditioning }.stream()?
            } else {
                let outer_analysis = if word(case, "outer_analysis")? == "each" {
                    OuterAnalysis::Each
                } else {
                    OuterAnalysis::End
                };
                FastOsfs { test, alpha, max_conditioning, outer_analysis }.stream()?
            };
            let scores = values(&mut stream, data, |stream| stream.last())?;
            // The corpus has the order of arrival.
            let mut ranking = answer(&stream)?.order;
            ranking.sort_unstable();
            Observed { scores, ranking, objective: None, gap: None }
        }
        "ofs" => of_samples(case, &standardised(data)?)?,
        _ => sketch(case, &standardised(data)?)?,
    };
    Ok(vec![(String::new(), golden::compare(case, &observed))])
}

/// Rows `a t mod n` in each pass.
fn of_samples(case: &Case, data: &Dataset) -> Result<Observed> {
    let options = Ofs {
        kept: Some(number(case, "B")? as usize),
        step: number(case, "eta")?,
        lambda: number(case, "lambda")?,
        margin: number(case, "margin")?,
        ..Ofs::default()
    };
    let step = word(case, "row_order")?.split(' ').find_map(|word| word.parse::<usize>().ok());
    let step = step.ok_or("a row order without a step")?;
    let mut stream = options.stream(0)?;
    let rows: Vec<usize> = (0..data.n_samples()).map(|t| step * t % data.n_samples()).collect();
    for _ in 0..number(case, "passes")? as usize {
        stream.update(&data.subset(&rows)?, &Context::default())?;
    }
    let objective = Some(stream.n_updates() as f64);
    Ok(Observed { objective, ..Observed::from(&answer(&stream)?) })
}

/// The objective is the spectral norm of what the sketch lacks.
fn sketch(case: &Case, data: &Dataset) -> Result<Observed> {
    let options = Fsds {
        sketch_rows: number(case, "sketch_rows")? as usize,
        components: number(case, "k")? as usize,
        ridge: number(case, "alpha")?,
        block_rows: number(case, "block_rows")? as usize,
    };
    let mut stream = options.stream()?;
    stream.update(data, &Context::default())?;
    let (rows, d) = (stream.sketch()?, data.n_features());
    let mut columns = vec![0.0; data.n_samples() * d];
    for (j, column) in columns.chunks_exact_mut(data.n_samples()).enumerate() {
        data.x().copy_column(j, column)?;
    }
    let mut lacking = fewest::linalg::gram(&columns, data.n_samples());
    for row in rows {
        for (a, left) in row.iter().zip(lacking.chunks_exact_mut(d)) {
            left.iter_mut().zip(&row).for_each(|(left, b)| *left -= a * b);
        }
    }
    // The norm of a symmetric matrix is the limit of ‖A^m‖^(1/m), m = 2, 4, 8, …
    let (mut log, mut share) = (0.0, 1.0);
    for _ in 0..50 {
        let size = fewest::linalg::dot(&lacking, &lacking).sqrt();
        log += share * size.ln();
        lacking.iter_mut().for_each(|value| *value /= size);
        lacking = fewest::linalg::gram(&lacking, d);
        share *= 0.5;
    }
    Ok(Observed { objective: Some(log.exp()), ..Observed::from(&stream.scores()?) })
}

/// What was compared with the threshold on each arrival.
fn values<S: StreamSelector>(
    stream: &mut S,
    data: &Dataset,
    last: impl Fn(&S) -> Option<&Verdict>,
) -> Result<Vec<f64>> {
    let mut features = FeatureBatches::new(data, (0..data.n_features()).map(|j| vec![j]).collect());
    let mut values = Vec::new();
    while let Some(feature) = features.next_group()? {
        stream.update(&feature, &Context::default())?;
        values.push(last(stream).ok_or("no verdict")?.value);
    }
    Ok(values)
}

fn answer(stream: &dyn StreamSelector) -> Result<Selection> {
    Ok(stream.selection(Budget::Auto)?)
}

fn independence(case: &Case) -> Result<IndependenceTest> {
    Ok(match word(case, "test")? {
        "g2" => {
            IndependenceTest::G2 { discretisation: Default::default(), bins: number(case, "bins")? as usize }
        }
        _ => IndependenceTest::FisherZ,
    })
}

/// The features, each of mean 0 and standard deviation 1; constants are 0.
fn standardised(data: &Dataset) -> Result<Dataset> {
    let mut columns = Vec::new();
    for j in 0..data.n_features() {
        let mut column = vec![0.0; data.n_samples()];
        data.x().copy_column(j, &mut column)?;
        if !standardise(&mut column) {
            column.fill(0.0);
        }
        columns.push(column);
    }
    Ok(Dataset::new(DenseColumns::from_columns(&columns)?, data.target().clone())?)
}

fn number(case: &Case, name: &str) -> Result<f64> {
    let value = case.params.get(name).and_then(Value::as_f64);
    value.ok_or_else(|| format!("{} has no number `{name}`", case.name).into())
}

fn word<'a>(case: &'a Case, name: &str) -> Result<&'a str> {
    let value = case.params.get(name).and_then(Value::as_str);
    value.ok_or_else(|| format!("{} has no word `{name}`", case.name).into())
}
