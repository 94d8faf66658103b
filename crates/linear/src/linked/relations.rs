//! Sums of squared differences between the predictions of related samples.

use std::collections::BTreeSet;

use fewest_core::{Authors, Context, Error, Graph};

/// Most differences of all relations together, times the number of outputs: each is a row of the design and
/// of every column of the working set, so that a hundred columns take some 3 GB.
pub(crate) const MOST_ROWS: usize = 1 << 22;

/// The error of a run that ended before all related authors were found.
const RELATED: &str = "the related authors were found";

/// `weight · Σ ‖difference‖²` of predictions `Z`, as `‖B Z‖²`: the rows of `B` are differences.
pub(crate) struct Relation {
    /// The root of the weight.
    root: f64,
    differences: Differences,
}

enum Differences {
    /// Of each sample from the mean of its group, times the root of the group's size: together the squared
    /// differences of all pairs in a group.
    Within(Means),
    /// Of pairs of nodes, times a root each.
    Between { nodes: Nodes, pairs: Vec<(usize, usize, f64)> },
}

enum Nodes {
    Samples,
    Means(Means),
}

/// Means of groups of samples.
struct Means {
    group_of: Vec<usize>,
    sizes: Vec<f64>,
}

impl Means {
    fn new(group_of: &[usize], n_groups: usize) -> Self {
        let mut sizes = vec![0.0; n_groups];
        group_of.iter().for_each(|&group| sizes[group] += 1.0);
        Self { group_of: group_of.to_vec(), sizes }
    }

    /// The mean of every group; 0 of one without samples.
    fn of(&self, values: &[f64]) -> Vec<f64> {
        let mut means = vec![0.0; self.sizes.len()];
        values.iter().zip(&self.group_of).for_each(|(value, &group)| means[group] += value);
        means.iter_mut().zip(&self.sizes).for_each(|(mean, size)| *mean /= size.max(1.0));
        means
    }
}

impl Relation {
    /// `weight Σ_links a ‖zᵢ − zⱼ‖²` over the links between samples, each counted once.
    pub(crate) fn links(weight: f64, graph: &Graph) -> Self {
        let pairs = pairs_of(graph, |_, _| true);
        Self { root: weight.sqrt(), differences: Differences::Between { nodes: Nodes::Samples, pairs } }
    }

    /// `weight Σ ‖zᵢ − zⱼ‖²` over all pairs of samples of one author.
    pub(crate) fn same_author(weight: f64, authors: &Authors) -> Self {
        let means = Means::new(authors.of_sample(), authors.n_authors());
        Self { root: weight.sqrt(), differences: Differences::Within(means) }
    }

    /// `weight Σ_links a ‖tᵤ − tᵥ‖²`, `t` the mean over the samples of an author, over the links between
    /// authors who have samples; two links in both directions count twice.
    pub(crate) fn following(weight: f64, authors: &Authors) -> Self {
        Self::between_authors(weight, authors, |means| {
            pairs_of(authors.follows(), |u, v| means.sizes[u] > 0.0 && means.sizes[v] > 0.0)
        })
    }

    /// `weight Σ ‖tᵤ − tᵥ‖²` over the pairs of authors with samples who both follow a common author. A pair
    /// counts once, however many they share.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] where there are too many pairs.
    pub(crate) fn co_following(weight: f64, authors: &Authors, context: &Context<'_>) -> Result<Self, Error> {
        Self::sharing(weight, authors, (&reversed(authors.follows())?, "cofollowing"), MOST_ROWS, context)
    }

    /// `weight Σ ‖tᵤ − tᵥ‖²` over the pairs of authors with samples whom a common author follows.
    ///
    /// # Errors
    /// As [`co_following`](Self::co_following).
    pub(crate) fn co_followed(weight: f64, authors: &Authors, context: &Context<'_>) -> Result<Self, Error> {
        Self::sharing(weight, authors, (authors.follows(), "cofollowed"), MOST_ROWS, context)
    }

    /// Over the pairs of neighbours of one node of `graph`, at most `most` of them.
    fn sharing(
        weight: f64,
        authors: &Authors,
        (graph, name): (&Graph, &'static str),
        most: usize,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let too_many = || {
            Error::parameter(
                name,
                format!("a weight of more than {most} pairs of authors"),
                "left out, or used with fewer pairs: without those who are followed by, or follow, very many",
            )
        };
        let means = Means::new(authors.of_sample(), authors.n_authors());
        let mut pairs = BTreeSet::new();
        for node in 0..graph.n_nodes() {
            let writing: Vec<u32> = graph
                .neighbours(node)
                .iter()
                .copied()
                .filter(|&author| means.sizes[author as usize] > 0.0)
                .collect();
            // The pairs of one node differ: known to be too many before the first is stored.
            if writing.len() * writing.len().saturating_sub(1) / 2 > most {
                return Err(too_many());
            }
            for (at, &u) in writing.iter().enumerate() {
                context.go_on(RELATED)?;
                pairs.extend(writing[at + 1..].iter().map(|&v| (u, v)));
                if pairs.len() > most {
                    return Err(too_many());
                }
            }
        }
        let pairs = pairs.into_iter().map(|(u, v)| (u as usize, v as usize, 1.0)).collect();
        Ok(Self::between_authors(weight, authors, |_| pairs))
    }

    fn between_authors(
        weight: f64,
        authors: &Authors,
        pairs: impl FnOnce(&Means) -> Vec<(usize, usize, f64)>,
    ) -> Self {
        let means = Means::new(authors.of_sample(), authors.n_authors());
        let pairs = pairs(&means);
        Self { root: weight.sqrt(), differences: Differences::Between { nodes: Nodes::Means(means), pairs } }
    }

    /// Number of rows of `B`.
    pub(crate) fn n_rows(&self) -> usize {
        match &self.differences {
            Differences::Within(means) => means.group_of.len(),
            Differences::Between { pairs, .. } => pairs.len(),
        }
    }

    /// Writes `B z`.
    pub(crate) fn apply(&self, z: &[f64], out: &mut [f64]) {
        match &self.differences {
            Differences::Within(means) => {
                let of_group = means.of(z);
                for ((out, z), &group) in out.iter_mut().zip(z).zip(&means.group_of) {
                    *out = self.root * means.sizes[group].sqrt() * (z - of_group[group]);
                }
            }
            Differences::Between { nodes, pairs } => {
                let means = nodes.means(z);
                let values = means.as_deref().unwrap_or(z);
                for (out, (a, b, root)) in out.iter_mut().zip(pairs) {
                    *out = self.root * root * (values[*a] - values[*b]);
                }
            }
        }
    }

    /// Adds `Bᵀ v` to `out`.
    pub(crate) fn add_transposed(&self, v: &[f64], out: &mut [f64]) {
        match &self.differences {
            Differences::Within(means) => {
                let of_group = means.of(v);
                for ((out, v), &group) in out.iter_mut().zip(v).zip(&means.group_of) {
                    *out += self.root * means.sizes[group].sqrt() * (v - of_group[group]);
                }
            }
            Differences::Between { nodes, pairs } => {
                let mut sums = vec![0.0; nodes.len(out.len())];
                for (v, (a, b, root)) in v.iter().zip(pairs) {
                    sums[*a] += self.root * root * v;
                    sums[*b] -= self.root * root * v;
                }
                match nodes {
                    Nodes::Samples => out.iter_mut().zip(&sums).for_each(|(out, sum)| *out += sum),
                    Nodes::Means(means) => {
                        for (out, &group) in out.iter_mut().zip(&means.group_of) {
                            *out += sums[group] / means.sizes[group];
                        }
                    }
                }
            }
        }
    }
}

impl Nodes {
    /// The values of the nodes, where they are not those of the samples.
    fn means(&self, z: &[f64]) -> Option<Vec<f64>> {
        match self {
            Self::Samples => None,
            Self::Means(means) => Some(means.of(z)),
        }
    }

    fn len(&self, n_samples: usize) -> usize {
        match self {
            Self::Samples => n_samples,
            Self::Means(means) => means.sizes.len(),
        }
    }
}

/// The links with the roots of their weights; one without direction once.
fn pairs_of(graph: &Graph, counts: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize, f64)> {
    (0..graph.n_nodes())
        .flat_map(|a| {
            let links = graph.neighbours(a).iter().zip(graph.weights(a));
            links.map(move |(&b, weight)| (a, b as usize, weight.sqrt()))
        })
        .filter(|&(a, b, _)| (graph.is_directed() || a < b) && counts(a, b))
        .collect()
}

/// The links the other way round.
fn reversed(graph: &Graph) -> Result<Graph, Error> {
    let links: Vec<(usize, usize, f64)> = (0..graph.n_nodes())
        .flat_map(|a| {
            let links = graph.neighbours(a).iter().zip(graph.weights(a));
            links.map(move |(&b, &weight)| (b as usize, a, weight))
        })
        .collect();
    if graph.is_directed() { Graph::directed(graph.n_nodes(), &links) } else { Ok(graph.clone()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const Z: [f64; 5] = [1.0, -2.0, 0.5, 4.0, 3.0];

    /// Authors 0 (samples 0, 1), 1 (sample 2), 2 (samples 3, 4) and 3, who wrote nothing.
    fn authors() -> Authors {
        let links =
            [(0, 1, 1.0), (1, 0, 1.0), (2, 1, 4.0), (3, 1, 1.0), (3, 0, 1.0), (2, 3, 1.0), (0, 3, 1.0)];
        Authors::new(vec![0, 0, 1, 2, 2], Graph::directed(4, &links).unwrap()).unwrap()
    }

    /// `‖B z‖²`, checked against `zᵀ Bᵀ B z`.
    fn value(relation: &Relation) -> f64 {
        let mut rows = vec![0.0; relation.n_rows()];
        relation.apply(&Z, &mut rows);
        let mut back = vec![0.0; Z.len()];
        relation.add_transposed(&rows, &mut back);
        let value: f64 = rows.iter().map(|row| row * row).sum();
        let again: f64 = back.iter().zip(Z).map(|(b, z)| b * z).sum();
        assert!((value - again).abs() < 1e-12 * value.max(1.0));
        value
    }

    #[test]
    fn relations_are_sums_of_squared_differences() {
        let authors = authors();
        // The means of the authors are -0.5, 0.5 and 3.5.
        assert!((value(&Relation::same_author(2.0, &authors)) - 2.0 * (9.0 + 1.0)).abs() < 1e-12);
        // 0 to 1, 1 to 0, and 2 to 1 with the weight 4.
        assert!((value(&Relation::following(1.0, &authors)) - (1.0 + 1.0 + 4.0 * 9.0)).abs() < 1e-12);
        // 0 and 2 follow 1, and they follow 3, too: one pair.
        let context = Context::default();
        let both = Relation::co_following(1.0, &authors, &context).unwrap();
        assert!((value(&both) - 16.0).abs() < 1e-12);
        // 3 follows 0 and 1; 2 follows 1 and 3, who wrote nothing; 0 follows 1 and 3.
        let both = Relation::co_followed(0.5, &authors, &context).unwrap();
        assert!((value(&both) - 0.5).abs() < 1e-12);
        let links = Graph::undirected(5, &[(0, 3, 2.0), (1, 2, 1.0)]).unwrap();
        assert!((value(&Relation::links(1.0, &links)) - (18.0 + 6.25)).abs() < 1e-12);
    }

    /// One author whom all others follow: too many pairs are refused before they are in memory, a pair that
    /// two authors share counts once, and a run can be stopped on the way.
    #[test]
    fn too_many_pairs_are_refused_before_they_are_stored() -> Result<(), Error> {
        let context = Context::default();
        let star = |n: usize, centres: usize| {
            let links = (centres..n).flat_map(|u| (0..centres).map(move |v| (u, v, 1.0)));
            Authors::new((0..n).collect(), Graph::directed(n, &links.collect::<Vec<_>>())?)
        };
        // 5000 followers are 12 million pairs, of 200 MB; nothing is stored of them.
        let crowd = star(5001, 1)?;
        let found = Relation::co_following(1.0, &crowd, &context).err();
        assert!(matches!(&found, Some(Error::InvalidParameter { name: "cofollowing", .. })), "{found:?}");
        // Ten followers of two authors: 45 pairs, not 90.
        let twice = star(12, 2)?;
        let graph = reversed(twice.follows())?;
        let of = |most, context| Relation::sharing(1.0, &twice, (&graph, "cofollowing"), most, context);
        assert_eq!(of(45, &context)?.n_rows(), 45);
        assert!(of(44, &context).is_err());
        let flag = std::sync::atomic::AtomicBool::new(true);
        let stopped = Context { interrupt: Some(&flag), ..context };
        assert_eq!(of(45, &stopped).err(), Some(Error::Stopped { before: RELATED }));
        Ok(())
    }
}
