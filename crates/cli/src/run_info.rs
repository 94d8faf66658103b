//! What was run and on what: everything outputs tell besides the selection itself.

use fewest::registry::{Method, Value};

/// A run, for the table, JSON and the report.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// The version of this program.
    pub version: &'static str,
    /// The call, as it can be pasted into a shell.
    pub command: String,
    /// The method.
    pub method: &'static Method,
    /// Every parameter that has a value, in the method's order.
    pub parameters: Vec<(&'static str, Value)>,
    /// The seed.
    pub seed: u64,
    /// The data.
    pub data: DataInfo,
    /// Wall-clock time of the method, without reading and writing.
    pub seconds: f64,
}

/// The data of a run.
#[derive(Debug, Clone)]
pub struct DataInfo {
    /// The file, as it was named in the call.
    pub file: String,
    /// Number of samples that were used.
    pub n_samples: usize,
    /// Number of features.
    pub n_features: usize,
    /// `classification`, `regression` or `none`.
    pub task: &'static str,
    /// Each class with its number of samples, for classifications.
    pub classes: Vec<(String, usize)>,
    /// The names of the target's columns.
    pub targets: Vec<String>,
    /// How the target was found, when it was not named in the call: "the column of that name", "the last column".
    pub target_found: Option<&'static str>,
    /// The policy for missing values.
    pub missing: &'static str,
    /// What that policy did, in words; `None` where nothing was missing.
    pub missing_done: Option<String>,
    /// How many gaps are filled, or are to be filled in every fold.
    pub gaps: usize,
    /// What was read by the rules, but perhaps not as it was meant.
    pub notes: Vec<String>,
    /// The name of every feature.
    pub names: Vec<String>,
}

impl DataInfo {
    /// The target in words: "`diagnosis`, 2 classes".
    pub fn target_text(&self) -> String {
        let names: Vec<String> = self.targets.iter().map(|name| format!("`{name}`")).collect();
        let kind = match self.task {
            "classification" => format!("{} classes", self.classes.len()),
            "regression" if self.targets.len() > 1 => format!("{} real outputs", self.targets.len()),
            "regression" => "a real output".to_owned(),
            _ => return "none".to_owned(),
        };
        if names.is_empty() { kind } else { format!("{}, {kind}", names.join(", ")) }
    }

    /// The name of feature `j`.
    pub fn name(&self, j: usize) -> &str {
        self.names.get(j).map_or("", String::as_str)
    }
}
