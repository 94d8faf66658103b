//! The method, its parameters and the data: everything that outputs contain besides the result itself.

use fewest::core::{Dataset, Target};
use fewest::data::Missing;

use crate::catalogue::{Method, Parameters};

/// A method that was run once, for documents and tables.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// The method.
    pub method: Method,
    /// Its parameters.
    pub parameters: Parameters,
    /// The seed.
    pub seed: u64,
    /// The data.
    pub data: DataInfo,
    /// Wall-clock time of the method, without reading and writing.
    pub seconds: f64,
}

/// The data of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct DataInfo {
    /// The file, or another name of the data.
    pub file: String,
    /// SHA-256 of the file as it lies on disk, where it is known.
    pub file_digest: Option<String>,
    /// Number of samples that were used.
    pub n_samples: usize,
    /// Number of features.
    pub n_features: usize,
    /// `classification`, `regression`, `survival` or `none`.
    pub task: &'static str,
    /// Each class with its number of samples, for classifications; of survival times the samples with and
    /// those without an event.
    pub classes: Vec<(String, usize)>,
    /// The names of the target's columns.
    pub targets: Vec<String>,
    /// How the target was found, if no argument named it: "the column of that name", "the last column".
    pub target_found: Option<&'static str>,
    /// The policy for missing values: how they were filled in, or how a study fills them in every fold.
    pub missing: Missing,
    /// What that policy did, in words; `None` where nothing was missing.
    pub missing_done: Option<String>,
    /// The number of missing values filled in, or to be filled in in every fold.
    pub gaps: usize,
    /// Notes on data that follow the rules, but were perhaps intended otherwise.
    pub notes: Vec<String>,
    /// The name of every feature.
    pub names: Vec<String>,
    /// The column of every feature in the file, from 0.
    pub columns: Vec<usize>,
    /// Where what is known of the samples beside the table comes from.
    pub samples: SampleInfo,
    /// How the table was read, where it was larger than the memory that it might take.
    pub passes: Option<PassInfo>,
}

/// How often the rows of a table were read that was not in memory at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassInfo {
    /// How often they were read, also in part.
    pub passes: usize,
    /// In how many parts the features of a wide table were read, each with passes of its own; else 1.
    pub parts: usize,
    /// Rows that were read in all passes together.
    pub rows: u64,
    /// Bytes that the values of the table would take in memory.
    pub table_bytes: u64,
    /// Bytes of memory that might be used.
    pub memory: u64,
    /// Whether it may come at once, if that is enough: several files of text come in passes only.
    pub may_come_at_once: bool,
}

/// Where weights, links and authors of samples come from: a column, or files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SampleInfo {
    /// The column with the weights.
    pub weights: Option<String>,
    /// The table of links between samples.
    pub links: Option<String>,
    /// The table of authors.
    pub authors: Option<String>,
    /// The table of links between authors.
    pub follows: Option<String>,
}

impl DataInfo {
    /// The description of a data set without missing values. The caller adds the names of the target's
    /// columns and the notes of the reader.
    pub fn new(file: impl Into<String>, data: &Dataset) -> Self {
        let (n_samples, n_features) = (data.n_samples(), data.n_features());
        Self {
            names: (0..n_features).map(|j| data.feature_name(j)).collect(),
            columns: (0..n_features).collect(),
            ..Self::of_target(file, data.target(), n_samples, n_features)
        }
    }

    /// The same of data of which only the target and the numbers are known: without names of features.
    pub fn of_target(file: impl Into<String>, target: &Target, n_samples: usize, n_features: usize) -> Self {
        let (task, classes) = match target {
            Target::None => ("none", Vec::new()),
            Target::Class(classes) => {
                ("classification", classes.names().iter().cloned().zip(classes.counts()).collect())
            }
            Target::Survival(survival) => {
                let without = n_samples - survival.n_events();
                let counts = [("event", survival.n_events()), ("no event", without)];
                ("survival", counts.map(|(name, count)| (name.to_owned(), count)).to_vec())
            }
            _ => ("regression", Vec::new()),
        };
        Self {
            file: file.into(),
            file_digest: None,
            n_samples,
            n_features,
            task,
            classes,
            targets: Vec::new(),
            target_found: None,
            missing: Missing::Error,
            missing_done: None,
            gaps: 0,
            notes: Vec::new(),
            names: Vec::new(),
            columns: Vec::new(),
            samples: SampleInfo::default(),
            passes: None,
        }
    }

    /// The target in words: "`diagnosis`, 2 classes".
    pub fn target_text(&self) -> String {
        let names: Vec<String> = self.targets.iter().map(|name| format!("`{name}`")).collect();
        let kind = match self.task {
            "classification" => format!("{} classes", self.classes.len()),
            "regression" if self.targets.len() > 1 => format!("{} real outputs", self.targets.len()),
            "regression" => "a real output".to_owned(),
            "survival" => format!("survival times, {} events", self.classes.first().map_or(0, |(_, n)| *n)),
            _ => return "none".to_owned(),
        };
        if names.is_empty() { kind } else { format!("{}, {kind}", names.join(", ")) }
    }

    /// The column of feature `j` in the file, from 0.
    pub fn column(&self, j: usize) -> Option<usize> {
        self.columns.get(j).copied()
    }

    /// The name of feature `j`; empty where there is none.
    pub fn name(&self, j: usize) -> &str {
        self.names.get(j).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use fewest::core::DenseColumns;

    use super::*;

    #[test]
    fn the_target_is_described_in_words() -> Result<(), fewest::core::Error> {
        let of = |target: Target, names: &[&str]| -> Result<(&'static str, String), fewest::core::Error> {
            let data = Dataset::new(DenseColumns::from_columns(&[vec![1.0, 2.0, 3.0]])?, target)?;
            let targets = names.iter().map(|name| (*name).to_owned()).collect();
            let info = DataInfo { targets, ..DataInfo::new("t", &data) };
            Ok((info.task, info.target_text()))
        };
        assert_eq!(of(Target::None, &[])?, ("none", "none".to_owned()));
        let classes = Target::from_labels(&["a", "b", "a"]);
        assert_eq!(of(classes, &["kind"])?, ("classification", "`kind`, 2 classes".to_owned()));
        let real = || Target::real(vec![1.0, 2.0, 4.0]);
        assert_eq!(of(real()?, &[])?, ("regression", "a real output".to_owned()));
        let survival = Target::survival(vec![1.0, 2.0, 4.0], vec![true, false, true])?;
        let told = of(survival, &["time", "died"])?;
        assert_eq!(told, ("survival", "`time`, `died`, survival times, 2 events".to_owned()));
        let two = Target::outputs(vec![1.0, 2.0, 4.0, 0.0, 1.0, 0.0], 3)?;
        assert_eq!(of(two, &["a", "b"])?.1, "`a`, `b`, 2 real outputs");
        Ok(())
    }
}
