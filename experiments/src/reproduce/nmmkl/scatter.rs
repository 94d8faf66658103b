//! Figure 3: predicted against observed values of the weighted sum.

use std::fmt::Write;

use fewest::core::{Context, Dataset, Target, derive_seed};
use fewest::eval::significance::{paired_differences, paired_t_test};
use fewest::eval::{Learner, Predictions, Splitter};
use rayon::prelude::*;

use super::regression::{WEIGHTED_SUM, weighted_sum_runs};
use super::{FOLDER, REFERENCE};
use crate::Result;
use crate::output::{mean_and_error, median};
use crate::plot::{ScatterPanel, scatter};
use crate::reproduce::experiments::{Protocol, Row};

/// The methods that the paper draws.
const METHODS: [&str; 2] = ["NMMKLR", "Stepwise"];

/// Numbers of features, as in the paper.
const KS: [usize; 2] = [5, 6];

/// Runs whose points are drawn and listed; the paper does not say which it draws.
const DRAWN: usize = 5;

/// What a method predicts in a run.
struct Predicted {
    method: &'static str,
    k: usize,
    run: usize,
    /// Observed and predicted values of the test samples.
    pairs: Vec<(f64, f64)>,
}

/// Writes `figure-3.md`, `figure-3.csv` and `figure-3.svg`.
pub(super) fn figure_3(protocol: &Protocol) -> Result<()> {
    let (data, batches, rows) = weighted_sum_runs(protocol)?;
    let splits = batches.splits(&data, protocol.seed)?;
    let machine = WEIGHTED_SUM.machine();
    let wanted: Vec<&Row> =
        rows.iter().filter(|row| METHODS.contains(&row.method) && KS.contains(&row.k)).collect();
    let predict = |row: &&Row| {
        let split = &splits[row.run];
        let context = Context::seeded(derive_seed(protocol.seed, row.run as u64));
        let (train, test) = (data.subset(&split.train)?, data.subset(&split.test)?);
        let pairs = pairs(&*machine, &train, &test, &row.features, &context)?;
        Ok(Predicted { method: row.method, k: row.k, run: row.run, pairs })
    };
    let predicted: Vec<Predicted> = wanted.par_iter().map(predict).collect::<Result<_>>()?;
    draw(protocol, &predicted)?;
    let points: Vec<Vec<String>> = predicted
        .iter()
        .filter(|predicted| predicted.run < DRAWN)
        .flat_map(|predicted| {
            predicted.pairs.iter().map(|(observed, value)| {
                vec![
                    predicted.method.to_owned(),
                    predicted.k.to_string(),
                    predicted.run.to_string(),
                    format!("{observed:.4}"),
                    format!("{value:.4}"),
                ]
            })
        })
        .collect();
    let documents = protocol.documents(FOLDER);
    documents.csv("figure-3", &["method", "k", "run", "observed", "predicted"], &points)?;
    documents.page("figure-3", page(&predicted)?)
}

/// Observed and predicted values of a machine on `features`.
fn pairs(
    machine: &dyn Learner,
    train: &Dataset,
    test: &Dataset,
    features: &[usize],
    context: &Context<'_>,
) -> Result<Vec<(f64, f64)>> {
    let (train, test) = (train.feature_subset(features)?, test.feature_subset(features)?);
    let model = machine.fit(&train, context)?;
    let (Predictions::Real(values), Target::Real(observed)) = (model.predict(test.x())?, test.target())
    else {
        return Err("the target is a number".into());
    };
    Ok(observed.output(0).iter().copied().zip(values[0].iter().copied()).collect())
}

fn draw(protocol: &Protocol, predicted: &[Predicted]) -> Result<()> {
    let panels: Vec<ScatterPanel> = KS
        .iter()
        .flat_map(|&k| METHODS.map(|method| (k, method)))
        .map(|(k, method)| ScatterPanel {
            title: format!("{method}, {k} selected"),
            x_label: "observed".to_owned(),
            y_label: "predicted".to_owned(),
            points: predicted
                .iter()
                .filter(|one| one.run < DRAWN && one.method == method && one.k == k)
                .flat_map(|one| one.pairs.iter().copied())
                .collect(),
        })
        .collect();
    scatter(&protocol.documents(FOLDER).path("figure-3.svg"), &panels)
}

/// Half the share of the points that the width of a cloud is told by.
const MOST: f64 = 0.9;

/// The size of a run's errors: the median, and that which nine of ten do not exceed.
fn widths(pairs: &[(f64, f64)]) -> (f64, f64) {
    let mut sizes: Vec<f64> = pairs.iter().map(|(observed, value)| (observed - value).abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let at = ((sizes.len() as f64 * MOST).ceil() as usize).clamp(1, sizes.len().max(1)) - 1;
    (median(&sizes), sizes.get(at).copied().unwrap_or(f64::NAN))
}

fn page(predicted: &[Predicted]) -> Result<String> {
    let of = |method: &str, k: usize| -> Vec<(f64, f64)> {
        let mut mine: Vec<&Predicted> =
            predicted.iter().filter(|one| one.method == method && one.k == k).collect();
        mine.sort_by_key(|one| one.run);
        mine.iter().map(|one| widths(&one.pairs)).collect()
    };
    let mut text = format!(
        "# NMMKL, Figure 3: predicted and observed values\n\n{REFERENCE}, Section 5.1: the problem and the \
         runs of [Tables 4 and 5](table-5.md). The paper shows that the clouds of NMMKLR are thinner than \
         those of Stepwise; it prints no numbers. Drawn, and listed in [figure-3.csv](figure-3.csv), are \
         the test samples of the first {DRAWN} runs, the same ones in every panel; the line is where both \
         values are equal. The machine is that of the tables, trained anew on the features selected \
         there.\n\n![Predicted against observed values](figure-3.svg)\n\nHow thick the clouds are, over all \
         runs: mean ± standard deviation of the run's median error in size, and of the error in size that \
         nine of ten samples do not exceed. `p`: a paired t-test of both methods over the runs.\n\n\
         | selected | {} median | {} median | p | {} nine of ten | {} nine of ten | p |\n\
         |---|---|---|---|---|---|---|\n",
        METHODS[0], METHODS[1], METHODS[0], METHODS[1]
    );
    for k in KS {
        let both = METHODS.map(|method| of(method, k));
        let _ = write!(text, "| {k} |");
        for take in [|width: &(f64, f64)| width.0, |width: &(f64, f64)| width.1] {
            let values = both.each_ref().map(|widths| widths.iter().map(take).collect::<Vec<f64>>());
            for values in &values {
                let (mean, error) = mean_and_error(values);
                let _ = write!(text, " {mean:.3} ± {:.3} |", error * (values.len() as f64).sqrt());
            }
            let test = paired_t_test(&paired_differences(&values[0], &values[1])?)?;
            let _ = write!(text, " {:.2} |", test.p_value);
        }
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_of_errors_in_size() {
        let pairs: Vec<(f64, f64)> =
            (1..=10).map(|i| (0.0, f64::from(if i % 2 == 0 { i } else { -i }))).collect();
        assert_eq!(widths(&pairs), (5.5, 9.0));
    }

    #[test]
    fn the_page_has_a_line_for_each_number_of_features() {
        let one = |method, k, run, error: f64| Predicted { method, k, run, pairs: vec![(1.0, 1.0 + error)] };
        let predicted = [
            one("NMMKLR", 5, 0, 0.1),
            one("NMMKLR", 5, 1, 0.2),
            one("Stepwise", 5, 1, 0.4),
            one("Stepwise", 5, 0, 0.4),
            one("NMMKLR", 6, 0, 0.1),
            one("NMMKLR", 6, 1, 0.2),
            one("Stepwise", 6, 0, 0.3),
            one("Stepwise", 6, 1, 0.4),
        ];
        let text = page(&predicted).unwrap();
        assert!(text.contains("| 5 | 0.150 ± 0.071 | 0.400 ± 0.000 | 0.13 | 0.150 ± 0.071 |"), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("| 6 |")).count(), 1);
    }
}
