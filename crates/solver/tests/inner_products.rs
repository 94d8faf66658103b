//! Problems derived from another: what a combination of atoms takes off the products, by their definition.

use crate::common::{self, Explicit, normals};
use fewest_solver::{
    Atoms, CachedProducts, Error, InnerProducts, Projected, Quadratic, Ridged, Scaled, Signed, Targeted,
    certificate,
};

/// A problem that does not say how a combination of its atoms is built.
struct Plain(Quadratic);

impl InnerProducts for Plain {
    fn atoms(&self) -> &Atoms {
        self.0.atoms()
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.0.products(rows, columns, out)
    }
}

/// A problem that knows combinations only: products are an error.
struct Combined(Quadratic);

impl InnerProducts for Combined {
    fn atoms(&self) -> &Atoms {
        self.0.atoms()
    }

    fn products(&self, _: &[usize], _: &[usize], _: &mut [f64]) -> Result<(), Error> {
        Err(Error::unreadable(0, "no product is needed"))
    }

    fn subtract_fitted(
        &self,
        rows: &[usize],
        support: &[usize],
        weights: &[f64],
        out: &mut [f64],
    ) -> Result<(), Error> {
        for (&row, value) in rows.iter().zip(out) {
            *value -= support.iter().zip(weights).map(|(&s, w)| w * self.0.gram_column(s)[row]).sum::<f64>();
        }
        Ok(())
    }
}

/// `out[i] − Σ w ⟨A_rows[i], A_s⟩` from the products alone.
fn by_definition(
    problem: &dyn InnerProducts,
    rows: &[usize],
    support: &[usize],
    weights: &[f64],
) -> Vec<f64> {
    let mut products = vec![0.0; rows.len() * support.len()];
    problem.products(rows, support, &mut products).unwrap();
    let taken = |i: usize| (0..support.len()).map(|s| weights[s] * products[i + s * rows.len()]).sum::<f64>();
    (0..rows.len()).map(|i| 1.0 - taken(i)).collect()
}

fn check(name: &str, problem: &dyn InnerProducts, combined: &dyn InnerProducts) {
    let n = problem.n_atoms();
    let rows: Vec<usize> = (0..n).rev().filter(|j| j % 5 != 1).collect();
    let support: Vec<usize> = (0..n).filter(|j| j % 3 != 2).collect();
    let weights = normals(support.len(), 5);
    let expected = by_definition(problem, &rows, &support, &weights);
    for (kind, problem) in [("plain", problem), ("combined", combined)] {
        let mut found = vec![1.0; rows.len()];
        problem.subtract_fitted(&rows, &support, &weights, &mut found).unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
                "{name}, {kind}: {found} {expected}"
            );
        }
    }
}

#[test]
fn what_a_combination_takes_off_is_the_sum_of_its_products() {
    // Atoms 0, 3 and 4 are multiples of each other and atom 5 is zero, also after the projection.
    let quadratic = Explicit::random(20, 12, 1.0, 3).with_degenerate_atoms().quadratic();
    let (plain, combined) = (Plain(quadratic.clone()), Combined(quadratic.clone()));
    check("default", &plain, &combined);
    check("pointer", &&plain, &&combined);
    check("box", &Box::new(Plain(quadratic.clone())), &Box::new(Combined(quadratic.clone())));
    check("normalised", &Scaled::to_norm_one(&plain), &Scaled::to_norm_one(&combined));
    for ridge in [0.0, 0.7] {
        check("ridged", &Ridged::new(&plain, ridge).unwrap(), &Ridged::new(&combined, ridge).unwrap());
    }
    check("signed", &Signed::new(&plain), &Signed::new(&combined));
    let target = |problem| Targeted::new(problem, vec![1.0; 12], 2.0);
    let (first, second) = (Plain(quadratic.clone()), Plain(quadratic.clone()));
    check("targeted", &target(&first), &target(&second));
    check("cached", &CachedProducts::new(&plain, 1 << 20), &CachedProducts::new(&plain, 0));
    let free = Projected::new(&plain, vec![0, 7]).unwrap();
    check("projected", &free, &free);
    assert_eq!(free.squared_norms()[3], 0.0);
}

/// The check of all atoms needs no product of two atoms where combinations can be built.
#[test]
fn correlations_need_no_products_where_combinations_are_known() {
    let problem = Explicit::random(20, 12, 1.0, 4);
    let w = normals(12, 6);
    let positive: Vec<f64> = w.iter().flat_map(|w| [*w, 0.0]).collect();
    let found = certificate::correlations(&Signed::new(Combined(problem.quadratic())), &positive);
    let residual = problem.residual(&w);
    for (found, atom) in found.unwrap().iter().step_by(2).zip(&problem.atoms) {
        assert!((found - common::dot(atom, &residual)).abs() < 1e-10);
    }
}
