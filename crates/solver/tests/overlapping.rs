//! The penalty of groups that overlap, against its definition and the penalties that are its cases.

use crate::common::{dot, normals, tree};
use fewest_solver::{BlockPenalty, Error, GroupLasso, OverlappingGroupLasso, Penalty, Tilted, TreeLasso};

const N: usize = 12;

fn groups() -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> =
        (0..N - 2).step_by(2).map(|first| (first..first + 4).collect()).collect();
    groups.retain(|group| group.iter().all(|&j| j < N));
    groups.extend([vec![0, 5, 11], vec![3, 4]]);
    groups
}

#[test]
fn the_prox_is_the_minimum() -> Result<(), Error> {
    let mut zeros = 0;
    for seed in 0..60 {
        for l1 in [0.0, 0.4] {
            let penalty = OverlappingGroupLasso::new(0.3 + 0.02 * seed as f64, N, &groups())?.with_l1(l1)?;
            let u = normals(N, seed).iter().map(|u| 2.0 * u).collect::<Vec<f64>>();
            for step in [0.1, 0.5, 1.0] {
                let mut x = u.clone();
                penalty.prox(&mut x, step);
                let value = |x: &[f64]| {
                    let moved: Vec<f64> = x.iter().zip(&u).map(|(x, u)| x - u).collect();
                    step * penalty.value(x) + 0.5 * dot(&moved, &moved)
                };
                let best = value(&x);
                for other in 0..200 {
                    for length in [1.0, 1e-2, 1e-5] {
                        let moved: Vec<f64> =
                            x.iter().zip(normals(N, 1000 + other)).map(|(x, e)| x + length * e).collect();
                        assert!(value(&moved) >= best - 1e-13, "{seed} {l1} {step}");
                    }
                }
                // What it takes is a subgradient (Moreau).
                let taken: Vec<f64> = u.iter().zip(&x).map(|(u, x)| (u - x) / step).collect();
                assert!((dot(&taken, &x) - penalty.value(&x)).abs() <= 1e-12, "{seed} {l1} {step}");
                assert!(penalty.dual_norm(&taken) <= 1.0 + 1e-8, "{seed} {l1} {step}");
                zeros += x.iter().filter(|x| **x == 0.0).count();
            }
        }
    }
    assert!(zeros > 100, "{zeros}");
    Ok(())
}

#[test]
fn the_dual_norm_is_the_largest_ratio() -> Result<(), Error> {
    for seed in 0..40 {
        for l1 in [0.0, 0.4] {
            let penalty = OverlappingGroupLasso::new(0.7, N, &groups())?.with_l1(l1)?;
            let v = normals(N, seed);
            let t = penalty.dual_norm(&v);
            // Below, the prox leaves something, whose ratio is close; no ratio is above.
            let mut x = v.clone();
            penalty.prox(&mut x, t * (1.0 - 1e-3));
            let ratio = |x: &[f64]| dot(&v, x) / penalty.value(x);
            assert!((ratio(&x) - t).abs() <= 1e-5 * t, "{seed} {l1}: {} {t}", ratio(&x));
            for other in 0..300 {
                assert!(ratio(&normals(N, 2000 + other)) <= t * (1.0 + 1e-9), "{seed} {l1}");
            }
            let mut x = v.clone();
            penalty.prox(&mut x, t * (1.0 + 1e-5));
            assert!(x.iter().all(|x| *x == 0.0), "{seed} {l1}: {x:?}");
            let scale = penalty.dual_scale(&v.iter().map(|v| 2.0 * v / t).collect::<Vec<_>>());
            assert!((0.5 - 1e-5..=0.5 + 1e-9).contains(&scale), "{scale}");
            assert!(penalty.conjugate(&v.iter().map(|v| v / t).collect::<Vec<_>>()) == 0.0);
            assert!(penalty.conjugate(&v.iter().map(|v| 1.001 * v / t).collect::<Vec<_>>()).is_infinite());
        }
    }
    Ok(())
}

#[test]
fn a_partition_and_a_tree_are_cases() -> Result<(), Error> {
    let partition: Vec<Vec<usize>> = (0..N).step_by(3).map(|first| (first..first + 3).collect()).collect();
    let triples: Vec<usize> = (0..N).map(|j| j / 3).collect();
    let cases: Vec<(Box<dyn BlockPenalty>, OverlappingGroupLasso)> = vec![
        (
            Box::new(GroupLasso::new(0.4, &triples)?.weighted_by_size().with_l1(0.1)?),
            OverlappingGroupLasso::new(0.4, N, &partition)?.with_l1(0.1)?,
        ),
        (Box::new(TreeLasso::new(0.4, N, &tree(N))?), OverlappingGroupLasso::new(0.4, N, &tree(N))?),
    ];
    for (expected, penalty) in cases {
        for seed in 0..40 {
            let u = normals(N, seed);
            assert!((penalty.value(&u) - expected.value(&u)).abs() <= 1e-13);
            let (mut a, mut b) = (u.clone(), u.clone());
            penalty.prox(&mut a, 0.8);
            expected.prox(&mut b, 0.8);
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-13 && (*a == 0.0) == (*b == 0.0)));
            let (a, b) = (penalty.dual_norm(&u), expected.dual_norm(&u));
            assert!((a - b).abs() <= 1e-9 * b, "{a} {b}");
            for b in 0..expected.blocks().n_blocks() {
                let own: Vec<f64> = expected.blocks().block(b).iter().map(|&j| u[j]).collect();
                let mut jacobians = [vec![0.0; own.len().pow(2)], vec![0.0; own.len().pow(2)]];
                penalty.prox_jacobian_block(b, &own, 0.8, &mut jacobians[0]);
                expected.prox_jacobian_block(b, &own, 0.8, &mut jacobians[1]);
                let difference = jacobians[0].iter().zip(&jacobians[1]).map(|(a, b)| (a - b).abs());
                assert!(difference.fold(0.0, f64::max) <= 1e-10);
            }
        }
    }
    Ok(())
}

/// At a solution of the prox, the dual point finds the scale 1; away from it, one that is feasible.
#[test]
fn the_dual_point_is_feasible_and_good_at_a_solution() -> Result<(), Error> {
    let penalty = OverlappingGroupLasso::new(0.5, N, &groups())?.with_l1(0.2)?;
    for seed in 0..40 {
        let u: Vec<f64> = normals(N, seed).iter().map(|u| 3.0 * u).collect();
        let mut w = u.clone();
        penalty.prox(&mut w, 1.0);
        assert!(w.iter().any(|w| *w != 0.0));
        let v: Vec<f64> = u.iter().zip(&w).map(|(u, w)| u - w).collect();
        let (t, conjugate) = penalty.dual_point(&w, &v);
        assert!(conjugate == 0.0 && (1.0 - 1e-12..=1.0).contains(&t), "{t}");
        let other = normals(N, seed + 500);
        let (t, _) = penalty.dual_point(&w, &other);
        assert!(t > 0.0 && t * penalty.dual_norm(&other) <= 1.0 + 1e-9, "{t}");
    }
    Ok(())
}

#[test]
fn hostile_values_and_groups() -> Result<(), Error> {
    let refused = |groups: Vec<Vec<usize>>| match OverlappingGroupLasso::new(1.0, 3, &groups) {
        Err(Error::InvalidPart { part: "group", number: 1, problem }) => problem,
        other => panic!("{other:?}"),
    };
    assert!(refused(vec![vec![0], vec![]]).contains("no coefficient"));
    assert!(refused(vec![vec![0], vec![1, 1]]).contains("twice"));
    assert!(refused(vec![vec![0], vec![3]]).contains("names coefficient 3"));
    assert!(OverlappingGroupLasso::new(f64::NAN, 3, &[]).is_err());
    assert!(OverlappingGroupLasso::new(1.0, 3, &[])?.with_l1(-1.0).is_err());

    let penalty = OverlappingGroupLasso::new(1.0, 3, &[vec![0, 1], vec![1, 2]])?;
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(penalty.dual_norm(&[bad, 0.0, 0.0]).is_infinite());
        assert_eq!(penalty.dual_scale(&[bad, 0.0, 0.0]), 0.0);
        assert_eq!(penalty.dual_point(&[1.0, 0.0, 0.0], &[bad, 0.0, 0.0]).0, 0.0);
    }
    // A coefficient in no group has no penalty: no other correlation than 0 is feasible.
    let free = OverlappingGroupLasso::new(1.0, 3, &[vec![0, 1]])?;
    assert!(free.dual_norm(&[0.0, 0.0, 1.0]).is_infinite());
    assert_eq!((free.dual_scale(&[0.1, 0.0, 1.0]), free.dual_scale(&[0.1, 0.0, 0.0])), (0.0, 1.0));
    let mut w = [5.0, 0.0, 2.0];
    free.prox(&mut w, 1.0);
    assert!(w[2] == 2.0 && w[0] > 0.0);
    let nothing = OverlappingGroupLasso::new(0.0, 3, &[vec![0, 1, 2]])?;
    let mut w = [5.0, 0.0, 2.0];
    nothing.prox(&mut w, 1.0);
    assert_eq!(w, [5.0, 0.0, 2.0]);
    Ok(())
}

/// `Ω(w) − ⟨s, w⟩` from the norm itself.
#[test]
fn a_tilted_norm_is_the_norm_less_a_linear_function() -> Result<(), Error> {
    let norm_of = || TreeLasso::new(0.8, N, &tree(N));
    for seed in 0..30 {
        let slope: Vec<f64> = normals(N, seed).iter().map(|s| 0.2 * s.clamp(-1.0, 1.0)).collect();
        let inner = norm_of()?;
        let tilted = Tilted::new(Box::new(norm_of()?), slope.clone())?;
        let u: Vec<f64> = normals(N, seed + 70).iter().map(|u| 9.0 * u).collect();
        assert!((tilted.value(&u) - (inner.value(&u) - dot(&slope, &u))).abs() <= 1e-13);
        let mut x = u.clone();
        tilted.prox(&mut x, 0.7);
        let mut expected: Vec<f64> = u.iter().zip(&slope).map(|(u, s)| u + 0.7 * s).collect();
        inner.prox(&mut expected, 0.7);
        assert_eq!(x, expected);
        let t = tilted.dual_scale(&u);
        let moved = |t: f64| u.iter().zip(&slope).map(|(u, s)| t * u + s).collect::<Vec<f64>>();
        assert!((0.0..1.0).contains(&t) && inner.conjugate(&moved(t)) == 0.0, "{t}");
        assert!(inner.conjugate(&moved(t * (1.0 + 1e-9))).is_infinite(), "{t}");
        let some = [0, 1, 2, 6, 7, 8];
        let part = tilted.restrict(&some);
        let mut whole = vec![0.0; N];
        some.iter().for_each(|&j| whole[j] = u[j]);
        let small: Vec<f64> = some.iter().map(|&j| u[j]).collect();
        assert!((part.value(&small) - tilted.value(&whole)).abs() <= 1e-13);
    }
    assert!(Tilted::new(Box::new(norm_of()?), vec![0.0; 2]).is_err());
    Ok(())
}
