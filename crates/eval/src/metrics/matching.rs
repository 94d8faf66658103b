//! The assignment problem.

/// The largest sum of entries of `table`, at most one from each row and each column: the Hungarian method by
/// shortest augmenting paths, `O(s³)` for a table of at most `s` rows and columns.
pub(super) fn best_matching(table: &[Vec<usize>]) -> usize {
    let size = table.len().max(table.first().map_or(0, Vec::len));
    let entry = |i: usize, j: usize| table.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0);
    // Minimises the negated entries. Row and column 0 are the sentinel from which a path starts.
    let cost = |i: usize, j: usize| -(entry(i - 1, j - 1) as i64);
    let mut row_potential = vec![0_i64; size + 1];
    let mut column_potential = vec![0_i64; size + 1];
    let mut row_of = vec![0_usize; size + 1];
    for row in 1..=size {
        row_of[0] = row;
        let mut column = 0;
        let mut slack = vec![i64::MAX; size + 1];
        let mut previous = vec![0_usize; size + 1];
        let mut visited = vec![false; size + 1];
        while row_of[column] != 0 {
            visited[column] = true;
            let (from, mut next, mut step) = (row_of[column], 0, i64::MAX);
            for j in (1..=size).filter(|&j| !visited[j]) {
                let reduced = cost(from, j) - row_potential[from] - column_potential[j];
                if reduced < slack[j] {
                    (slack[j], previous[j]) = (reduced, column);
                }
                if slack[j] < step {
                    (step, next) = (slack[j], j);
                }
            }
            for j in 0..=size {
                if visited[j] {
                    row_potential[row_of[j]] += step;
                    column_potential[j] -= step;
                } else {
                    slack[j] = slack[j].saturating_sub(step);
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[previous[column]];
            column = previous[column];
        }
    }
    (1..=size).map(|j| entry(row_of[j] - 1, j - 1)).sum()
}
