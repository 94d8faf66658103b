//! Tables 4 to 7: regression by a linear machine on the selected features.

use std::collections::BTreeMap;
use std::fmt::Write;

use fewest::core::{Context, Dataset, Error, Selector, Target};
use fewest::data::synthetic;
use fewest::eval::{HoldOut, Learner, MeanSquaredError, QSquared, Splitter};

use super::ranged::{RangedLasso, RangedRegression, RangedWeights};
use super::{FOLDER, REFERENCE};
use crate::Result;
use crate::output::mean_and_error;
use crate::reproduce::comparison::{Comparison, LEGEND, Line, Printed};
use crate::reproduce::experiments::{Protocol, Row, Setting};
use crate::reproduce::given::Batches;
use crate::reproduce::machines::{RawRegression, deviation};
use crate::reproduce::tuned::{Shared, Tuned, cross_validated};

/// The paper's methods in the order of its tables, with their ids here.
const METHODS: [(&str, &str); 4] =
    [("NMMKLR", "nmmklr"), ("Stepwise", "stepwise"), ("SVR-LW", "svr-lw"), ("LASSO-LW", "lasso-lw")];

/// Runs of the paper.
const PAPER_RUNS: f64 = 20.0;

/// The numbers of a table for a number of features: mean squared error and Q², each by method.
type Numbers = (usize, [(f64, f64); 4], [(f64, f64); 4]);

/// How features are scaled, by the training samples.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Scaling {
    /// To mean 0 and standard deviation 1.
    Standard,
    /// To [−1, 1].
    Range,
}

/// A table and how its machines are tuned.
pub(super) struct Table {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    pub dataset: &'static str,
    scaling: Scaling,
    costs: &'static [f64],
    epsilons: &'static [f64],
    printed: [Numbers; 2],
}

pub(super) static WEIGHTED_SUM: Table = Table {
    name: "table-5",
    title: "Tables 4 and 5: a weighted sum",
    about: "Section 5.1. The problem is Eq. (22), `fewest_data::synthetic::weighted_sum`: features 1 to 5 \
            matter, feature 6 is feature 1 plus 1, feature 7 is the product of 2 and 3. Each run draws 200 \
            samples, half of them to train.",
    dataset: "weighted sum",
    scaling: Scaling::Standard,
    costs: &[1.0, 10.0, 100.0, 1000.0],
    epsilons: &[0.01, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0],
    printed: [
        (
            5,
            [(1.1599, 0.6977), (1.2156, 0.6893), (1.2128, 0.7421), (1.2156, 0.6893)],
            [(0.0339, 0.0186), (0.0356, 0.0183), (0.0353, 0.0198), (0.0356, 0.0183)],
        ),
        (
            6,
            [(1.1600, 0.6977), (1.2352, 0.6787), (1.2127, 0.7422), (1.2553, 0.6716)],
            [(0.0339, 0.0186), (0.0362, 0.0180), (0.0353, 0.0198), (0.0368, 0.0178)],
        ),
    ],
};

static HOUSING: Table = Table {
    name: "table-6",
    title: "Table 6: Boston housing",
    about: "Section 5.2.1. Each run draws half of the samples to train.",
    dataset: "Boston housing",
    scaling: Scaling::Range,
    costs: &[1.0, 10.0, 100.0, 1000.0],
    epsilons: &[
        0.01, 0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0, 8.5, 9.0,
        9.5, 10.0,
    ],
    printed: [
        (
            5,
            [(25.65, 2.36), (26.24, 2.41), (26.95, 3.12), (26.25, 2.57)],
            [(0.3208, 0.0329), (0.3281, 0.0326), (0.3365, 0.0368), (0.3283, 0.0345)],
        ),
        (
            6,
            [(25.07, 2.50), (25.39, 2.69), (26.75, 2.94), (25.83, 2.41)],
            [(0.3131, 0.0290), (0.3174, 0.0344), (0.3342, 0.0360), (0.3232, 0.0344)],
        ),
    ],
};

static FOREST_FIRES: Table = Table {
    name: "table-7",
    title: "Table 7: forest fires",
    about: "Section 5.2.2. The target is ln(1 + area). Each run draws half of the samples to train.",
    dataset: "forest fires",
    scaling: Scaling::Range,
    costs: &[1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0],
    epsilons: &[0.1, 0.5, 1.0, 1.5, 2.0],
    printed: [
        (
            1,
            [(1.9662, 0.1412), (2.0046, 0.1476), (1.9805, 0.1450), (1.9802, 0.1416)],
            [(1.0077, 0.0056), (1.0276, 0.0295), (1.0149, 0.0081), (1.0147, 0.0320)],
        ),
        (
            3,
            [(1.9663, 0.1412), (2.0046, 0.1476), (1.9792, 0.1458), (1.9754, 0.1655)],
            [(1.0077, 0.0057), (1.0276, 0.0295), (1.0142, 0.0086), (1.0142, 0.0146)],
        ),
    ],
};

/// The runs on the weighted sum, with its samples and how they are divided.
pub(super) fn weighted_sum_runs(protocol: &Protocol) -> Result<(Dataset, Batches, Vec<Row>)> {
    let batches = Batches { train: 100, test: 100 };
    let data = synthetic::weighted_sum(200 * protocol.runs as usize, protocol.seed)?.dataset;
    let rows = WEIGHTED_SUM.run(protocol, &data, &batches)?;
    Ok((data, batches, rows))
}

/// Writes `table-4.md`, `table-5.md` and `table-5.csv`.
pub(super) fn weighted_sum(protocol: &Protocol) -> Result<()> {
    let (.., rows) = weighted_sum_runs(protocol)?;
    WEIGHTED_SUM.write(protocol, &rows)?;
    let text = format!(
        "# NMMKL, Table 4: which features are selected\n\n{REFERENCE}, {} Every run is in \
         [table-5.csv](table-5.csv).\n\n\
         In how many of {} runs (the paper: 20), features in the order of their scores and counted from \
         1:\n\n{}",
        WEIGHTED_SUM.about,
        protocol.runs,
        orders(&rows)
    );
    protocol.documents(FOLDER).page("table-4", text)
}

/// Writes `table-6.md` and `table-6.csv`.
pub(super) fn housing(protocol: &Protocol) -> Result<()> {
    let data = protocol
        .read(HOUSING.dataset, "boston_housing.csv")?
        .ok_or("Table 6 needs the file boston_housing.csv")?;
    HOUSING.write(protocol, &HOUSING.run(protocol, &data, &halves(protocol))?)
}

/// Writes `table-7.md` and `table-7.csv`.
pub(super) fn forest_fires(protocol: &Protocol) -> Result<()> {
    let data = protocol
        .read(FOREST_FIRES.dataset, "forest_fires.csv")?
        .ok_or("Table 7 needs the file forest_fires.csv")?;
    let Target::Real(areas) = data.target() else { return Err("the area is a number".into()) };
    let target = Target::real(areas.output(0).iter().map(|area| area.ln_1p()).collect())?;
    let data = Dataset::shared(data.shared_x(), target)?;
    FOREST_FIRES.write(protocol, &FOREST_FIRES.run(protocol, &data, &halves(protocol))?)
}

fn halves(protocol: &Protocol) -> HoldOut {
    HoldOut { test_fraction: 0.5, repeats: protocol.runs as usize, stratified: false }
}

/// NMMKLR on features scaled as in the paper, with cost and tube in the unit of the target.
const RANGED: &[&str] = &["scaling=range", "standardise_target=false"];

impl Scaling {
    fn words(self) -> &'static str {
        match self {
            Scaling::Standard => "Features are standardised by the training samples.",
            Scaling::Range => {
                "Features are scaled to [−1, 1] by the training samples, as in the paper, for all machines \
                 and for the weights of SVR-LW and LASSO-LW; Stepwise does not depend on their scale."
            }
        }
    }
}

impl Table {
    fn run(&'static self, protocol: &Protocol, data: &Dataset, splitter: &dyn Splitter) -> Result<Vec<Row>> {
        let choose = |data: &Dataset, context: &Context<'_>| self.choose(data, context);
        let shared = Shared::new(&choose);
        let ks: Vec<usize> = self.printed.iter().map(|(k, ..)| *k).collect();
        // What was stored of machines on standardised features is not taken for these.
        let scaled = if self.scaling == Scaling::Range { "-range" } else { "" };
        let name = format!("nmmkl-{}{scaled}", self.name);
        let setting = Setting {
            name: &name,
            learner: &*self.machine(),
            splitter,
            metrics: &[&MeanSquaredError, &QSquared],
            ks: &ks,
            nested: false,
        };
        let mut rows = Vec::new();
        for (method, id) in METHODS {
            let selector: Box<dyn Selector> = match (id, self.scaling) {
                ("svr-lw", Scaling::Range) => Box::new(RangedWeights(&shared)),
                ("lasso-lw", Scaling::Range) => Box::new(RangedLasso),
                _ => {
                    let is_ranged = id == "nmmklr" && self.scaling == Scaling::Range;
                    let fixed = if is_ranged { RANGED } else { &[] };
                    Box::new(Tuned { id, fixed, shared: &shared, own: None, most_candidates: None })
                }
            };
            rows.extend(protocol.run_selector(&setting, self.dataset, data, method, &*selector)?);
        }
        Ok(rows)
    }

    /// The linear machine of all numbers of features.
    pub(super) fn machine(&self) -> Box<dyn Learner> {
        let (costs, epsilons) = (self.costs, self.epsilons);
        match self.scaling {
            Scaling::Standard => Box::new(RawRegression { kappa: None, costs, epsilons }),
            Scaling::Range => Box::new(RangedRegression { costs, epsilons }),
        }
    }

    /// Each cost and each ε, with the mean squared error in every fold.
    fn tried(
        &self,
        data: &Dataset,
        context: &Context<'_>,
    ) -> std::result::Result<Vec<(f64, f64, Vec<f64>)>, Error> {
        if self.scaling == Scaling::Range {
            return RangedRegression { costs: self.costs, epsilons: self.epsilons }.errors(data, context);
        }
        let pairs = self.costs.iter().flat_map(|cost| self.epsilons.iter().map(move |tube| (cost, tube)));
        let errors = |(cost, tube)| {
            let (costs, epsilons) = (std::slice::from_ref(cost), std::slice::from_ref(tube));
            let machine = RawRegression { kappa: None, costs, epsilons };
            Ok((*cost, *tube, cross_validated(&machine, &MeanSquaredError, data, context)?))
        };
        pairs.map(errors).collect()
    }

    /// The smallest cost, with the ε that is best for it, whose machine on all features predicts as well as
    /// the best one but for a standard error; in the unit of the target, or in its standard deviation where
    /// methods standardise it.
    ///
    /// A linear machine on few features predicts nearly as well with any large cost, and which is best is
    /// chance. But the selection depends on it: the larger the cost, the more a feature that fits noise
    /// gains.
    fn choose(&self, data: &Dataset, context: &Context<'_>) -> std::result::Result<Vec<String>, Error> {
        let tried = self.tried(data, context)?;
        let mut tried: Vec<(f64, f64, (f64, f64))> =
            tried.into_iter().map(|(cost, tube, errors)| (cost, tube, mean_and_error(&errors))).collect();
        let least = |tried: &[(f64, f64, (f64, f64))]| {
            tried.iter().copied().min_by(|a, b| a.2.0.total_cmp(&b.2.0)).unwrap_or((1.0, 0.1, (0.0, 0.0)))
        };
        let (.., (mean, error)) = least(&tried);
        tried.retain(|(.., (other, _))| *other <= mean + error);
        let smallest = tried.iter().map(|(cost, ..)| *cost).fold(f64::INFINITY, f64::min);
        tried.retain(|(cost, ..)| *cost == smallest);
        let (cost, epsilon, _) = least(&tried);
        let unit = match data.target() {
            Target::Real(outputs) if self.scaling == Scaling::Standard => deviation(outputs.output(0)),
            _ => 1.0,
        };
        Ok(vec![format!("c={}", cost / unit), format!("epsilon={}", epsilon / unit)])
    }

    fn write(&self, protocol: &Protocol, rows: &[Row]) -> Result<()> {
        let documents = protocol.documents(FOLDER);
        documents.rows(self.name, rows, &["mean_squared_error", "q_squared"])?;
        let mut text = format!(
            "# NMMKL, {}\n\n{REFERENCE}, {} Every run is in [{name}.csv]({name}.csv).\n\nThe cost C from \
             {:?} and the tube ε from {:?}, one pair for all methods, are the smallest C for which a linear \
             support vector regression on all features predicts as well as with the best pair, but for one \
             standard error over 5 folds of the training samples, and the best ε for it (the paper does not \
             say how its methods get theirs). A linear support vector regression predicts from the selected \
             features, its own C and ε those with the least error in 5 folds. {} {LEGEND}",
            self.title,
            self.about,
            self.costs,
            self.epsilons,
            self.scaling.words(),
            name = self.name
        );
        let methods = METHODS.map(|(name, _)| name);
        for (metric, title) in ["Mean squared error", "Q²"].into_iter().enumerate() {
            let line = |(k, errors, ratios): &Numbers| Line {
                title: format!("{k} selected"),
                dataset: self.dataset,
                k: *k,
                printed: if metric == 0 { errors } else { ratios }
                    .iter()
                    .copied()
                    .map(Printed::mean_and_deviation)
                    .collect(),
            };
            let comparison = Comparison {
                methods: &methods,
                metric,
                unit: 1.0,
                digits: 4,
                greater_is_better: false,
                paper_runs: PAPER_RUNS,
            };
            let lines: Vec<Line<'_>> = self.printed.iter().map(line).collect();
            let _ = write!(text, "\n## {title}\n\n{}", comparison.table(rows, &lines)?);
        }
        documents.page(self.name, text)
    }
}

/// How often each order was selected, the most frequent first.
fn orders(rows: &[Row]) -> String {
    let ks: Vec<usize> = WEIGHTED_SUM.printed.iter().map(|(k, ..)| *k).collect();
    let mut text = String::from("| method | selected | features | runs |\n|---|---|---|---|\n");
    for (method, _) in METHODS {
        for &k in &ks {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for row in rows.iter().filter(|row| row.method == method && row.k == k) {
                let order: Vec<String> = row.features.iter().map(|j| (j + 1).to_string()).collect();
                *counts.entry(order.join(", ")).or_default() += 1;
            }
            let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
            counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            for (order, count) in counts {
                let _ = writeln!(text, "| {method} | {k} | {order} | {count} |");
            }
        }
    }
    text
}
