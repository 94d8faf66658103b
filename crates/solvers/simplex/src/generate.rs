//! Programs of which few rows and columns matter.

use fewest_solver::{Control, Error, Status};

use crate::{Cost, Simplex};

/// A program with more rows and columns than one looks at: they join when a vertex breaks their conditions.
pub trait Program {
    /// The cost of a column, whose first kink is 0: until the column joins its value is 0.
    fn column_cost(&self, column: usize) -> Cost;

    /// The cost of a row.
    fn row_cost(&self, row: usize) -> Cost;

    /// Writes the entries of `rows` and `columns` into `out`, column after column.
    ///
    /// # Errors
    /// Where they cannot be read.
    fn entries(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error>;

    /// What joins: rows whose value at `vertex` is beyond a kink, columns that would improve it, none of them
    /// twice. Nothing where the vertex is good enough.
    ///
    /// # Errors
    /// Where rows or columns cannot be read.
    fn price(&mut self, vertex: &Simplex) -> Result<Joining, Error>;
}

/// Rows and columns that join a program.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Joining {
    /// Numbers of rows.
    pub rows: Vec<usize>,
    /// Numbers of columns.
    pub columns: Vec<usize>,
}

/// Takes `simplex`, from where it is, to an optimum of `program` over all its rows and columns, or to where
/// `control` ends it: its number of steps is that of all vertices together. Every vertex at which the simplex
/// method stops is priced, also the last.
///
/// # Errors
/// [`Error::Numerical`] as from [`Simplex::minimise`], [`Error::InvalidParameter`] as from
/// [`Simplex::add_columns`], and what `program` returns.
pub fn solve(
    program: &mut dyn Program,
    simplex: &mut Simplex,
    control: &Control<'_>,
) -> Result<Status, Error> {
    let last_step = simplex.last_step(control);
    loop {
        let status = simplex.minimise_until(last_step, control)?;
        let Joining { rows, columns } = program.price(simplex)?;
        // What joins may lead on from where rounding ended the steps.
        let is_ended = !matches!(status, Status::Converged | Status::Stalled);
        if is_ended || rows.len() + columns.len() == 0 {
            return Ok(status);
        }
        let old: Vec<usize> = simplex.rows().collect();
        let mut entries = vec![0.0; old.len() * columns.len()];
        program.entries(&old, &columns, &mut entries)?;
        let costs: Vec<_> = columns.iter().map(|&j| (j, program.column_cost(j))).collect();
        simplex.add_columns(&costs, &entries)?;
        let all: Vec<usize> = simplex.columns().collect();
        let mut entries = vec![0.0; rows.len() * all.len()];
        program.entries(&rows, &all, &mut entries)?;
        let costs: Vec<_> = rows.iter().map(|&i| (i, program.row_cost(i))).collect();
        simplex.add_rows(&costs, &entries)?;
    }
}
