//! Matrices of coloured cells with a name beside each row.

use maud::{Markup, html};

use super::at;

/// Height of a row, with room for its name.
pub(super) const ROW: f64 = 20.0;
/// Number of colours of a scale in the style sheet.
pub(super) const LEVELS: usize = 9;

/// The level of a share of the scale; 0 for what is not a number.
pub(super) fn level(share: f64) -> usize {
    (share.clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as usize
}

/// The cells, one path for each level: `level(row, column)` of every cell, in the colours of `scale`.
pub(super) fn cells(
    scale: &str,
    n_rows: usize,
    n_columns: usize,
    level: impl Fn(usize, usize) -> usize,
) -> Markup {
    let mut paths = vec![String::new(); LEVELS];
    for row in 0..n_rows {
        let mut from = 0;
        while from < n_columns {
            let shade = level(row, from);
            let to = (from + 1..n_columns).find(|&column| level(row, column) != shade).unwrap_or(n_columns);
            if let Some(path) = paths.get_mut(shade) {
                path.push_str(&format!("M{from} {row}h{}v1h-{}z", to - from, to - from));
            }
            from = to;
        }
    }
    html! {
        svg.stretched.cells viewBox=(format!("0 0 {n_columns} {n_rows}")) width="100%"
            height=(at(ROW * n_rows as f64)) preserveAspectRatio="none" {
            @for (shade, d) in paths.iter().enumerate() {
                @if !d.is_empty() { path class=(format!("{scale}{shade}")) d=(d) {} }
            }
        }
    }
}

/// The names beside the rows, each with its rank.
pub(super) fn names<'a>(rows: impl Iterator<Item = (usize, &'a str)>) -> Markup {
    html! {
        ul.names {
            @for (rank, name) in rows { li title=(name) { span.quiet { (rank) } " " (name) } }
        }
    }
}

/// What the colours mean.
pub(super) fn legend(scale: &str, low: &str, high: &str) -> Markup {
    html! {
        p.scale {
            (low) " "
            svg width=(22 * LEVELS) height="14" aria-hidden="true" {
                @for shade in 0..LEVELS {
                    rect class=(format!("{scale}{shade}")) x=(22 * shade) width="22" height="14" {}
                }
            }
            " " (high)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_level_are_one_shape() {
        let drawn = cells("s", 2, 3, |row, column| if row == 0 { 4 } else { column }).into_string();
        assert!(drawn.contains("<path class=\"s4\" d=\"M0 0h3v1h-3z\">"), "{drawn}");
        assert!(drawn.contains("<path class=\"s2\" d=\"M2 1h1v1h-1z\">"), "{drawn}");
        assert_eq!([f64::NAN, -1.0, 0.5, 2.0].map(level), [0, 0, 4, 8]);
    }
}
