//! The rows of the levels of categories: each level is a column of ones there, and zeros elsewhere.

use std::ops::Range;

use fewest_core::Column;

/// A level in fewer than one row in so many has its rows kept: products with these alone are less work.
const RARE: usize = 4;

/// Rows of levels, one after the other: no more than one for each row and category.
#[derive(Default)]
pub(super) struct LevelRows {
    rows: Vec<usize>,
    ones: Vec<f64>,
    /// Of each column of the model those of its level; none where it is no level, or a frequent one.
    of_column: Vec<Range<usize>>,
}

impl LevelRows {
    /// For the next columns, those of the `levels` of a category with these `values`, or of a feature as it
    /// is where there are none. All rows that are kept take at most so many `bytes`.
    pub(super) fn add(&mut self, values: &[f64], levels: &[f64], bytes: usize) {
        if levels.is_empty() {
            return self.of_column.push(0..0);
        }
        let level_of = |value: &f64| levels.binary_search_by(|level| level.total_cmp(value)).ok();
        let codes: Vec<Option<usize>> = values.iter().map(level_of).collect();
        let mut counts = vec![0; levels.len()];
        codes.iter().flatten().for_each(|&code| counts[code] += 1);
        let is_rare = |count: usize| count < values.len() / RARE;
        let most = bytes / size_of::<usize>();
        let rare: usize = counts.iter().copied().filter(|count| is_rare(*count)).sum();
        self.rows.reserve_exact(rare.min(most.saturating_sub(self.rows.len())));
        let mut ends = Vec::with_capacity(levels.len());
        for &count in &counts {
            let start = self.rows.len();
            let kept = if is_rare(count) && start + count <= most { count } else { 0 };
            self.rows.resize(start + kept, 0);
            self.of_column.push(start..start + kept);
            ends.push(start..start + kept);
            self.ones.resize(self.ones.len().max(kept), 1.0);
        }
        for (row, code) in codes.into_iter().enumerate() {
            if let Some(at) = code.and_then(|code| ends[code].next()) {
                self.rows[at] = row;
            }
        }
    }

    /// The values of a column, where its rows are kept.
    pub(super) fn column(&self, column: usize) -> Option<Column<'_>> {
        let rows = self.rows.get(self.of_column.get(column)?.clone())?;
        let values = self.ones.get(..rows.len())?;
        (!rows.is_empty()).then_some(Column::Sparse { rows, values })
    }
}
