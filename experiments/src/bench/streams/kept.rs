//! Figures that were measured before.

use fewest::core::Arrives;

use super::super::measure::{Measured, Timed};
use super::{FEATURES, Run, SAMPLES, Side};
use crate::Result;

/// A fact that is not there.
const UNKNOWN: &str = "unknown";

/// What the lines above a table of figures say of the run.
pub(super) struct Kept {
    /// The date and the commit.
    pub(super) made: String,
    pub(super) sides: Vec<Side>,
}

/// The figures in a table that this command wrote, but for those of methods that `measured` says are measured
/// anew.
pub(super) fn read(text: &str, measured: impl Fn(&str) -> bool) -> Result<Kept> {
    let fact = |name: &str| {
        let start = format!("# {name}: ");
        text.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or(UNKNOWN).to_owned()
    };
    let mut made = format!("{}, commit {}", fact("date"), fact("commit"));
    let other = fact("other lines");
    if other != UNKNOWN {
        made.push_str(&format!("; {other}"));
    }
    let mut sides: Vec<Side> = Vec::new();
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    for record in reader.records() {
        let record = record?;
        let cells: Vec<&str> = record.iter().collect();
        let wrong =
            || format!("streams.csv: {} is no line of this table: measure all cases", cells.join(","));
        let [id, program, _, arrived, _, _, _, selected, held_features, held_bytes, times @ ..] = &cells[..]
        else {
            return Err(wrong().into());
        };
        let by_samples = SAMPLES.iter().map(|case| (case.method, Arrives::Samples));
        let by_features = FEATURES.iter().map(|&method| (method, Arrives::Features));
        let (method, arrives) = by_samples.chain(by_features).find(|(own, _)| own == id).ok_or_else(wrong)?;
        if measured(method) {
            continue;
        }
        let number = |cell: &str| cell.parse::<f64>().ok();
        let &[seconds, cpu_seconds, process_seconds, process_cpu_seconds, peak_bytes] = times else {
            return Err(wrong().into());
        };
        let run = Run {
            timed: Timed {
                seconds: number(seconds).ok_or_else(wrong)?,
                cpu_seconds: number(cpu_seconds),
                measured: Measured {
                    process_seconds: number(process_seconds).ok_or_else(wrong)?,
                    cpu_seconds: number(process_cpu_seconds),
                    peak_bytes: peak_bytes.parse().ok(),
                },
            },
            selected: number(selected).unwrap_or(f64::NAN),
            held_features: number(held_features).unwrap_or(f64::NAN),
            held_bytes: number(held_bytes).unwrap_or(f64::NAN),
        };
        let arrived = arrived.parse().map_err(|_| wrong())?;
        let same =
            |own: &&mut Side| (own.method, own.program.as_str(), own.arrived) == (method, *program, arrived);
        match sides.iter_mut().find(same) {
            Some(side) => side.runs.push(run),
            None => {
                let program = (*program).to_owned();
                sides.push(Side { method, program, arrives, arrived, runs: vec![run] });
            }
        }
    }
    Ok(Kept { made, sides })
}

/// The place of a side on the page: that of its method, our program first.
pub(super) fn place(side: &Side) -> (usize, bool, usize) {
    let ids = FEATURES.iter().copied().chain(SAMPLES.iter().map(|case| case.method));
    let method = ids.into_iter().position(|id| id == side.method).unwrap_or(usize::MAX);
    (method, side.program != "fewest", side.arrived)
}

#[cfg(test)]
mod tests {
    use super::super::super::MEBIBYTE;
    use super::super::{HEADER, TIMED, rows};
    use super::*;

    #[test]
    fn figures_are_read_as_they_were_written() {
        let text =
            std::fs::read_to_string(crate::workspace::root().join("docs/benchmarks/streams.csv")).unwrap();
        let kept = read(&text, |_| false).unwrap();
        let lines: Vec<String> = rows(&kept.sides, 2).iter().map(|row| row.join(",")).collect();
        // The names of rivals have a comma, and so quotation marks.
        let plain = text.replace('"', "");
        let written: Vec<&str> = plain.lines().filter(|line| !line.starts_with('#')).skip(1).collect();
        assert_eq!(lines, written);
        assert!(text.contains(&[HEADER, TIMED].concat().join(",")));
        assert!(kept.made.starts_with("20"), "{}", kept.made);
        assert!(read(&text, |method| method == "variance").unwrap().sides.len() < kept.sides.len());
        assert!(
            kept.sides.iter().all(|side| side.runs[0].timed.measured.peak_bytes.unwrap() as f64 > MEBIBYTE)
        );
    }
}
