//! The example of the page `docs/solvers/simplex.md`: its code, and the output the page shows.

use std::fmt::Write;

use fewest::solver::Control;
use fewest::solvers::simplex::{Cost, Simplex};

fn example(out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    // A line through points, one of them far off, with the least sum of distances.
    let points = [(0.0, 1.1), (1.0, 2.9), (2.0, 5.2), (3.0, 70.0), (4.0, 9.0), (5.0, 11.1)];
    let mut simplex = Simplex::default();
    let rows: Vec<(usize, Cost)> =
        points.iter().enumerate().map(|(i, (_, y))| (i, Cost::hinge(*y, -1.0, 1.0))).collect();
    simplex.add_rows(&rows, &[])?;
    let (ones, x) = (vec![1.0; points.len()], points.map(|(x, _)| x));
    simplex.add_columns(&[(0, Cost::free()), (1, Cost::free())], &[&ones[..], &x[..]].concat())?;
    let status = simplex.minimise(&Control::default())?;
    writeln!(out, "{} after {} steps", status.name(), simplex.n_steps())?;
    for (column, value) in simplex.values() {
        writeln!(out, "x[{column}] = {value:.4}")?;
    }

    // The slope may cost something, too: the vertex is a start for the new costs.
    simplex.set_column_costs(|column| if column == 1 { Cost::absolute(6.5) } else { Cost::free() })?;
    let status = simplex.minimise(&Control::default())?;
    writeln!(out, "{} after {} steps", status.name(), simplex.n_steps())?;
    for (column, value) in simplex.values() {
        writeln!(out, "x[{column}] = {value:.4}")?;
    }
    Ok(())
}

#[test]
fn the_page_shows_what_comes_out() {
    let page = include_str!("../../../docs/solvers/simplex.md");
    super::check(page, include_str!("simplex.rs"), "// A line", example);
}
