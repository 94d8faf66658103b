//! Numbers and names in a form for people, as reports have them, and columns of a terminal.

pub(crate) use fewest_report::text::*;

/// How cells are aligned in their column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// At the left: names.
    Left,
    /// At the right: numbers.
    Right,
}

/// Rows of cells in columns, two blanks apart; the first row is the heading.
pub(crate) fn columns(rows: &[Vec<String>], align: &[Align]) -> String {
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max();
    let widths: Vec<usize> = (0..align.len()).map(|column| widest(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        for ((cell, &wide), align) in row.iter().zip(&widths).zip(align) {
            let padding = std::iter::repeat_n(' ', wide.saturating_sub(width(cell)));
            match align {
                Align::Left => {
                    text.push_str(cell);
                    text.extend(padding);
                }
                Align::Right => {
                    text.extend(padding);
                    text.push_str(cell);
                }
            }
            text.push_str("  ");
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_the_script() {
        let rows = [vec!["rank".to_owned(), "name".to_owned()], vec!["1".to_owned(), "名".to_owned()]];
        assert_eq!(columns(&rows, &[Align::Right, Align::Left]), "rank  name\n   1  名\n");
    }
}
