//! Costs and entries that are none, and bounds on one side.

use fewest_simplex::{Cost, Simplex};
use fewest_solver::{Control, Error, Status};

type Tested = Result<(), Error>;

const INFINITY: f64 = f64::INFINITY;

/// Two rows and two columns.
fn small() -> Result<Simplex, Error> {
    let mut simplex = Simplex::default();
    simplex.add_rows(&[(0, Cost::hinge(1.0, -1.0, 0.0)), (1, Cost::within(-1.0, 1.0))], &[])?;
    simplex.add_columns(&[(0, Cost::absolute(0.1)), (1, Cost::free())], &[1.0, 0.5, -0.5, 1.0])?;
    Ok(simplex)
}

fn is_refused(what: Result<(), Error>, word: &str) -> bool {
    matches!(&what, Err(Error::InvalidParameter { name: "cost", expected, .. }) if expected.contains(word))
}

#[test]
fn costs_that_are_not_convex_are_refused() -> Tested {
    let kinks = [
        Cost::hinge(f64::NAN, -1.0, 0.0),
        Cost::hinge(INFINITY, -1.0, 0.0),
        Cost::within(f64::NAN, 1.0),
        Cost::within(0.0, f64::NAN),
        Cost::within(INFINITY, INFINITY),
        Cost::within(3.0, 2.0),
    ];
    for cost in kinks {
        assert!(is_refused(small()?.add_rows(&[(2, cost)], &[1.0, 1.0]), "kinks"), "{cost:?}");
        assert!(is_refused(small()?.add_columns(&[(2, cost)], &[1.0, 1.0]), "kinks"), "{cost:?}");
    }
    let concave = Cost::hinge(0.0, 1.0, -1.0);
    assert!(is_refused(small()?.add_rows(&[(2, concave)], &[1.0, 1.0]), "fall"));
    assert!(is_refused(small()?.add_columns(&[(2, concave)], &[1.0, 1.0]), "fall"));
    assert!(is_refused(small()?.set_column_costs(|_| concave), "fall"));
    // A column has to join at 0, and to keep its kinks.
    assert!(is_refused(small()?.add_columns(&[(2, Cost::within(-1.0, 1.0))], &[1.0, 1.0]), "at 0"));
    assert!(is_refused(small()?.set_column_costs(|_| Cost::hinge(1.0, 0.0, 1.0)), "that the column has"));
    // Slopes come from data.
    for slope in [f64::NAN, INFINITY, -INFINITY] {
        let mut simplex = small()?;
        simplex.set_column_costs(|_| Cost::absolute(1.0).tilted(slope))?;
        assert!(matches!(simplex.minimise(&Control::default()), Err(Error::Numerical { .. })), "{slope}");
    }
    Ok(())
}

/// The number of entries is told, and nothing has joined.
#[test]
fn entries_have_the_size_of_what_is_there() -> Tested {
    let mut simplex = small()?;
    let of = |result: Result<(), Error>| match result {
        Err(Error::ShapeMismatch { expected, found, .. }) => Some((expected, found)),
        _ => None,
    };
    let (rows, columns) = ([(2, Cost::free()), (3, Cost::free())], [(2, Cost::free())]);
    assert_eq!(of(simplex.add_columns(&columns, &[1.0])), Some((2, 1)));
    assert_eq!(of(simplex.add_columns(&columns, &[1.0; 4])), Some((2, 4)));
    assert_eq!(of(simplex.add_rows(&rows, &[1.0; 2])), Some((4, 2)));
    assert_eq!(of(simplex.add_rows(&rows, &[1.0; 5])), Some((4, 5)));
    assert_eq!((simplex.rows().len(), simplex.columns().len()), (2, 2));
    assert_eq!(simplex.minimise(&Control::default())?, Status::Converged);
    Ok(())
}

/// An infinite bound is none: `x ≥ 0`, `x ≤ 0`, and rows of one bound that many steps on the spot meet.
#[test]
fn bounds_may_be_on_one_side() -> Tested {
    // −x + z/2 for x ≥ 0 ≥ z with x + z ≤ 4 and z ≥ −3; the last column does nothing.
    let mut simplex = Simplex::default();
    simplex.add_rows(&[(0, Cost::within(-INFINITY, 4.0)), (1, Cost::within(-3.0, INFINITY))], &[])?;
    let columns = [
        (0, Cost::within(0.0, INFINITY).tilted(-1.0)),
        (1, Cost::within(-INFINITY, 0.0).tilted(0.5)),
        (2, Cost::within(-INFINITY, INFINITY)),
    ];
    simplex.add_columns(&columns, &[1.0, 0.0, 1.0, 1.0, 0.0, 0.0])?;
    assert_eq!(simplex.minimise(&Control::default())?, Status::Converged);
    assert_eq!(simplex.values().collect::<Vec<_>>(), [(0, 7.0), (1, -3.0)]);

    let mut falling = Simplex::default();
    falling.add_rows(&[(0, Cost::within(0.0, INFINITY))], &[])?;
    falling.add_columns(&[(0, Cost::within(0.0, INFINITY).tilted(-1.0))], &[1.0])?;
    let error = falling.minimise(&Control::default());
    assert!(
        matches!(&error, Err(Error::Numerical { hint, .. }) if hint.contains("no lower bound")),
        "{error:?}"
    );

    // 60 columns x ≥ 0, 120 rows A x ≤ 0, half of them Σ x ≤ 0: every step is on the spot.
    let (m, p) = (120, 60);
    let mut cone = Simplex::default();
    let rows: Vec<_> = (0..m).map(|i| (i, Cost::within(-INFINITY, 0.0))).collect();
    cone.add_rows(&rows, &[])?;
    let columns: Vec<_> =
        (0..p).map(|j| (j, Cost::within(0.0, INFINITY).tilted(-1.0 - (j % 7) as f64))).collect();
    let entries: Vec<f64> = (0..m * p).map(|at| [1.0, -0.5, 0.0][(at * at + at / m) % 3]).collect();
    let full: Vec<f64> =
        entries.iter().enumerate().map(|(at, e)| if at % m < p { 1.0 } else { *e }).collect();
    cone.add_columns(&columns, &full)?;
    assert_eq!(cone.minimise(&Control::default())?, Status::Converged);
    assert!(cone.values().all(|(_, x)| x.abs() <= 1e-9));
    assert!(cone.duals().all(|(_, y)| y.is_finite()));
    Ok(())
}
