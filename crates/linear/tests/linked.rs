//! Methods whose samples are linked.

use fewest_core::method::Regularization;
use fewest_core::{
    Authors, Budget, Context, Dataset, DenseColumns, Error, Graph, Selection, Selector, Target,
};
use fewest_linear::{FsNet, L21, LinkedFs};

const N: usize = 40;
const D: usize = 8;

fn column(j: usize) -> Vec<f64> {
    (0..N).map(|i| ((i * (7 * j + 3) + j) % 41) as f64 / 20.0 - 1.0).collect()
}

fn classes() -> Vec<usize> {
    (0..N).map(|i| usize::from(column(0)[i] > 0.3) + usize::from(column(1)[i] > 0.0)).collect()
}

fn data(order: &[usize]) -> Dataset {
    let columns: Vec<Vec<f64>> = (0..D).map(|j| order.iter().map(|&i| column(j)[i]).collect()).collect();
    let labels: Vec<usize> = order.iter().map(|&i| classes()[i]).collect();
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&labels)).unwrap()
}

fn links() -> Vec<(usize, usize, f64)> {
    // Two samples at the end have none.
    (0..N - 3).map(|i| (i, i + 1, 1.0 + (i % 3) as f64)).chain([(0, 20, 0.5), (3, 30, 2.0)]).collect()
}

fn authors() -> Authors {
    let follows = [(0, 1, 1.0), (1, 0, 2.0), (2, 1, 1.0), (3, 1, 1.0), (9, 4, 1.0), (9, 5, 1.0), (6, 9, 1.0)];
    Authors::new((0..N).map(|i| i % 9).collect(), Graph::directed(10, &follows).unwrap()).unwrap()
}

fn select(selector: &dyn Selector, data: &Dataset) -> Selection {
    selector.select(data, Budget::Auto, &Context::default()).unwrap()
}

fn standardised() -> Vec<Vec<f64>> {
    (0..D)
        .map(|j| {
            let x = column(j);
            let mean = x.iter().sum::<f64>() / N as f64;
            let deviation = (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / N as f64).sqrt();
            x.iter().map(|v| (v - mean) / deviation).collect()
        })
        .collect()
}

/// The squares of `z` over differences, by their definition.
fn relations(z: &[f64]) -> f64 {
    let authors = authors();
    let by =
        |u: usize| -> Vec<f64> { (0..N).filter(|&i| authors.of_sample()[i] == u).map(|i| z[i]).collect() };
    let mean = |u: usize| by(u).iter().sum::<f64>() / by(u).len() as f64;
    let square = |u: usize, v: usize| (mean(u) - mean(v)).powi(2);
    let copost: f64 = (0..N)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .filter(|&(i, j)| authors.of_sample()[i] == authors.of_sample()[j])
        .map(|(i, j)| (z[i] - z[j]).powi(2))
        .sum();
    // 0, 2 and 3 follow 1; 9, who wrote nothing, follows 4 and 5.
    let cofollowing = square(0, 2) + square(0, 3) + square(2, 3);
    let cofollowed = square(4, 5);
    let following = square(0, 1) + 2.0 * square(1, 0) + square(2, 1) + square(3, 1);
    0.5 * copost + 0.7 * cofollowing + 0.2 * cofollowed + 0.3 * following
}

/// The least value of the objective as the page has it, by another method, is the one that is reported.
#[test]
fn objectives_are_those_of_the_definition() {
    let data = data(&(0..N).collect::<Vec<_>>())
        .with_authors(authors())
        .unwrap()
        .with_sample_graph(Graph::undirected(N, &links()).unwrap())
        .unwrap();
    let x = standardised();
    let lambda = 0.05;
    let regularization = Regularization::Value(lambda);
    let linked = LinkedFs {
        regularization,
        copost: 0.5,
        cofollowing: 0.7,
        cofollowed: 0.2,
        following: 0.3,
        ..LinkedFs::default()
    };
    let network = |z: &[f64]| -> f64 { links().iter().map(|&(i, j, a)| a * (z[i] - z[j]).powi(2)).sum() };
    let net = FsNet { regularization, graph: 0.4, ridge: 2.0, ..FsNet::default() };
    let of_links = |z: &[f64]| 0.4 * network(z);
    for is_network in [false, true] {
        let (method, ridge): (&dyn Selector, f64) = if is_network { (&net, 2.0) } else { (&linked, 0.0) };
        let penalty = |z: &[f64]| if is_network { of_links(z) } else { relations(z) };
        let selection = select(method, &data);
        let report = selection.solver.as_ref().unwrap();
        assert!(report.certificate.value() < 1e-9);
        // The objective without any feature, from the definition, and the smallest by a descent of our own.
        let labels = classes();
        let targets: Vec<Vec<f64>> = (0..3)
            .map(|c| {
                let share = labels.iter().filter(|&&label| label == c).count() as f64 / N as f64;
                labels.iter().map(|&label| f64::from(u8::from(label == c)) - share).collect()
            })
            .collect();
        let objective = |w: &[f64]| -> f64 {
            let mut sum = 0.0;
            for (c, y) in targets.iter().enumerate() {
                let z: Vec<f64> =
                    (0..N).map(|i| (0..D).map(|j| x[j][i] * w[3 * j + c]).sum::<f64>()).collect();
                sum += z.iter().zip(y).map(|(z, y)| (y - z).powi(2)).sum::<f64>() + penalty(&z);
            }
            sum += ridge * w.iter().map(|w| w * w).sum::<f64>();
            let norms: f64 = w.chunks(3).map(|row| row.iter().map(|w| w * w).sum::<f64>().sqrt()).sum();
            sum / (2.0 * N as f64) + lambda * norms
        };
        let found = least(&objective);
        let reported = selection.objective.unwrap_or(report.objective);
        assert!((found - reported).abs() < 1e-6 * reported, "{found} and {reported}");
        assert!(reported < objective(&[0.0; 3 * D]));
    }
}

/// The minimum by proximal steps with a numerical gradient of the smooth part.
fn least(objective: &dyn Fn(&[f64]) -> f64) -> f64 {
    let mut w = vec![0.0; 3 * D];
    let norms = |w: &[f64]| -> f64 {
        w.chunks(3).map(|row| row.iter().map(|w| w * w).sum::<f64>().sqrt()).sum::<f64>() * 0.05
    };
    // The smooth part is quadratic: central differences are exact.
    let smooth = |w: &[f64]| objective(w) - norms(w);
    let step = 0.05;
    for _ in 0..1000 {
        let gradient: Vec<f64> = (0..w.len())
            .map(|j| {
                let mut moved = w.clone();
                moved[j] += 0.5;
                let above = smooth(&moved);
                moved[j] -= 1.0;
                above - smooth(&moved)
            })
            .collect();
        for (row, gradient) in w.chunks_mut(3).zip(gradient.chunks(3)) {
            row.iter_mut().zip(gradient).for_each(|(w, g)| *w -= step * g);
            let norm = row.iter().map(|w| w * w).sum::<f64>().sqrt();
            let shrunk = (1.0 - step * 0.05 / norm.max(1e-300)).max(0.0);
            row.iter_mut().for_each(|w| *w *= shrunk);
        }
    }
    objective(&w)
}

#[test]
fn without_links_the_answer_is_that_of_l21() {
    let plain = data(&(0..N).collect::<Vec<_>>());
    let regularization = Regularization::Ratio(0.2);
    let l21 = select(&L21 { regularization, ..L21::default() }, &plain);
    let linked = LinkedFs { regularization, ..LinkedFs::default() };
    let net = FsNet { regularization, ridge: 0.0, ..FsNet::default() };
    let empty = plain.clone().with_sample_graph(Graph::undirected(N, &[]).unwrap()).unwrap();
    for (method, data) in [(&linked as &dyn Selector, &plain), (&net, &plain), (&net, &empty)] {
        let selection = select(method, data);
        assert_eq!((&selection.order, &selection.scores), (&l21.order, &l21.scores));
        let says = |note: &String| note.contains("not known") || note.contains("no links");
        assert!(selection.notes.iter().any(says), "{:?}", selection.notes);
    }
}

#[test]
fn the_order_of_the_samples_changes_nothing() {
    let order: Vec<usize> = (0..N).map(|i| (i * 7 + 5) % N).collect();
    let mut place = vec![0; N];
    order.iter().enumerate().for_each(|(at, &i)| place[i] = at);
    let moved: Vec<(usize, usize, f64)> = links().iter().map(|&(i, j, a)| (place[i], place[j], a)).collect();
    let of_sample = order.iter().map(|&i| authors().of_sample()[i]).collect();
    let both = |data: Dataset, links: &[(usize, usize, f64)], authors: Authors| {
        data.with_sample_graph(Graph::undirected(N, links).unwrap()).unwrap().with_authors(authors).unwrap()
    };
    let first = both(data(&(0..N).collect::<Vec<_>>()), &links(), authors());
    let second = both(data(&order), &moved, Authors::new(of_sample, authors().follows().clone()).unwrap());
    let regularization = Regularization::Ratio(0.1);
    let linked = LinkedFs { regularization, following: 1.0, cofollowed: 1.0, ..LinkedFs::default() };
    for method in [&linked as &dyn Selector, &FsNet { regularization, ..FsNet::default() }] {
        let (a, b) = (select(method, &first), select(method, &second));
        assert_eq!(a.order, b.order);
        assert!(a.scores.iter().zip(&b.scores).all(|(a, b)| (a - b).abs() < 1e-7));
    }
}

#[test]
fn links_change_the_answer_towards_what_linked_samples_share() {
    let data =
        data(&(0..N).collect::<Vec<_>>()).with_sample_graph(Graph::undirected(N, &links()).unwrap()).unwrap();
    let regularization = Regularization::Value(0.01);
    let spread = |graph: f64| -> f64 {
        let selection = select(&FsNet { regularization, graph, ..FsNet::default() }, &data);
        selection.scores.iter().sum()
    };
    // Differences cost: the coefficients shrink.
    assert!(spread(10.0) < 0.8 * spread(0.0));
}

#[test]
fn folds_have_the_links_of_their_samples() -> Result<(), Error> {
    let data = data(&(0..N).collect::<Vec<_>>())
        .with_sample_graph(Graph::undirected(N, &links())?)?
        .with_authors(authors())?;
    let rows: Vec<usize> = (0..N).step_by(2).collect();
    let part = data.subset(&rows)?;
    assert_eq!(part.authors().map(|authors| authors.of_sample().len()), Some(rows.len()));
    // The same samples with the links between them, written out.
    let places: Vec<(usize, usize, f64)> = links()
        .into_iter()
        .filter(|(i, j, _)| i % 2 == 0 && j % 2 == 0)
        .map(|(i, j, a)| (i / 2, j / 2, a))
        .collect();
    assert!(!places.is_empty());
    let of_sample = rows.iter().map(|&i| authors().of_sample()[i]).collect();
    let written = self::data(&rows)
        .with_sample_graph(Graph::undirected(rows.len(), &places)?)?
        .with_authors(Authors::new(of_sample, authors().follows().clone())?)?;
    let alone = self::data(&rows);
    let regularization = Regularization::Ratio(0.05);
    let linked = LinkedFs { regularization, copost: 5.0, following: 5.0, ..LinkedFs::default() };
    let fsnet = FsNet { regularization, graph: 5.0, ..FsNet::default() };
    for method in [&linked as &dyn Selector, &fsnet] {
        let (found, expected) = (select(method, &part), select(method, &written));
        let near = |other: &Selection| {
            let apart = found.scores.iter().zip(&other.scores).map(|(a, b)| (a - b).abs());
            found.order == other.order && apart.fold(0.0, f64::max) < 1e-8
        };
        assert!(near(&expected), "{:?} {:?}", found.scores, expected.scores);
        assert!(!near(&select(method, &alone)), "the links have no influence");
    }
    Ok(())
}

/// With all other samples around, links lead out of the training samples; their own labels are all there is.
#[test]
fn samples_around_change_links_not_labels() -> Result<(), Error> {
    let all = data(&(0..N).collect::<Vec<_>>())
        .with_sample_graph(Graph::undirected(N, &links())?)?
        .with_authors(authors())?;
    let regularization = Regularization::Ratio(0.1);
    let net = FsNet { regularization, graph: 3.0, ..FsNet::default() };
    let linked = LinkedFs { regularization, copost: 3.0, following: 1.0, ..LinkedFs::default() };
    let rows: Vec<usize> = (0..N).filter(|i| i % 3 > 0).collect();
    for method in [&net as &dyn Selector, &linked] {
        // All of them labelled is nothing new, in any order.
        let whole = select(method, &all);
        let same = select(method, &all.clone().with_surroundings(&all, (0..N).collect())?);
        assert_eq!((&whole.order, &whole.scores), (&same.order, &same.scores));
        // Links to samples without a label count, and labels that are not there do not.
        let part = all.subset(&rows)?;
        let seen = select(method, &part.clone().with_surroundings(&all, rows.clone())?);
        assert_ne!(seen.scores, select(method, &part).scores);
        let other: Vec<usize> = (0..N).map(|i| if i % 3 == 0 { 0 } else { classes()[i] }).collect();
        let relabelled = all.clone().with_target(Target::from_labels(&other))?;
        let hidden = select(method, &part.with_surroundings(&relabelled, rows.clone())?);
        assert_eq!((&seen.order, &seen.scores), (&hidden.order, &hidden.scores));
        assert!(seen.solver.is_some_and(|report| report.certificate.value() < 1e-9));
    }
    Ok(())
}
