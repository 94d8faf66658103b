//! Raw measurements as CSV, with the machine they were made on.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::{Result, machine};

/// Writes `rows` under `header`; `facts` stand above as comment lines that start with `#`.
fn write_csv(path: &Path, facts: &[(&str, String)], header: &[&str], rows: &[Vec<String>]) -> Result<()> {
    let mut bytes = Vec::new();
    for (name, value) in facts {
        bytes.extend(format!("# {name}: {value}\n").bytes());
    }
    let mut writer = csv::Writer::from_writer(bytes);
    writer.write_record(header)?;
    for row in rows {
        writer.write_record(row)?;
    }
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    write(path, &bytes)
}

/// The raw figures and the pages of a run, in one folder, each with the machine and everything else
/// needed to reproduce them.
pub(crate) struct Documents {
    folder: PathBuf,
    /// The facts, by name.
    pub facts: Vec<(&'static str, String)>,
}

impl Documents {
    /// In `folder`.
    pub(crate) fn new(folder: PathBuf, facts: Vec<(&'static str, String)>) -> Self {
        Self { folder, facts }
    }

    /// The path of a file among them.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Writes the raw figures `{name}.csv`.
    pub(crate) fn csv(&self, name: &str, header: &[&str], rows: &[Vec<String>]) -> Result<()> {
        write_csv(&self.path(&format!("{name}.csv")), &self.facts, header, rows)
    }

    /// Writes the page `{name}.md`, which ends with the machine.
    pub(crate) fn page(&self, name: &str, text: impl Display) -> Result<()> {
        let text = format!("{text}\n## Machine\n\n{}", machine::markdown(&self.facts));
        write(&self.path(&format!("{name}.md")), text.as_bytes())
    }
}

/// Writes a file, and the folders it lies in.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    eprintln!("wrote {}", path.strip_prefix(crate::workspace::root()).unwrap_or(path).display());
    Ok(())
}

/// The median; NaN without values.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.get(sorted.len() / 2), sorted.len() % 2) {
        (None, _) => f64::NAN,
        (Some(&upper), 1) => upper,
        (Some(&upper), _) => 0.5 * (sorted[sorted.len() / 2 - 1] + upper),
    }
}

/// The smallest; infinite without values.
pub(crate) fn minimum(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The mean and its standard error, `sd / √m` with `sd` dividing by `m − 1`; the error of one value is NaN.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
        assert_eq!(minimum(&[2.0, 1.0]), 1.0);
    }

    #[test]
    fn standard_errors() {
        // 1, 2, 3, 4: variance 5/3, over 4 values.
        let (mean, error) = mean_and_error(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(mean, 2.5);
        assert!((error - (5.0_f64 / 12.0).sqrt()).abs() < 1e-15);
        assert!(mean_and_error(&[1.0]).1.is_nan());
    }

    #[test]
    fn facts_stand_above_the_rows() {
        let folder = std::env::temp_dir().join(format!("experiments-output-{}", std::process::id()));
        let file = folder.join("a/b.csv");
        write_csv(
            &file,
            &[("cpu", "x, y".to_owned())],
            &["a", "b"],
            &[vec!["1".to_owned(), "2,3".to_owned()]],
        )
        .unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "# cpu: x, y\na,b\n1,\"2,3\"\n");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
