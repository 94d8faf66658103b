//! Every penalty against its definitions: prox, Jacobian, conjugate, dual scale, screening, restriction.

use crate::common::{all_penalties, dot};
use fewest_solver::{
    BlockPenalty, Blocks, ElasticNetPenalty, Error, GraphFusedLasso, GroupLasso, L1, Penalty, SignedEdge,
};
use proptest::prelude::*;

/// Coefficients in the tests: groups of three, the last of two.
const N: usize = 8;

fn entries(penalty: &dyn BlockPenalty, block: usize, values: &[f64]) -> Vec<f64> {
    penalty.blocks().block(block).iter().map(|&j| values[j]).collect()
}

fn prox(penalty: &dyn BlockPenalty, block: usize, w: &[f64], step: f64) -> Vec<f64> {
    let mut moved = w.to_vec();
    penalty.prox_block(block, &mut moved, step);
    moved
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

/// All points of a grid of 13 steps an axis around `centre`.
fn grid(centre: &[f64], half_width: f64) -> Vec<Vec<f64>> {
    centre.iter().fold(vec![Vec::new()], |points, &c| {
        points
            .iter()
            .flat_map(|point| {
                (-6..=6).map(move |i| {
                    let mut longer = point.clone();
                    longer.push(c + half_width * f64::from(i) / 6.0);
                    longer
                })
            })
            .collect()
    })
}

fn values() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(-3.0..3.0_f64, N)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_prox_is_the_minimum(w in values(), step in 0.05..5.0_f64, lambda in 0.01..2.0_f64) {
        for (name, penalty) in all_penalties(lambda, N) {
            for b in 0..penalty.blocks().n_blocks() {
                let w = entries(&*penalty, b, &w);
                let value = |u: &[f64]| penalty.value_block(b, u) + squared_distance(u, &w) / (2.0 * step);
                let best = prox(&*penalty, b, &w, step);
                prop_assert!(value(&best).is_finite(), "{name}");
                let zero = vec![0.0; w.len()];
                for (centre, half_width) in [(&best, 1.0), (&best, 1e-3), (&w, 2.0), (&zero, 0.1)] {
                    for other in grid(centre, half_width) {
                        prop_assert!(value(&best) <= value(&other) + 1e-12, "{name}: {best:?} against {other:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_jacobian_is_the_derivative_of_the_prox(w in values(), step in 0.05..5.0_f64, lambda in 0.01..2.0_f64) {
        const H: f64 = 1e-6;
        for (name, penalty) in all_penalties(lambda, N) {
            for b in 0..penalty.blocks().n_blocks() {
                let w = entries(&*penalty, b, &w);
                let size = w.len();
                let mut jacobian = vec![f64::NAN; size * size];
                penalty.prox_jacobian_block(b, &w, step, &mut jacobian);
                let here = prox(&*penalty, b, &w, step);
                for j in 0..size {
                    let moved = |by: f64| {
                        let mut at = w.clone();
                        at[j] += by;
                        prox(&*penalty, b, &at, step)
                    };
                    let (ahead, behind) = (moved(H), moved(-H));
                    for i in 0..size {
                        let slopes = [(ahead[i] - here[i]) / H, (here[i] - behind[i]) / H];
                        // At a kink there is no derivative.
                        if (slopes[0] - slopes[1]).abs() < 1e-3 {
                            let slope = (ahead[i] - behind[i]) / (2.0 * H);
                            prop_assert!((slope - jacobian[i + j * size]).abs() < 1e-3, "{name}: {slope} {jacobian:?}");
                        }
                        prop_assert_eq!(jacobian[i + j * size], jacobian[j + i * size]);
                    }
                }
            }
        }
    }

    #[test]
    fn conjugates_obey_fenchel_and_young(
        w in values(), u in values(), step in 0.05..5.0_f64, lambda in 0.01..2.0_f64, share in 0.0..1.5_f64,
    ) {
        for (name, penalty) in all_penalties(lambda, N) {
            for b in 0..penalty.blocks().n_blocks() {
                let (w, u) = (entries(&*penalty, b, &w), entries(&*penalty, b, &u));
                // Every pair obeys the inequality …
                let v: Vec<f64> = w.iter().map(|w| share * w).collect();
                let slack = penalty.value_block(b, &u) + penalty.conjugate_block(b, &v) - dot(&u, &v);
                prop_assert!(slack >= -1e-9, "{name}: {slack}");
                // … and a point of the prox with its subgradient meets it.
                let point = prox(&*penalty, b, &w, step);
                let slope: Vec<f64> = w.iter().zip(&point).map(|(w, p)| (w - p) / step).collect();
                let gap = penalty.value_block(b, &point) + penalty.conjugate_block(b, &slope) - dot(&point, &slope);
                prop_assert!(gap.abs() <= 1e-9, "{name}: {gap}");
            }
        }
    }

    #[test]
    fn the_dual_scale_is_the_largest(v in values(), lambda in 0.01..2.0_f64) {
        for (name, penalty) in all_penalties(lambda, N) {
            for b in 0..penalty.blocks().n_blocks() {
                let v = entries(&*penalty, b, &v);
                let t = penalty.dual_scale_block(b, &v);
                let conjugate = |t: f64| penalty.conjugate_block(b, &v.iter().map(|v| t * v).collect::<Vec<_>>());
                prop_assert!((0.0..=1.0).contains(&t));
                prop_assert!(conjugate(t).is_finite(), "{name}");
                prop_assert!(t == 1.0 || conjugate(t * (1.0 + 1e-9)).is_infinite(), "{name}: {t}");
            }
            let scales = (0..penalty.blocks().n_blocks()).map(|b| penalty.dual_scale_block(b, &entries(&*penalty, b, &v)));
            prop_assert_eq!(penalty.dual_scale(&v), scales.fold(1.0, f64::min));
        }
    }

    /// A block is zero at the optimum exactly when the prox takes its correlations to zero.
    #[test]
    fn what_is_screened_is_zero_in_the_whole_sphere(
        v in values(), radius in 0.0..0.5_f64, lambda in 0.5..3.0_f64, away in values(),
    ) {
        for (name, penalty) in all_penalties(lambda, N) {
            for b in 0..penalty.blocks().n_blocks() {
                let (v, away) = (entries(&*penalty, b, &v), entries(&*penalty, b, &away));
                let radii = vec![radius; v.len()];
                if penalty.is_screened(b, &v, &radii) {
                    let sign = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
                    let worst: Vec<f64> = v.iter().map(|v| v + radius * sign(*v)).collect();
                    let some: Vec<f64> = v.iter().zip(&away).map(|(v, a)| v + radius * a / 3.0).collect();
                    for inside in [&v, &worst, &some] {
                        prop_assert!(prox(&*penalty, b, inside, 1.0).iter().all(|w| *w == 0.0), "{name}");
                    }
                }
                // The test is not idle: zero correlations are screened.
                prop_assert!(penalty.is_screened(b, &vec![0.0; v.len()], &vec![1e-3; v.len()]), "{name}");
            }
        }
    }

    #[test]
    fn a_restricted_penalty_is_the_penalty_of_its_part(
        w in values(), step in 0.05..5.0_f64, lambda in 0.01..2.0_f64, chosen in 0_usize..256,
    ) {
        for (name, penalty) in all_penalties(lambda, N) {
            let blocks = penalty.blocks();
            let mut kept: Vec<usize> = (0..blocks.n_blocks())
                .filter(|b| chosen >> b & 1 == 1)
                .flat_map(|b| blocks.block(b).to_vec())
                .collect();
            kept.sort_unstable();
            let part = penalty.restrict(&kept);
            let mut whole = vec![0.0; N];
            kept.iter().for_each(|&j| whole[j] = w[j]);
            let mut small: Vec<f64> = kept.iter().map(|&j| w[j]).collect();
            prop_assert_eq!(part.blocks().n_coefficients(), kept.len());
            let (a, b) = (part.value(&small), penalty.value(&whole));
            prop_assert!(a == b || (a - b).abs() <= 1e-12, "{name}: {a} {b}");
            prop_assert!(part.conjugate(&small) == penalty.conjugate(&whole), "{name}");
            prop_assert_eq!(part.dual_scale(&small), penalty.dual_scale(&whole));
            part.prox(&mut small, step);
            penalty.prox(&mut whole, step);
            prop_assert!(kept.iter().zip(&small).all(|(&j, value)| whole[j] == *value), "{name}");
            // Restricting twice is restricting once.
            let again = part.restrict(&(0..kept.len()).collect::<Vec<_>>());
            prop_assert_eq!(again.value(&small), part.value(&small));
        }
    }
}

#[test]
fn a_step_of_zero_projects_on_the_domain() {
    let w = [1.0, -2.0, 0.5, -1e-9, 3.0, 0.0, -0.1, 2.0];
    for (name, penalty) in all_penalties(0.7, N) {
        let mut moved = w;
        penalty.prox(&mut moved, 0.0);
        let signed = penalty.value(&[-1.0; N]).is_finite();
        let expected = if signed { w } else { w.map(|w: f64| w.max(0.0)) };
        assert!(moved.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-15), "{name}: {moved:?}");
    }
}

#[test]
fn forbidden_signs_have_infinite_value() {
    for (name, penalty) in all_penalties(0.7, N).iter().filter(|(name, _)| name.contains("non-negative")) {
        assert!(penalty.value(&[-1e-300; N]).is_infinite(), "{name}");
        assert!(penalty.value(&[0.0; N]) == 0.0, "{name}");
    }
}

#[test]
fn weights_by_hand() {
    let l1 = L1::weighted(2.0, &[1.0, 0.0, 3.0]).unwrap();
    assert_eq!(l1.value(&[1.0, 5.0, -2.0]), 14.0);
    assert_eq!(l1.levels(), [2.0, 0.0, 6.0]);
    let groups = GroupLasso::new(2.0, &[7, 1, 7]).unwrap().weighted_by_size();
    let expected = 2.0 * (2_f64.sqrt() * 5.0 + 2.0);
    assert!((groups.value(&[3.0, -2.0, 4.0]) - expected).abs() < 1e-12);
    let net = ElasticNetPenalty::new(L1::new(1.0, 2).unwrap(), 0.5).unwrap();
    assert_eq!(net.value(&[2.0, -1.0]), 3.0 + 0.25 * 5.0);
}

#[test]
fn blocks_partition_the_coefficients() {
    let blocks = Blocks::from_groups(&[5, 2, 5, 9, 2]);
    assert_eq!(blocks.iter().collect::<Vec<_>>(), [&[1, 4][..], &[0, 2], &[3]]);
    assert_eq!((blocks.n_blocks(), blocks.n_coefficients(), blocks.n_blocks() == 0), (3, 5, false));
    assert!(Blocks::from_groups(&[]).n_blocks() == 0 && Blocks::separable(0).n_blocks() == 0);
}

#[test]
fn parameters_out_of_range_are_refused() {
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(L1::new(bad, 2), Err(Error::InvalidParameter { name: "lambda", .. })));
        assert!(matches!(L1::weighted(bad, &[1.0]), Err(Error::InvalidParameter { name: "lambda", .. })));
        assert!(matches!(
            L1::weighted(1.0, &[1.0, bad]),
            Err(Error::InvalidParameter { name: "weight", .. })
        ));
        assert!(matches!(GroupLasso::new(bad, &[0]), Err(Error::InvalidParameter { name: "lambda", .. })));
        let l1 = L1::new(1.0, 1).unwrap();
        assert!(matches!(
            ElasticNetPenalty::new(l1, bad),
            Err(Error::InvalidParameter { name: "ridge", .. })
        ));
    }
    let l1 = L1::new(1.0, 1).unwrap();
    assert!(matches!(ElasticNetPenalty::new(l1, 0.0), Err(Error::InvalidParameter { name: "ridge", .. })));
    assert!(matches!(L1::weighted(1e300, &[1e300]), Err(Error::InvalidParameter { .. })));
}

/// A penalty that brings what is required and nothing else.
struct Plain(Box<dyn BlockPenalty>);

fewest_solver::penalty_of_blocks!(Plain, "plain");

impl BlockPenalty for Plain {
    fn blocks(&self) -> &Blocks {
        self.0.blocks()
    }

    fn value_block(&self, block: usize, w: &[f64]) -> f64 {
        self.0.value_block(block, w)
    }

    fn prox_block(&self, block: usize, w: &mut [f64], step: f64) {
        self.0.prox_block(block, w, step);
    }

    fn restrict(&self, coefficients: &[usize]) -> Box<dyn BlockPenalty> {
        Box::new(Self(self.0.restrict(coefficients)))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// What follows from the prox is what the formulas of norms say, and safe for a penalty that is none.
    #[test]
    fn the_defaults_are_the_formulas(
        v in values(), radius in 0.0..0.5_f64, step in 0.05..5.0_f64, lambda in 0.3..3.0_f64,
    ) {
        for (name, penalty) in all_penalties(lambda, N) {
            let is_norm = !name.contains("net");
            let plain = Plain(penalty.restrict(&(0..N).collect::<Vec<_>>()));
            for b in 0..penalty.blocks().n_blocks() {
                let v = entries(&*penalty, b, &v);
                let (formula, default) = (penalty.conjugate_block(b, &v), plain.conjugate_block(b, &v));
                prop_assert!(formula <= default && (!is_norm || formula == default), "{name}: {formula} {default}");
                let (formula, default) = (penalty.dual_scale_block(b, &v), plain.dual_scale_block(b, &v));
                prop_assert!(default <= formula * (1.0 + 1e-14), "{name}: {formula} {default}");
                prop_assert!(!is_norm || default >= formula * (1.0 - 1e-14), "{name}: {formula} {default}");
                let scaled: Vec<f64> = v.iter().map(|v| default * v).collect();
                prop_assert_eq!(plain.conjugate_block(b, &scaled), 0.0);

                let radii = vec![radius; v.len()];
                let screened = plain.is_screened(b, &v, &radii);
                prop_assert!(!screened || penalty.is_screened(b, &v, &radii), "{name}");
                if v.len() == 1 {
                    let wider = [radius * 1.001 + 1e-9];
                    prop_assert!(screened || !penalty.is_screened(b, &v, &wider), "{name}");
                }

                let mut jacobians = [vec![f64::NAN; v.len() * v.len()], vec![f64::NAN; v.len() * v.len()]];
                penalty.prox_jacobian_block(b, &v, step, &mut jacobians[0]);
                plain.prox_jacobian_block(b, &v, step, &mut jacobians[1]);
                // Away from kinks.
                let moved = |by: f64| prox(&*penalty, b, &v.iter().map(|v| v * (1.0 + by)).collect::<Vec<_>>(), step);
                let zeros = |w: &[f64]| w.iter().map(|w| *w == 0.0).collect::<Vec<_>>();
                if zeros(&moved(1e-4)) == zeros(&moved(-1e-4)) && v.iter().all(|v| v.abs() > 1e-3) {
                    for (a, b) in jacobians[0].iter().zip(&jacobians[1]) {
                        prop_assert!((a - b).abs() < 1e-5, "{name}: {a} {b}");
                    }
                }
            }
        }
    }

    /// `Ω` scaled by its dual norm of `v`, and by no less, keeps zero the solution.
    #[test]
    fn the_dual_norm_is_the_largest_useful_penalty(v in values(), lambda in 0.3..3.0_f64) {
        for (name, penalty) in all_penalties(lambda, N) {
            let t = penalty.dual_norm(&v);
            let held = |t: f64| {
                let mut moved = v.clone();
                penalty.prox(&mut moved, t);
                moved.iter().all(|w| *w == 0.0)
            };
            prop_assert!(held(t * (1.0 + 1e-12)), "{name}: {t}");
            prop_assert!(t == 0.0 || !held(t * (1.0 - 1e-12)), "{name}: {t}");
            if name == "l1" {
                let largest = v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
                prop_assert!((t * lambda - largest).abs() <= 1e-12 * largest);
            }
        }
    }
}

/// The two agree to 4e-15; where what a cut leaves as rounding was a share of 1e-14 for graphs of any size, a
/// fifth of these did not.
#[test]
fn a_scale_by_cuts_is_one_by_proxes() {
    for seed in 1..=300 {
        let v: Vec<f64> = (0..N).map(|i| 3.0 * ((i * i + 7 * i + 13 * seed) as f64 * 0.731).sin()).collect();
        let lambda = 0.3 + 0.009 * seed as f64;
        let (name, pairs) = all_penalties(lambda, N).into_iter().find(|(name, _)| *name == "pairs").unwrap();
        let plain = Plain(pairs.restrict(&(0..N).collect::<Vec<_>>()));
        for b in 0..pairs.blocks().n_blocks() {
            let v = entries(&*pairs, b, &v);
            let (cuts, proxes) = (pairs.dual_scale_block(b, &v), plain.dual_scale_block(b, &v));
            assert!((proxes / cuts - 1.0).abs() <= 4e-15, "{name}, {seed}: {cuts} {proxes}");
        }
    }
}

/// A point outside is not held, however many nodes share what it is too much.
#[test]
fn many_coefficients_hold_no_more_than_they_can() {
    let n = 10_000;
    let edges: Vec<SignedEdge> =
        (1..n).map(|j| SignedEdge { ends: (0, j), weight: 1.0, opposite: false }).collect();
    let star = GraphFusedLasso::new(1.0, n, &edges).unwrap();
    let v = vec![1.0 + 1e-12; n];
    let scale = star.dual_scale_block(0, &v);
    assert!((scale * (1.0 + 1e-12) - 1.0).abs() < 1e-13, "{scale}");
    assert!(!star.is_screened(0, &v, &vec![1e-15; n]));
}

/// Two that other random cases found: formulas that screened less than what follows from the prox.
#[test]
fn formulas_screen_what_proxes_do() {
    let group = GroupLasso::new(0.3, &[0, 0]).unwrap().weighted_by_size();
    let (v, radius) = ([-0.38, -2.28], [0.339; 2]);
    assert!(group.clone().nonnegative().is_screened(0, &v, &radius) && !group.is_screened(0, &v, &radius));
    assert!(!group.clone().nonnegative().is_screened(0, &[f64::NAN, 0.0], &radius));
    assert!(!group.is_screened(0, &[0.0, 0.0], &[f64::NAN, 0.0]));
    let (_, pairs) = all_penalties(1.2, N).into_iter().find(|(name, _)| *name == "pairs").unwrap();
    assert!(pairs.is_screened(0, &[0.0; 3], &[0.38; 3]) && !pairs.is_screened(0, &[0.0; 3], &[3.0; 3]));
    for unbounded in [f64::INFINITY, f64::NAN, 1e308] {
        assert!(!pairs.is_screened(0, &[0.0; 3], &[0.1, unbounded, 0.1]), "{unbounded}");
    }
}

#[test]
fn no_factor_is_enough_where_a_coefficient_is_free() {
    let free = L1::weighted(1.0, &[1.0, 0.0]).unwrap();
    assert_eq!(free.dual_norm(&[3.0, 1.0]), f64::INFINITY);
    // Also where others follow, of which no step is then asked for.
    let edge = |a, b| SignedEdge { ends: (a, b), weight: 1.0, opposite: false };
    let edges = [edge(0, 1), edge(2, 3)];
    let all_free = GraphFusedLasso::new(0.0, 4, &edges).unwrap();
    // Rounding in a step of such a length may leave nothing.
    assert!(all_free.dual_norm(&[1.0; 4]) > 1e15);
    assert_eq!(free.dual_norm(&[3.0, 0.0]), 3.0);
    assert!((Plain(Box::new(free)).dual_scale(&[3.0, 0.0]) - 1.0 / 3.0).abs() < 1e-15);
}

/// A prox that moves zero, as that of no penalty does.
struct Moving;

impl Penalty for Moving {
    fn name(&self) -> &'static str {
        "moving"
    }

    fn n_coefficients(&self) -> usize {
        1
    }

    fn value(&self, _: &[f64]) -> f64 {
        0.0
    }

    fn prox(&self, w: &mut [f64], _: f64) {
        w[0] += 1.0;
    }
}

#[test]
fn the_dual_norm_of_what_has_none_is_infinite() {
    let l1 = L1::new(1.0, 2).unwrap();
    for v in [[f64::NAN, f64::NAN], [1.0, f64::NAN], [f64::INFINITY, 1.0], [0.0, f64::NEG_INFINITY]] {
        assert_eq!(l1.dual_norm(&v), f64::INFINITY, "{v:?}");
    }
    assert_eq!(l1.dual_norm(&[0.0, f64::MIN_POSITIVE]), f64::MIN_POSITIVE);
    assert_eq!(Moving.dual_norm(&[0.0]), f64::INFINITY);
}

/// A penalty without blocks.
struct Whole;

impl Penalty for Whole {
    fn name(&self) -> &'static str {
        "whole"
    }

    fn n_coefficients(&self) -> usize {
        2
    }

    fn value(&self, w: &[f64]) -> f64 {
        (w[0] - w[1]).abs()
    }

    fn prox(&self, w: &mut [f64], step: f64) {
        let (mean, half) = (0.5 * (w[0] + w[1]), 0.5 * (w[0] - w[1]));
        let shrunk = (half.abs() - step).max(0.0).copysign(half);
        (w[0], w[1]) = (mean + shrunk, mean - shrunk);
    }
}

#[test]
fn a_solver_of_blocks_refuses_a_penalty_without_by_its_name() {
    let whole: &dyn Penalty = &Whole;
    let error = whole.convex_blocks("cd").err().unwrap();
    assert!(
        matches!(&error, Error::Unsupported { method: "cd", what, .. } if what.contains("whole")),
        "{error}"
    );
    // Correlations that sum to zero are held by a factor of half their difference.
    assert!((whole.dual_norm(&[1.5, -1.5]) - 1.5).abs() < 1e-12);
    assert_eq!(whole.dual_norm(&[1.0, 1.0]), f64::INFINITY);
    assert!(L1::new(1.0, 2).is_ok_and(|l1| (&l1 as &dyn Penalty).convex_blocks("cd").is_ok()));
}
