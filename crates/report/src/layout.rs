//! Places for the nodes of a network by forces: Fruchterman and Reingold, Software: Practice and Experience
//! 21 (1991), Eqs. 1 and 2, with a pull to the middle that keeps the parts of a network together.

/// Rounds of moves: a bound on the time, and with the fixed start the reason for the same places every time.
const ROUNDS: usize = 150;
/// Links of a node that pull with their whole force; those of networks with more pull less, or their nodes
/// would lie over each other.
const LINKS: f64 = 4.0;
/// The golden angle: the start is a spiral that fills a disc evenly.
const TURN: f64 = 2.399_963_229_728_653;
/// Below this squared distance nodes push no harder.
const NEAR: f64 = 1e-4;

/// The place of each of `n_nodes` nodes in the unit square, linked ones near each other.
///
/// With ideal distance 1, two nodes at distance `d` push each other apart by `1/d`, a link pulls by
/// `d² min(1, 4/mean degree)`, and the middle pulls by `d`. The longest move of a round falls linearly to 0.
/// Links of a node to itself do nothing. The result is a function of the arguments alone: it uses neither
/// chance nor threads.
///
/// # Complexity
/// Time O(n_nodes² + links), memory O(n_nodes).
pub(super) fn places(n_nodes: usize, links: &[(usize, usize)]) -> Vec<[f64; 2]> {
    let radius = (n_nodes as f64).sqrt();
    let mut places: Vec<[f64; 2]> = (0..n_nodes)
        .map(|i| {
            let (sin, cos) = (i as f64 * TURN).sin_cos();
            let from_middle = (i as f64 + 0.5).sqrt();
            [from_middle * cos, from_middle * sin]
        })
        .collect();
    let strength = (LINKS * n_nodes as f64 / (2.0 * links.len() as f64)).min(1.0);
    let mut forces = vec![[0.0; 2]; n_nodes];
    for round in 0..ROUNDS {
        let longest = 0.2 * radius * (1.0 - round as f64 / ROUNDS as f64);
        for (force, place) in forces.iter_mut().zip(&places) {
            *force = [-place[0], -place[1]];
        }
        push(&places, &mut forces);
        for &(a, b) in links {
            let (x, y) = (places[b][0] - places[a][0], places[b][1] - places[a][1]);
            let pull = strength * x.hypot(y);
            add(&mut forces[a], [pull * x, pull * y]);
            add(&mut forces[b], [-pull * x, -pull * y]);
        }
        for (place, force) in places.iter_mut().zip(&forces) {
            let length = force[0].hypot(force[1]);
            let share = if length > longest { longest / length } else { 1.0 };
            add(place, [share * force[0], share * force[1]]);
        }
    }
    fit(&mut places);
    places
}

/// Every node pushes every other one.
fn push(places: &[[f64; 2]], forces: &mut [[f64; 2]]) {
    for (i, a) in places.iter().enumerate() {
        let mut own = [0.0; 2];
        for (b, force) in places[i + 1..].iter().zip(&mut forces[i + 1..]) {
            let (x, y) = (a[0] - b[0], a[1] - b[1]);
            let share = 1.0 / (x * x + y * y).max(NEAR);
            add(&mut own, [share * x, share * y]);
            add(force, [-share * x, -share * y]);
        }
        add(&mut forces[i], own);
    }
}

fn add(to: &mut [f64; 2], what: [f64; 2]) {
    to[0] += what[0];
    to[1] += what[1];
}

/// Moves and scales the places into the unit square, as large as possible, without changing their shape.
fn fit(places: &mut [[f64; 2]]) {
    let range = |axis: usize| {
        let values = places.iter().map(|place| place[axis]);
        values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let ranges = [range(0), range(1)];
    let side = (ranges[0].1 - ranges[0].0).max(ranges[1].1 - ranges[1].0);
    for place in places {
        for (value, (low, high)) in place.iter_mut().zip(ranges) {
            *value = if side > 0.0 { 0.5 + (*value - 0.5 * (low + high)) / side } else { 0.5 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups of `size` nodes, all linked within, and one link between.
    fn cliques(size: usize) -> Vec<(usize, usize)> {
        let within =
            |from: usize| (from..from + size).flat_map(move |i| (i + 1..from + size).map(move |j| (i, j)));
        within(0).chain(within(size)).chain([(0, size)]).collect()
    }

    fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
        (a[0] - b[0]).hypot(a[1] - b[1])
    }

    fn is_in_square(places: &[[f64; 2]]) -> bool {
        places.iter().flatten().all(|value| (-1e-12..=1.0 + 1e-12).contains(value))
    }

    #[test]
    fn cliques_lie_apart() {
        for size in [3, 10, 40] {
            let places = places(2 * size, &cliques(size));
            let middle = |from: usize| {
                let sum =
                    places[from..from + size].iter().fold([0.0; 2], |sum, p| [sum[0] + p[0], sum[1] + p[1]]);
                sum.map(|value| value / size as f64)
            };
            let middles = [middle(0), middle(size)];
            let within = places.iter().enumerate().map(|(i, &place)| distance(place, middles[i / size]));
            let largest = within.fold(0.0, f64::max);
            assert!(distance(middles[0], middles[1]) > 2.0 * largest, "size {size}: {places:?}");
        }
    }

    #[test]
    fn the_same_bits_for_any_number_of_threads() {
        let alone = places(60, &cliques(30));
        for threads in [1, 2, 7] {
            let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else {
                panic!("{threads} threads")
            };
            assert_eq!(pool.install(|| places(60, &cliques(30))), alone, "{threads} threads");
        }
    }

    #[test]
    fn strange_networks_have_places() {
        assert!(places(0, &[]).is_empty());
        assert_eq!(places(1, &[]), [[0.5, 0.5]]);
        assert_eq!(places(1, &[(0, 0)]), [[0.5, 0.5]]);
        assert_eq!(places(3, &[(0, 1), (2, 2)]), places(3, &[(0, 1), (1, 1)]), "links to itself do nothing");
        for links in [vec![], vec![(0, 1)], vec![(0, 1), (0, 1), (1, 0)], (1..50).map(|i| (0, i)).collect()] {
            let places = places(50, &links);
            assert!(is_in_square(&places), "{places:?}");
            for (i, &a) in places.iter().enumerate() {
                for &b in &places[i + 1..] {
                    assert!(distance(a, b) > 1e-3, "node {i} lies on another: {places:?}");
                }
            }
        }
    }

    #[test]
    fn large_networks_fill_the_square() {
        let links: Vec<(usize, usize)> =
            (0..100_000).map(|l| (l % 1000, (l * 7919 + l / 1000) % 1000)).collect();
        let places = places(1000, &links);
        assert!(is_in_square(&places));
        for axis in [0, 1] {
            let values: Vec<f64> = places.iter().map(|place| place[axis]).collect();
            let middle = values.iter().sum::<f64>() / 1000.0;
            let deviation =
                (values.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / 1000.0).sqrt();
            assert!(deviation > 0.15, "{deviation} along axis {axis}");
        }
    }
}
