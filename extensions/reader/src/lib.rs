//! A file format outside the repository of fewest.

use std::io::BufRead;

use fewest_data::{Cells, Error, Format, Place, ReadOptions, Sniff, Source, Table};

/// Dense attribute-relation files: `@attribute NAME numeric` or `@attribute NAME {a, b}`, then `@data` and a
/// line a sample, its values separated by commas, `?` where one is missing. `%` begins a comment.
pub const ARFF: Format = Format::new("arff", &["arff"], sniff, read);

fn sniff(beginning: &[u8]) -> Sniff {
    let text = String::from_utf8_lossy(beginning).to_lowercase();
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('%'));
    match first {
        Some(line) if line.starts_with("@relation") => Sniff::Certain,
        _ => Sniff::No,
    }
}

fn read(source: Source, options: &ReadOptions) -> Result<Table, Error> {
    let path = source.path().to_owned();
    let mut columns: Vec<(Option<String>, Cells)> = Vec::new();
    let mut in_data = false;
    for (number, line) in (1..).zip(source.into_reader().lines()) {
        let line = line.map_err(|error| Error::reading(&path, error))?;
        let line = line.trim();
        let wrong = |problem: &str| {
            let advice = "give a dense ARFF file of numbers and categories";
            Error::malformed(&path, Place::Line(number), problem, advice)
        };
        if line.is_empty() || line.starts_with('%') {
            continue;
        }
        if !in_data {
            let mut words = line.splitn(3, char::is_whitespace);
            match words.next().unwrap_or_default().to_lowercase().as_str() {
                "@relation" => {}
                "@data" => in_data = true,
                "@attribute" => {
                    let name = words.next().ok_or_else(|| wrong("an attribute without a name"))?;
                    let kind = words.next().unwrap_or_default().trim().to_lowercase();
                    let cells = match kind.as_str() {
                        "numeric" | "real" | "integer" => Cells::Numbers(Vec::new()),
                        kind if kind.starts_with('{') => Cells::Texts(Vec::new()),
                        _ => {
                            return Err(wrong(
                                "an attribute that is neither numeric nor a list of categories",
                            ));
                        }
                    };
                    columns.push((Some(name.to_owned()), cells));
                }
                _ => return Err(wrong("neither @relation, @attribute nor @data")),
            }
            continue;
        }
        let values: Vec<&str> = line.split(',').map(str::trim).collect();
        if values.len() != columns.len() {
            return Err(wrong("not as many values as there are attributes"));
        }
        for ((_, cells), value) in columns.iter_mut().zip(values) {
            match cells {
                Cells::Numbers(numbers) if value == "?" => numbers.push(f64::NAN),
                Cells::Numbers(numbers) => match value.parse::<f64>() {
                    Ok(number) if number.is_finite() => numbers.push(number),
                    _ => return Err(wrong("a value of a numeric attribute that is no number")),
                },
                Cells::Texts(texts) => texts.push((value != "?").then(|| value.to_owned())),
                _ => return Err(wrong("an attribute of a kind that is not read")),
            }
        }
    }
    Table::from_columns(&path, ARFF, columns, options)
}
