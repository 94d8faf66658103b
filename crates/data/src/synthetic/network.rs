//! Texts of authors in a network: a degree-uniform stochastic block model with words.

use fewest_core::{Authors, Column, Columns, Dataset, Error as CoreError, Graph, Target, derive_seed};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::Error;

/// Samples of one author, about.
const SAMPLES_OF_AUTHOR: usize = 5;

/// Others that an author follows, at most.
const FOLLOWED: usize = 4;

/// A network whose samples have sparse attributes.
///
/// Every sample belongs to one of `communities` communities, which are the classes of the target, and has
/// `words` words. With the chance `signal` a word is one of its community, and else any of the `n_features`
/// words, all alike; a feature counts a word. Of the first `n_relevant` features, word `j` belongs to
/// community `j` modulo `communities`; the others belong to none: they are irrelevant.
///
/// There are `n_links` links without direction: with the chance `noise` between any two samples, and else
/// between two of one community. Every five samples of a community have an author, who follows up to four
/// others: with the chance `noise` any author, and else one of the same community.
///
/// ```
/// use fewest_data::synthetic::NetworkProblem;
/// let problem = NetworkProblem { n_samples: 200, n_links: 500, ..NetworkProblem::default() };
/// let data = problem.draw(1)?;
/// assert_eq!(data.sample_graph().map(|links| links.n_links()), Some(500));
/// # Ok::<(), fewest_data::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkProblem {
    /// Samples; at least twice as many as communities.
    pub n_samples: usize,
    /// Links between samples; at most a quarter of the pairs within communities.
    pub n_links: usize,
    /// Words.
    pub n_features: usize,
    /// The first words, which tell the community; at least one a community.
    pub n_relevant: usize,
    /// Communities; at least 2.
    pub communities: usize,
    /// Words of a sample.
    pub words: usize,
    /// Share of the words of a sample that its community decides, from 0 to 1.
    pub signal: f64,
    /// Share of the links that no community decides, from 0 to 1.
    pub noise: f64,
}

impl Default for NetworkProblem {
    fn default() -> Self {
        Self {
            n_samples: 500,
            n_links: 2500,
            n_features: 200,
            n_relevant: 20,
            communities: 4,
            words: 20,
            signal: 0.2,
            noise: 0.1,
        }
    }
}

impl NetworkProblem {
    /// The data with their links, authors and classes.
    ///
    /// # Errors
    /// [`fewest_core::Error::InvalidParameter`] for a number out of range.
    pub fn draw(&self, seed: u64) -> Result<Dataset, Error> {
        self.check()?;
        let generator = |part: u64| ChaCha8Rng::seed_from_u64(derive_seed(seed, part));
        let of_sample = self.communities_of(self.n_samples, &mut generator(0));
        let x = self.attributes(&of_sample, &mut generator(1));
        let links = self.links(&of_sample, self.n_links, &mut generator(2));
        let codes = of_sample.iter().map(|&community| community as u32).collect();
        let names = (0..self.communities).map(|community| community.to_string()).collect();
        let authors = self.authors(&of_sample, &mut generator(3))?;
        let data = Dataset::new(x, Target::classes(codes, names)?)?;
        Ok(data.with_sample_graph(Graph::undirected(self.n_samples, &links)?)?.with_authors(authors)?)
    }

    fn check(&self) -> Result<(), CoreError> {
        let Self { n_samples, n_links, n_features, n_relevant, communities, words, signal, noise } = *self;
        let wrong = |name, value: usize, expected: String| Err(CoreError::parameter(name, value, expected));
        if communities < 2 {
            return wrong("communities", communities, "at least 2".to_owned());
        }
        if n_samples / 2 < communities || u32::try_from(n_samples).is_err() {
            return wrong("n_samples", n_samples, format!("at least {}", 2 * communities));
        }
        let of_community = n_samples / communities;
        let most = communities * of_community * (of_community - 1) / 8;
        if n_links > most {
            return wrong("n_links", n_links, format!("at most {most}"));
        }
        if n_relevant < communities || n_relevant > n_features {
            return wrong("n_relevant", n_relevant, format!("from {communities} to {n_features}"));
        }
        if words == 0 {
            return wrong("words", words, "at least 1".to_owned());
        }
        for (name, share) in [("signal", signal), ("noise", noise)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(CoreError::parameter(name, share, "from 0 to 1"));
            }
        }
        Ok(())
    }

    /// Communities of nearly equal sizes, in random order.
    fn communities_of(&self, n: usize, random: &mut ChaCha8Rng) -> Vec<usize> {
        let mut of: Vec<usize> = (0..n).map(|i| i % self.communities).collect();
        for i in (1..n).rev() {
            of.swap(i, random.random_range(0..=i));
        }
        of
    }

    fn attributes(&self, of_sample: &[usize], random: &mut ChaCha8Rng) -> SparseCounts {
        let mut columns = vec![(Vec::new(), Vec::new()); self.n_features];
        for (i, &community) in of_sample.iter().enumerate() {
            let own = (self.n_relevant - 1 - community) / self.communities + 1;
            let mut words: Vec<usize> = (0..self.words)
                .map(|_| match random.random::<f64>() < self.signal {
                    true => community + self.communities * random.random_range(0..own),
                    false => random.random_range(0..self.n_features),
                })
                .collect();
            words.sort_unstable();
            for same in words.chunk_by(|a, b| a == b) {
                columns[same[0]].0.push(i);
                columns[same[0]].1.push(same.len() as f64);
            }
        }
        SparseCounts { columns, n_samples: of_sample.len() }
    }

    /// Different links between the nodes.
    fn links(&self, of: &[usize], n_links: usize, random: &mut ChaCha8Rng) -> Vec<(usize, usize, f64)> {
        let members = self.members(of);
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        while pairs.len() < n_links {
            for _ in pairs.len()..n_links {
                let a = random.random_range(0..of.len());
                let b = self.other(&members[of[a]], of.len(), random);
                if a != b {
                    pairs.push((a.min(b), a.max(b)));
                }
            }
            pairs.sort_unstable();
            pairs.dedup();
        }
        pairs.into_iter().map(|(a, b)| (a, b, 1.0)).collect()
    }

    /// Any node, or one of the same community.
    fn other(&self, same: &[usize], n: usize, random: &mut ChaCha8Rng) -> usize {
        match random.random::<f64>() < self.noise {
            true => random.random_range(0..n),
            false => same[random.random_range(0..same.len())],
        }
    }

    fn members(&self, of: &[usize]) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.communities];
        of.iter().enumerate().for_each(|(i, &community)| members[community].push(i));
        members
    }

    fn authors(&self, of_sample: &[usize], random: &mut ChaCha8Rng) -> Result<Authors, CoreError> {
        let (mut author_of, mut communities) = (vec![0; of_sample.len()], Vec::new());
        for (community, members) in self.members(of_sample).iter().enumerate() {
            for samples in members.chunks(SAMPLES_OF_AUTHOR) {
                samples.iter().for_each(|&i| author_of[i] = communities.len());
                communities.push(community);
            }
        }
        let members = self.members(&communities);
        let mut follows: Vec<(usize, usize)> = Vec::new();
        for (author, &community) in communities.iter().enumerate() {
            for _ in 0..FOLLOWED {
                let other = self.other(&members[community], communities.len(), random);
                if other != author {
                    follows.push((author, other));
                }
            }
        }
        follows.sort_unstable();
        follows.dedup();
        let follows: Vec<_> = follows.into_iter().map(|(a, b)| (a, b, 1.0)).collect();
        Authors::new(author_of, Graph::directed(communities.len(), &follows)?)
    }
}

/// Counts of words: what is not there is 0.
struct SparseCounts {
    columns: Vec<(Vec<usize>, Vec<f64>)>,
    n_samples: usize,
}

impl Columns for SparseCounts {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.columns.len()
    }

    fn column<'a>(&'a self, j: usize, _scratch: &'a mut Vec<f64>) -> Result<Column<'a>, CoreError> {
        let (rows, values) = &self.columns[j];
        Ok(Column::Sparse { rows, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Tested = Result<(), Error>;

    /// As many links as asked for, the share of noise between communities, and words that tell the community
    /// among the first only.
    #[test]
    fn shares_are_those_asked_for() -> Tested {
        let problem =
            NetworkProblem { n_samples: 2000, n_links: 8000, noise: 0.4, ..NetworkProblem::default() };
        let data = problem.draw(5)?;
        let (Some(links), Some(authors)) = (data.sample_graph(), data.authors()) else { panic!("both") };
        let Target::Class(classes) = data.target() else { panic!("classes") };
        let of = classes.codes();
        let across = links.links().filter(|&(a, b, _)| of[a] != of[b]).count() as f64;
        // Three quarters of those drawn at random lead to another community.
        assert_eq!(links.n_links(), 8000);
        assert!((across / 8000.0 - 0.3).abs() < 0.02, "{across}");
        assert!((0..2000).all(|i| {
            (i + 1..2000).take(3).all(|j| authors.of_sample()[i] != authors.of_sample()[j] || of[i] == of[j])
        }));
        let mut scratch = Vec::new();
        for j in 0..data.n_features() {
            let mut means = [0.0; 4];
            let values = data.x().column(j, &mut scratch)?.to_vec(2000);
            values.iter().zip(of).for_each(|(value, &community)| means[community as usize] += value / 500.0);
            let others = (means.iter().sum::<f64>() - means[j % 4]) / 3.0;
            // Own words: 20 · (0.2 / 5 + 0.8 / 200), others 20 · 0.8 / 200.
            let expected = if j < 20 { 0.88 } else { 0.08 };
            assert!((means[j % 4] - expected).abs() < 0.15 && (others - 0.08).abs() < 0.05, "{j}: {means:?}");
        }
        Ok(())
    }

    #[test]
    fn numbers_out_of_range_are_errors() {
        let plain = NetworkProblem::default();
        for (name, wrong) in [
            ("communities", NetworkProblem { communities: 1, ..plain }),
            ("n_samples", NetworkProblem { n_samples: 7, ..plain }),
            ("n_links", NetworkProblem { n_links: usize::MAX, ..plain }),
            ("n_relevant", NetworkProblem { n_relevant: 3, ..plain }),
            ("words", NetworkProblem { words: 0, ..plain }),
            ("signal", NetworkProblem { signal: f64::NAN, ..plain }),
            ("noise", NetworkProblem { noise: 1.1, ..plain }),
        ] {
            let error = wrong.draw(0).err().map(|error| error.to_string());
            assert!(error.is_some_and(|error| error.contains(name)), "{name}");
        }
    }
}
