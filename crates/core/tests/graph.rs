//! Laws of graphs, against matrices of all pairs.

use fewest_core::{Error, Graph};
use proptest::prelude::*;

/// A graph with at most 12 nodes, and its matrix.
fn graph() -> impl Strategy<Value = (Graph, Vec<Vec<f64>>)> {
    (1_usize..12, any::<bool>(), prop::collection::vec((0_usize..12, 0_usize..12, 0.1_f64..5.0), 0..40))
        .prop_map(|(n, directed, links)| {
            let mut matrix = vec![vec![0.0; n]; n];
            let mut kept = Vec::new();
            for (a, b, weight) in links {
                let (a, b) = (a % n, b % n);
                if a == b || matrix[a][b] > 0.0 {
                    continue;
                }
                matrix[a][b] = weight;
                if !directed {
                    matrix[b][a] = weight;
                }
                kept.push((a, b, weight));
            }
            let made = if directed { Graph::directed(n, &kept) } else { Graph::undirected(n, &kept) };
            (made.unwrap(), matrix)
        })
}

fn matrix(graph: &Graph) -> Vec<Vec<f64>> {
    let row = |i| {
        let mut row = vec![0.0; graph.n_nodes()];
        for (&j, &weight) in graph.neighbours(i).iter().zip(graph.weights(i)) {
            row[j as usize] = weight;
        }
        row
    };
    (0..graph.n_nodes()).map(row).collect()
}

proptest! {
    #[test]
    fn a_graph_is_its_matrix((graph, expected) in graph()) {
        prop_assert_eq!(matrix(&graph), expected.clone());
        let stored = expected.iter().flatten().filter(|weight| **weight > 0.0).count();
        prop_assert_eq!(graph.n_links(), if graph.is_directed() { stored } else { stored / 2 });
        for i in 0..graph.n_nodes() {
            prop_assert!(graph.neighbours(i).windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert_eq!(graph.degree(i), expected[i].iter().filter(|weight| **weight > 0.0).count());
        }
        let links: Vec<_> = graph.links().collect();
        let again =
            if graph.is_directed() { Graph::directed(graph.n_nodes(), &links) } else { Graph::undirected(graph.n_nodes(), &links) };
        prop_assert_eq!(again.unwrap(), graph);
    }

    #[test]
    fn transposing_and_symmetrising_are_those_of_the_matrix((graph, expected) in graph()) {
        let n = graph.n_nodes();
        let transposed: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| expected[j][i]).collect()).collect();
        prop_assert_eq!(matrix(&graph.transposed()), transposed);
        let symmetric: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| expected[i][j].max(expected[j][i])).collect()).collect();
        let symmetrised = graph.symmetrised();
        prop_assert!(!symmetrised.is_directed());
        prop_assert_eq!(matrix(&symmetrised), symmetric);
        prop_assert_eq!(graph.components(), symmetrised.components());
    }

    #[test]
    fn a_subset_is_a_part_of_the_matrix((graph, expected) in graph(), nodes in prop::collection::vec(0_usize..12, 0..20)) {
        let nodes: Vec<usize> = nodes.into_iter().map(|node| node % graph.n_nodes()).collect();
        let part: Vec<Vec<f64>> =
            nodes.iter().map(|&i| nodes.iter().map(|&j| expected[i][j]).collect()).collect();
        let subset = graph.subset(&nodes).unwrap();
        prop_assert_eq!(subset.is_directed(), graph.is_directed());
        prop_assert_eq!(matrix(&subset), part);
    }

    #[test]
    fn nodes_are_in_one_component_where_a_walk_joins_them((graph, expected) in graph()) {
        let n = graph.n_nodes();
        let mut reached: Vec<Vec<bool>> =
            (0..n).map(|i| (0..n).map(|j| i == j || expected[i][j] > 0.0 || expected[j][i] > 0.0).collect()).collect();
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    reached[i][j] |= reached[i][k] && reached[k][j];
                }
            }
        }
        let components = graph.components();
        for i in 0..n {
            for j in 0..n {
                prop_assert_eq!(components[i] == components[j], reached[i][j]);
            }
        }
        // Numbered in the order of their lowest nodes.
        let mut next = 0;
        for &component in &components {
            prop_assert!(component <= next);
            next = next.max(component + 1);
        }
    }
}

#[test]
fn links_that_cannot_be_are_named() {
    let wrong = |links: &[(usize, usize, f64)], directed: bool| {
        let made = if directed { Graph::directed(4, links) } else { Graph::undirected(4, links) };
        match made {
            Err(Error::InvalidPart { part: "link", number, .. }) => Some(number),
            Err(other) => panic!("{other}"),
            Ok(_) => None,
        }
    };
    for directed in [false, true] {
        assert_eq!(wrong(&[], directed), None);
        assert_eq!(wrong(&[(0, 1, 1.0), (1, 4, 1.0)], directed), Some(1));
        assert_eq!(wrong(&[(9, 1, 1.0)], directed), Some(0));
        assert_eq!(wrong(&[(0, 1, 1.0), (2, 3, 1.0), (2, 2, 1.0)], directed), Some(2));
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(wrong(&[(0, 1, 1.0), (1, 2, weight)], directed), Some(1), "{weight}");
        }
        assert_eq!(wrong(&[(3, 1, 1.0), (0, 1, 1.0), (3, 1, 1.0)], directed), Some(2));
        // The other way round is a second link only where links have directions.
        assert_eq!(wrong(&[(3, 1, 1.0), (1, 3, 2.0)], directed), if directed { None } else { Some(1) });
    }
    let graph = Graph::undirected(3, &[(0, 1, 1.0)]).unwrap();
    assert!(matches!(graph.subset(&[0, 3]), Err(Error::InvalidParameter { name: "nodes", .. })));
}

#[test]
fn graphs_without_nodes_or_links_are_graphs() {
    let empty = Graph::undirected(0, &[]).unwrap();
    assert_eq!((empty.n_nodes(), empty.n_links(), empty.components().len()), (0, 0, 0));
    let isolated = Graph::directed(3, &[]).unwrap();
    assert_eq!(isolated.components(), [0, 1, 2]);
    assert_eq!(isolated.symmetrised().n_links(), 0);
}
