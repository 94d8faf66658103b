//! One reference result.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// Methods whose `scores` list the non-zero features (of machines: samples) only: every other score must be
/// zero.
const SPARSE: &[&str] = &[
    "adaptive_lasso",
    "c_svc",
    "dantzig",
    "elastic_net",
    "epsilon_svr",
    "fsnet",
    "fused_lasso",
    "gflasso",
    "gflasso_squared",
    "goscar",
    "grafting",
    "graph_lasso",
    "group_l1_l21",
    "group_lasso",
    "group_lasso_logistic",
    "hsic_lasso",
    "l1_logistic",
    "l1_sqhinge",
    "l21_multinomial",
    "lasso",
    "linkedfs",
    "ls_l21",
    "mcfs",
    "multitask_l21",
    "netfs_w_step",
    "nocco_lasso",
    "ofs",
    "oscar",
    "overlapping_sparse_group_lasso",
    "sparse_group_lasso",
    "tree_group_lasso",
];

/// Parameters that choose the computation and must not change the result, with the values to try.
const CHOICES: &[(&str, &[&str])] =
    &[("form", &["exact", "low-rank"]), ("solver", &["cd", "dal", "lars", "pgd"])];

/// Solvers that cannot solve the quadratic problems of a method, by its corpus name.
const NOT_FOR: &[(&str, &str)] = &[("l1_logistic", "lars"), ("l1_sqhinge", "lars")];

/// Parameters of the accuracy of a result, with values that suffice for every case.
const TIGHTEST: &[(&str, &str)] = &[("factor_tolerance", "1e-13"), ("tolerance", "1e-13")];

/// Corpus names whose method is registered under another id, with the parameters that make the difference.
const VARIANTS: &[(&str, &str, &[&str])] = &[
    ("chi_square", "chi2", &[]),
    ("spec_phi1", "spec", &["criterion=1"]),
    ("spec_phi2", "spec", &["criterion=2"]),
    ("spec_phi3", "spec", &["criterion=3"]),
    ("cmim_capped", "cmim", &["capped=true"]),
    ("l1_logistic", "lasso", &["loss=logistic"]),
    ("l1_sqhinge", "lasso", &["loss=squared-hinge"]),
    ("l21_multinomial", "l21-logistic", &[]),
    ("ls_l21", "l21", &[]),
    ("multitask_l21", "l21", &[]),
    ("group_lasso_logistic", "group-lasso", &["loss=logistic"]),
    ("overlapping_sparse_group_lasso", "overlapping-group-lasso", &["overlap=norm"]),
    ("tree_group_lasso", "tree-lasso", &[]),
    ("gflasso_squared", "gflasso", &["power=2"]),
    ("sd_l", "sd-l", &["standardise_target=false"]),
    ("sd_g", "sd-g", &["standardise_target=false"]),
    ("sd_l_rfe", "sd-l-rfe", &["standardise_target=false"]),
    ("sd_g_rfe", "sd-g-rfe", &["standardise_target=false"]),
];

/// Parameters that describe the formula in words, that follow from others or belong to the data, or that are
/// the number of features to select.
const NOT_PASSED: &[&str] = &[
    "output_kernel",
    "order",
    "rule",
    "n_selected",
    "alpha_max",
    "lambda_max",
    "columns",
    "groups",
    "tree",
    "edges",
    "edge_rule",
    "outputs",
    "signs",
];

/// A case that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file or folder cannot be read.
    #[error("{}: {why}", .file.display())]
    File {
        /// Its path.
        file: PathBuf,
        /// The error.
        why: String,
    },
    /// The file is not a case.
    #[error("{}: `{key}` is not {expected}", .file.display())]
    Entry {
        /// Its path.
        file: PathBuf,
        /// The key at fault.
        key: String,
        /// What it should be.
        expected: &'static str,
    },
}

/// How the ranking is to be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ranking {
    /// Position by position, up to [`Tolerance::ties`].
    Exact,
    /// The first so many positions.
    Prefix(usize),
    /// As a set.
    Set,
    /// By a rule of the method, described in these words.
    Words(String),
}

/// How close a result must come.
#[derive(Debug, Clone, PartialEq)]
pub struct Tolerance {
    /// On each score, relative to the largest absolute score of the case.
    pub scores: Option<f64>,
    /// On each score, absolute.
    pub scores_absolute: Option<f64>,
    /// On the objective, relative.
    pub objective: Option<f64>,
    /// On the ranking.
    pub ranking: Option<Ranking>,
    /// Stretches `(first, last)` of the full ranking, from 0, whose scores tie: compared as sets.
    pub ties: Vec<(usize, usize)>,
    /// Tolerances on further quantities of the method, by name.
    pub others: BTreeMap<String, Value>,
}

/// A reference result.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The file's name without `.json`.
    pub name: String,
    /// The method, as the corpus names it: `hsic_lasso`.
    pub method: String,
    /// The data file's name.
    pub dataset: String,
    /// Every parameter that enters the formula.
    pub params: Map<String, Value>,
    /// The score of each recorded feature. For sparse methods, features that are not listed have score 0.
    pub scores: BTreeMap<usize, f64>,
    /// Features, best first; at most 50.
    pub ranking: Vec<usize>,
    /// The value of the criterion.
    pub objective: Option<f64>,
    /// How close a result must come.
    pub tolerance: Tolerance,
    /// Further quantities, by method.
    pub extra: Map<String, Value>,
}

impl Case {
    /// Reads one case.
    ///
    /// # Errors
    /// [`Error`] naming the file and what is wrong with it.
    pub fn read(file: &Path) -> Result<Self, Error> {
        let unreadable = |why: String| Error::File { file: file.to_owned(), why };
        let text = std::fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
        let value = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        let name = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        Self::parse(name, &value).map_err(|(key, expected)| Error::Entry {
            file: file.to_owned(),
            key,
            expected,
        })
    }

    fn parse(name: &str, value: &Value) -> Result<Self, (String, &'static str)> {
        let text =
            |key: &str| value[key].as_str().map(str::to_owned).ok_or_else(|| (key.to_owned(), "a text"));
        let object = |key: &str| match &value[key] {
            Value::Object(object) => Ok(object.clone()),
            Value::Null => Ok(Map::new()),
            _ => Err((key.to_owned(), "an object")),
        };
        let fault = |key: &'static str, expected: &'static str| move || (key.to_owned(), expected);
        let bad_scores = fault("scores", "a list or an object of numbers");
        let scores = match &value["scores"] {
            Value::Null => BTreeMap::new(),
            Value::Array(list) => list
                .iter()
                .map(number)
                .enumerate()
                .map(|(j, score)| Some((j, score?)))
                .collect::<Option<_>>()
                .ok_or_else(bad_scores)?,
            Value::Object(entries) => entries
                .iter()
                .map(|(j, score)| Some((j.parse().ok()?, number(score)?)))
                .collect::<Option<_>>()
                .ok_or_else(bad_scores)?,
            _ => return Err(bad_scores()),
        };
        let ranking = value["ranking"].as_array().and_then(|list| {
            list.iter().map(|j| j.as_u64().and_then(|j| usize::try_from(j).ok())).collect::<Option<Vec<_>>>()
        });
        let objective = match &value["objective"] {
            Value::Null => None,
            other => Some(number(other).ok_or_else(fault("objective", "a number or null"))?),
        };
        Ok(Self {
            name: name.to_owned(),
            method: text("method")?,
            dataset: text("dataset")?,
            params: object("params")?,
            scores,
            ranking: ranking.ok_or_else(fault("ranking", "a list of feature indices"))?,
            objective,
            tolerance: Tolerance::parse(object("tolerance")?)?,
            extra: object("extra")?,
        })
    }

    /// The id under which the method is registered.
    pub fn method_id(&self) -> String {
        match self.variant() {
            Some((id, _)) => id.to_owned(),
            None => self.method.replace('_', "-"),
        }
    }

    fn variant(&self) -> Option<(&'static str, &'static [&'static str])> {
        VARIANTS.iter().find(|(name, ..)| *name == self.method).map(|&(_, id, assignments)| (id, assignments))
    }

    /// How many features to ask a selector for; `None` to let the method decide.
    pub fn n_selected(&self) -> Option<usize> {
        let name = if self.method == "trace_ratio" { "k" } else { "n_selected" };
        self.params.get(name).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok())
    }

    /// The number of columns that the case is about, the first of the file; `None` for all.
    pub fn n_columns(&self) -> Option<usize> {
        let words = self.params.get("columns")?.as_str()?;
        words.strip_prefix("the first ")?.split(' ').next()?.parse().ok()
    }

    /// The permutation of each feature, if the case has one.
    pub fn permutations(&self) -> Option<Vec<Vec<usize>>> {
        serde_json::from_value(self.extra.get("permutations")?.clone()).ok()
    }

    /// The parameters as `name=value` assignments for the registry, by name. Left out is what describes the
    /// formula in words, and `lambda` or `alpha`, which has fewer digits than `r`, the share of the largest
    /// it was computed from.
    pub fn assignments(&self) -> Vec<String> {
        let skipped = |name: &str| {
            NOT_PASSED.contains(&name)
                || ["lambda", "alpha"].contains(&name) && self.params.contains_key("r")
                || name == "l1_ratio" && self.method == "lasso"
                || name == "mu" && self.params.get("initial").is_some_and(|initial| initial == "ols")
                || name == "k" && self.method == "trace_ratio"
                || name == "weights" && self.params.get(name).is_some_and(Value::is_string)
                || name == "permutation" && self.permutations().is_some()
        };
        let mut assignments: Vec<String> = self
            .params
            .iter()
            .filter(|(name, _)| !skipped(name))
            .map(|(name, value)| {
                let name = match name.as_str() {
                    "r" => "lambda_ratio",
                    "alpha" if self.method == "rfs" => "lambda",
                    "k" => "neighbours",
                    "C" => "c",
                    "kappa" => "sigma",
                    "mix" => "l1_ratio",
                    other => other,
                };
                match value {
                    // exp(−κ ‖x − z‖²) has the width σ with κ = 1/(2σ²).
                    Value::Number(kappa) if name == "sigma" && self.params.contains_key("kappa") => {
                        format!("sigma={}", (0.5 / kappa.as_f64().unwrap_or(f64::NAN)).sqrt())
                    }
                    // The words describe the rule.
                    Value::String(_) if name == "permutation" => "permutation=shift".to_owned(),
                    // What follows in brackets explains the word.
                    Value::String(words) => format!("{name}={}", words.split(" (").next().unwrap_or(words)),
                    number => format!("{name}={number}"),
                }
            })
            .collect();
        assignments
            .extend(self.variant().into_iter().flat_map(|(_, fixed)| fixed.iter().map(|&a| a.to_owned())));
        assignments.sort();
        assignments
    }

    /// The ways to run the case that must all give its answer: [`Case::assignments`] together with each
    /// choice that a method `takes` of how it is computed, and with the tightest tolerances where it has
    /// them.
    ///
    /// `takes(name, value)` says whether the method has the parameter and allows it the value.
    pub fn variants(&self, takes: impl Fn(&str, &str) -> bool) -> Vec<Vec<String>> {
        let mut base = self.assignments();
        base.extend(
            TIGHTEST
                .iter()
                .filter(|(name, value)| takes(name, value))
                .map(|(name, value)| format!("{name}={value}")),
        );
        let mut variants = vec![base];
        for (name, values) in CHOICES {
            let serves = |value: &&str| takes(name, value) && !NOT_FOR.contains(&(&*self.method, *value));
            let values: Vec<&str> = values.iter().copied().filter(serves).collect();
            if values.is_empty() {
                continue;
            }
            variants = variants
                .iter()
                .flat_map(|variant| {
                    values
                        .iter()
                        .map(move |value| [variant.as_slice(), &[format!("{name}={value}")]].concat())
                })
                .collect();
        }
        variants
    }

    /// Whether features without a recorded score have score 0.
    pub(crate) fn is_sparse(&self) -> bool {
        SPARSE.contains(&self.method.as_str())
    }

    /// Whether the optimum may not be unique, so that the objective alone can be compared.
    pub(crate) fn is_degenerate(&self) -> bool {
        let listed =
            self.extra.get("degenerate").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        // With a ridge the optimum is unique however many constraints are active.
        listed && self.params.get("l1_ratio").and_then(Value::as_f64).is_none_or(|ratio| ratio == 1.0)
    }
}

impl Tolerance {
    fn parse(mut entries: Map<String, Value>) -> Result<Self, (String, &'static str)> {
        let mut take = |key: &str| match entries.remove(key) {
            None => Ok(None),
            Some(value) => match value.as_f64() {
                Some(number) => Ok(Some(number)),
                None => Err((format!("tolerance.{key}"), "a number")),
            },
        };
        let (scores, scores_absolute, objective) =
            (take("scores")?, take("scores_absolute")?, take("objective")?);
        let bad_ties = || ("tolerance.ties".to_owned(), "a list of pairs of positions");
        let ties = match entries.remove("ties") {
            None => Vec::new(),
            Some(pairs) => serde_json::from_value(pairs).map_err(|_| bad_ties())?,
        };
        if ties.iter().any(|(first, last)| first > last) {
            return Err(bad_ties());
        }
        let ranking = match entries.remove("ranking") {
            None => None,
            Some(Value::String(words)) => Some(Ranking::parse(&words)),
            Some(_) => return Err(("tolerance.ranking".to_owned(), "a text")),
        };
        Ok(Self { scores, scores_absolute, objective, ranking, ties, others: entries.into_iter().collect() })
    }
}

impl Ranking {
    fn parse(words: &str) -> Self {
        match words {
            "exact" => Self::Exact,
            "set" => Self::Set,
            other => match other.strip_prefix("prefix ").and_then(|length| length.parse().ok()) {
                Some(length) => Self::Prefix(length),
                None => Self::Words(other.to_owned()),
            },
        }
    }
}

/// A number, or an infinity written as text.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) if text == "inf" => Some(f64::INFINITY),
        Value::String(text) if text == "-inf" => Some(f64::NEG_INFINITY),
        other => other.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn case() -> Value {
        json!({
            "method": "hsic_lasso", "dataset": "wdbc.csv",
            "params": {"sigma_x": 1.0, "output_kernel": "delta, 1/n_y", "normalization": "unit", "r": 0.5, "lambda": 0.3},
            "scores": {"3": 0.5, "1": "inf"}, "ranking": [1, 3], "objective": 0.25,
            "tolerance": {"scores": 1e-6, "ranking": "prefix 2", "ties": [[0, 1]], "n_sv": 0},
            "extra": {"degenerate": []}
        })
    }

    #[test]
    fn a_case_is_read() {
        let case = Case::parse("a", &case()).unwrap();
        assert_eq!(case.method_id(), "hsic-lasso");
        assert_eq!(case.assignments(), ["lambda_ratio=0.5", "normalization=unit", "sigma_x=1.0"]);
        assert_eq!(case.scores, BTreeMap::from([(1, f64::INFINITY), (3, 0.5)]));
        assert_eq!(case.tolerance.ranking, Some(Ranking::Prefix(2)));
        assert_eq!(case.tolerance.ties, [(0, 1)]);
        assert_eq!(case.tolerance.others.keys().collect::<Vec<_>>(), ["n_sv"]);
        assert!(case.is_sparse() && !case.is_degenerate());
    }

    #[test]
    fn variants_of_a_method_share_its_id() {
        let case = |method: &str, params: Value| {
            let mut value = case();
            value["method"] = json!(method);
            value["params"] = params;
            Case::parse("a", &value).unwrap()
        };
        let spec =
            case("spec_phi3", json!({"sigma": 2.5, "gamma": "identity", "m": 2, "order": "descending"}));
        assert_eq!(spec.method_id(), "spec");
        assert_eq!(spec.assignments(), ["criterion=3", "gamma=identity", "m=2", "sigma=2.5"]);
        let t_score = case("t_score", json!({"variance": "sample (divide by n_j - 1)"}));
        assert_eq!((t_score.method_id().as_str(), t_score.n_selected()), ("t-score", None));
        assert_eq!(t_score.assignments(), ["variance=sample"]);
        let trace_ratio = case("trace_ratio", json!({"k": 10, "style": "fisher"}));
        assert_eq!(
            (trace_ratio.assignments().join(" "), trace_ratio.n_selected()),
            ("style=fisher".to_owned(), Some(10))
        );
        let mifs = case("mifs", json!({"bins": 5, "n_selected": 20, "beta": 1.0}));
        assert_eq!(
            (mifs.assignments().join(" "), mifs.n_selected()),
            ("beta=1.0 bins=5".to_owned(), Some(20))
        );
        assert_eq!(case("relieff", json!({"k": 10})).assignments(), ["neighbours=10"]);
        let columns = "the first 40 of the file";
        let dantzig = case("dantzig", json!({"r": 0.1, "lambda_max": 2.5, "columns": columns}));
        assert_eq!(
            (dantzig.assignments().join(" "), dantzig.n_columns()),
            ("lambda_ratio=0.1".to_owned(), Some(40))
        );
        assert_eq!(mifs.n_columns(), None);
        assert_eq!(case("rfs", json!({"alpha": 10.0})).assignments(), ["lambda=10.0"]);
        let columns = "the first 60 of the file";
        let logistic =
            case("l1_logistic", json!({"alpha": 0.1, "r": 0.5, "intercept": true, "columns": columns}));
        assert_eq!((logistic.method_id().as_str(), logistic.n_columns()), ("lasso", Some(60)));
        assert_eq!(logistic.assignments(), ["intercept=true", "lambda_ratio=0.5", "loss=logistic"]);
        let solvers = |name: &str, _: &str| name == "solver";
        assert_eq!(logistic.variants(solvers).len(), 3, "all but lars");
    }

    #[test]
    fn every_choice_is_a_variant() {
        let case = Case::parse("a", &case()).unwrap();
        assert_eq!(case.variants(|_, _| false), [case.assignments()]);
        // A parameter of the same name that means something else is left alone.
        let other_form = |name: &str, value: &str| name == "form" && value == "difference";
        assert_eq!(case.variants(other_form), [case.assignments()]);
        let variants = case.variants(|name, _| name != "factor_tolerance");
        assert_eq!(variants.len(), 8);
        assert_eq!(variants[0][3..], ["tolerance=1e-13", "form=exact", "solver=cd"]);
        assert_eq!(variants[7][3..], ["tolerance=1e-13", "form=low-rank", "solver=pgd"]);
    }

    #[test]
    fn one_fault_at_a_time_is_named() {
        let faults = [
            ("method", json!(3)),
            ("dataset", json!(null)),
            ("scores", json!([1.0, "x"])),
            ("scores", json!({"a": 1.0})),
            ("ranking", json!([1, -1])),
            ("objective", json!("x")),
            ("params", json!([])),
        ];
        for (key, bad) in faults {
            let mut broken = case();
            broken[key] = bad;
            assert_eq!(Case::parse("a", &broken).unwrap_err().0, key);
        }
        for (key, bad) in [("scores", json!("x")), ("ties", json!([[2, 1]])), ("ranking", json!(1))] {
            let mut broken = case();
            broken["tolerance"][key] = bad;
            assert_eq!(Case::parse("a", &broken).unwrap_err().0, format!("tolerance.{key}"));
        }
    }

    #[test]
    fn degenerate_only_without_a_ridge() {
        let mut value = case();
        value["extra"]["degenerate"] = json!([4]);
        assert!(Case::parse("a", &value).unwrap().is_degenerate());
        value["params"]["l1_ratio"] = json!(0.5);
        assert!(!Case::parse("a", &value).unwrap().is_degenerate());
    }
}
