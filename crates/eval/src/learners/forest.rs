//! Random forests.

use fewest_core::method::Options;
use fewest_core::{Columns, Context, Dataset, Error, Target, derive_seed, options};
use fewest_machines::{check_width, feature_names, finite_column};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::growth::{Choice, GROWN, Response, Training, Tree, means, shares};
use super::{ClassScoring, Learner, Model, Predictions};

options! {
    /// A random forest (Breiman 2001): trees on samples drawn with replacement, each node split by the best
    /// of a few features drawn at random.
    ///
    /// Classes are split by Gini impurity, numbers by their variance, summed over the outputs; rules are
    /// those of [`DecisionTree`](crate::DecisionTree). Where none of the features drawn can split a node,
    /// others are drawn one by one. A tree gives the shares of the classes among the samples of a leaf, or
    /// their mean; the forest gives the mean over the trees: the probabilities of the classes, of which the
    /// largest is predicted (the lowest code at a tie). The same seed gives the same forest for any number of
    /// threads. `O(d n log n)` once, and about `O(trees · features · n)` for each level of the trees: values
    /// are ranked once, and the ranks sorted by their digits.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct RandomForest {
        /// Number of trees.
        pub trees: usize = 300, Between(1, 1_000_000);
        /// Features tried at each split; left out, √d for classes and d/3 for numbers, at least one.
        pub features: Option<usize> = None, Count(1);
        /// Smallest number of samples in a leaf; left out, 1 for classes and 5 for numbers.
        pub min_leaf: Option<usize> = None, Count(1);
        /// Largest number of splits from the root to a leaf; left out, no limit.
        pub max_depth: Option<usize> = None;
        /// Whether each tree has samples drawn with replacement, or all of them.
        pub bootstrap: bool = true;
    }
}

/// Samples that are predicted together.
const BLOCK: usize = 256;

/// Features in random order.
struct Draws {
    order: Vec<usize>,
    at_once: usize,
    drawn: usize,
    generator: ChaCha8Rng,
}

impl Draws {
    fn draw(&mut self) -> Option<usize> {
        let last = self.order.len();
        if self.drawn == last {
            return None;
        }
        let at = self.generator.random_range(self.drawn..last);
        self.order.swap(self.drawn, at);
        self.drawn += 1;
        self.order.get(self.drawn - 1).copied()
    }
}

impl Choice for Draws {
    fn first(&mut self) -> Vec<usize> {
        self.drawn = 0;
        let mut features: Vec<usize> = (0..self.at_once).filter_map(|_| self.draw()).collect();
        // In their order, so that ties go to the lower index.
        features.sort_unstable();
        features
    }

    fn another(&mut self) -> Option<usize> {
        self.draw()
    }
}

struct ForestModel {
    names: Vec<String>,
    trees: Vec<Tree>,
    /// The means of the outputs; empty for classes.
    means: Vec<f64>,
    n_classes: usize,
}

impl Learner for RandomForest {
    fn name(&self) -> &'static str {
        "random-forest"
    }

    fn scoring(&self) -> ClassScoring {
        ClassScoring::Probabilities
    }

    fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        self.check()?;
        let (mut means, mut n_classes) = (Vec::new(), 0);
        let response = match data.target() {
            Target::Class(classes) => {
                n_classes = classes.n_classes();
                Response::Classes(classes)
            }
            Target::Real(outputs) => {
                let mut centred = Vec::with_capacity(outputs.n_outputs());
                for output in 0..outputs.n_outputs() {
                    let values = outputs.output(output);
                    let mean = values.iter().sum::<f64>() / values.len() as f64;
                    centred.push(values.iter().map(|value| value - mean).collect());
                    means.push(mean);
                }
                Response::Real(centred)
            }
            other => return Err(self.unsupported(other)),
        };
        let growing = Growing::new(*self, data, response, context)?;
        let trees =
            fewest_parallel::try_map(self.trees, |number| Ok::<_, Error>(growing.tree(number)?.tree))?;
        Ok(Box::new(ForestModel { names: feature_names(data), trees, means, n_classes }))
    }
}

impl RandomForest {
    /// The error for a target that trees do not predict.
    pub(super) fn unsupported(&self, target: &Target) -> Error {
        let expected = "classes or a real output";
        Error::UnsupportedTarget { method: self.name(), expected, found: target.describe() }
    }
}

/// How the trees of a forest are grown.
pub(super) struct Growing<'a> {
    pub(super) training: Training<'a>,
    forest: RandomForest,
    n_samples: usize,
    at_once: usize,
    context: &'a Context<'a>,
}

/// A tree, and how often each sample was drawn for it.
pub(super) struct Grown {
    pub(super) times: Vec<u32>,
    pub(super) tree: Tree,
}

impl<'a> Growing<'a> {
    pub(super) fn new(
        forest: RandomForest,
        data: &Dataset,
        response: Response<'a>,
        context: &'a Context<'a>,
    ) -> Result<Self, Error> {
        let d = data.n_features();
        let (features, min_leaf) = match response {
            Response::Classes(_) => (d.isqrt(), 1),
            Response::Real(_) => (d / 3, 5),
        };
        let training = Training::new(data, response, forest.min_leaf.unwrap_or(min_leaf))?;
        let at_once = forest.features.unwrap_or(features).clamp(1, d);
        Ok(Self { training, forest, n_samples: data.n_samples(), at_once, context })
    }

    /// The seed of what is random in a tree.
    pub(super) fn seed(&self, number: usize) -> u64 {
        derive_seed(self.context.seed, number as u64)
    }

    /// The tree of this number.
    pub(super) fn tree(&self, number: usize) -> Result<Grown, Error> {
        // Before anything is drawn: a forest that was stopped may have a million trees to go.
        self.context.go_on(GROWN)?;
        let n = self.n_samples;
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed(number));
        let mut times = vec![u32::from(!self.forest.bootstrap); n];
        if self.forest.bootstrap {
            (0..n).for_each(|_| times[generator.random_range(0..n)] += 1);
        }
        let order = (0..self.training.columns.len()).collect();
        let mut draws = Draws { order, at_once: self.at_once, drawn: 0, generator };
        let leaf = match self.training.response {
            Response::Classes(_) => shares,
            Response::Real(_) => means,
        };
        let depth = self.forest.max_depth;
        let tree = Tree::grow(&self.training, &times, depth, &mut draws, leaf, self.context)?;
        Ok(Grown { times, tree })
    }
}

impl ForestModel {
    /// The mean over the trees for each sample: by class or output.
    fn means(&self, x: &dyn Columns) -> Result<Vec<Vec<f64>>, Error> {
        check_width(x, self.names.len())?;
        let columns: Vec<Vec<f64>> =
            (0..self.names.len()).map(|j| finite_column(x, &self.names, j)).collect::<Result<_, Error>>()?;
        let width = self.n_classes.max(self.means.len());
        let share = 1.0 / self.trees.len() as f64;
        // Tree by tree for many samples: a tree is read from memory once for all of them.
        let of_block = |block: usize| {
            let rows = block * BLOCK..x.n_samples().min((block + 1) * BLOCK);
            let mut sums = vec![vec![0.0; width]; rows.len()];
            for tree in &self.trees {
                for (sums, i) in sums.iter_mut().zip(rows.clone()) {
                    for &(at, value) in tree.predict(&columns, i) {
                        sums[at as usize] += share * value;
                    }
                }
            }
            sums
        };
        let blocks = fewest_parallel::map(x.n_samples().div_ceil(BLOCK), of_block);
        Ok(blocks.into_iter().flatten().collect())
    }
}

impl Model for ForestModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        let means = self.means(x)?;
        if self.n_classes == 0 {
            let output = |(at, mean): (usize, &f64)| means.iter().map(|values| mean + values[at]).collect();
            return Ok(Predictions::Real(self.means.iter().enumerate().map(output).collect()));
        }
        let best = |shares: &Vec<f64>| {
            (0..shares.len()).fold(0, |best, c| if shares[c] > shares[best] { c } else { best }) as u32
        };
        Ok(Predictions::Classes(means.iter().map(best).collect()))
    }

    fn score_classes(&self, x: &dyn Columns) -> Result<Vec<(u32, Vec<f64>)>, Error> {
        let means = self.means(x)?;
        let of = |code: usize| (code as u32, means.iter().map(|shares| shares[code]).collect());
        Ok((0..self.n_classes).map(of).collect())
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        let leaves: usize = self.trees.iter().map(Tree::n_leaves).sum();
        vec![("leaves of a tree", leaves as f64 / self.trees.len() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::DenseColumns;

    use super::*;
    use crate::{DecisionTree, NearestNeighbours};

    type Tested = Result<(), Error>;

    /// Two features that matter together only, and noise; the classes by `xor`, or the product.
    fn table(n: usize) -> Result<(DenseColumns, Vec<u32>, Vec<f64>), Error> {
        let noise = |j: u64, i: usize| (derive_seed(j, i as u64) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
        let columns: Vec<Vec<f64>> = (0..6).map(|j| (0..n).map(|i| noise(j, i)).collect()).collect();
        let xor = (0..n).map(|i| u32::from((columns[1][i] > 0.0) != (columns[4][i] > 0.0))).collect();
        let product = (0..n).map(|i| 100.0 + columns[1][i] * columns[4][i] + 0.2 * columns[1][i]).collect();
        Ok((DenseColumns::from_columns(&columns)?, xor, product))
    }

    fn rows(from: usize, to: usize) -> Vec<usize> {
        (from..to).collect()
    }

    #[test]
    fn one_tree_of_all_samples_and_features_is_the_decision_tree() -> Tested {
        let (x, classes, _) = table(200)?;
        let data = Dataset::new(x, Target::from_labels(&classes))?;
        let (train, test) = (data.subset(&rows(0, 120))?, data.subset(&rows(120, 200))?);
        for max_depth in [None, Some(3)] {
            let forest = RandomForest {
                trees: 1,
                features: Some(6),
                bootstrap: false,
                max_depth,
                ..RandomForest::default()
            };
            let tree = DecisionTree { max_depth, ..DecisionTree::default() };
            let said = |learner: &dyn Learner| learner.fit(&train, &Context::default())?.predict(test.x());
            assert_eq!(said(&forest)?, said(&tree)?);
        }
        Ok(())
    }

    #[test]
    fn a_forest_learns_what_neighbours_cannot_and_says_how_sure_it_is() -> Tested {
        let (x, classes, _) = table(600)?;
        let data = Dataset::new(x, Target::from_labels(&classes))?;
        let (train, test) = (data.subset(&rows(0, 400))?, data.subset(&rows(400, 600))?);
        let hits = |learner: &dyn Learner| -> Result<usize, Error> {
            let Predictions::Classes(said) = learner.fit(&train, &Context::default())?.predict(test.x())?
            else {
                panic!("classes")
            };
            Ok(said.iter().zip(&classes[400..]).filter(|(said, class)| said == class).count())
        };
        let forest = RandomForest::default();
        assert!(hits(&forest)? > 170 && hits(&forest)? > hits(&NearestNeighbours::default())?);
        let model = forest.fit(&train, &Context::default())?;
        let scores = model.score_classes(test.x())?;
        for i in 0..200 {
            let sum: f64 = scores.iter().map(|(_, values)| values[i]).sum();
            assert!((sum - 1.0).abs() < 1e-12 && scores.iter().all(|(_, values)| values[i] >= 0.0));
        }
        Ok(())
    }

    #[test]
    fn numbers_are_predicted_by_means_of_leaves() -> Tested {
        let (x, _, product) = table(600)?;
        let double: Vec<f64> = product.iter().map(|value| 2.0 * value).collect();
        let data = Dataset::new(x, Target::outputs([product.clone(), double].concat(), 600)?)?;
        let (train, test) = (data.subset(&rows(0, 400))?, data.subset(&rows(400, 600))?);
        let model = RandomForest::default().fit(&train, &Context::default())?;
        let Predictions::Real(said) = model.predict(test.x())? else { panic!("numbers") };
        let truth = &product[400..];
        let mean = product[..400].iter().sum::<f64>() / 400.0;
        let error = |said: &dyn Fn(usize) -> f64| (0..200).map(|i| (truth[i] - said(i)).powi(2)).sum::<f64>();
        assert!(error(&|i| said[0][i]) < 0.5 * error(&|_| mean));
        assert!((0..200).all(|i| (said[1][i] - 2.0 * said[0][i]).abs() < 1e-9));
        // No prediction leaves the range of the training samples.
        let inside = |value: &f64| {
            product[..400].iter().any(|y| y <= value) && product[..400].iter().any(|y| y >= value)
        };
        assert!(said[0].iter().all(inside));
        Ok(())
    }

    #[test]
    fn the_seed_decides_and_not_the_threads() -> Tested {
        let (x, classes, _) = table(150)?;
        let data = Dataset::new(x, Target::from_labels(&classes))?;
        let forest = RandomForest { trees: 20, ..RandomForest::default() };
        let scores = |seed: u64, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let Ok(pool) = pool else { panic!("threads") };
            pool.install(|| forest.fit(&data, &Context::seeded(seed))?.score_classes(data.x()))
        };
        assert_eq!(scores(3, 1)?, scores(3, 7)?);
        assert_ne!(scores(3, 1)?, scores(4, 1)?);
        Ok(())
    }

    /// Five of six features are constant: the one that can split is found whichever are drawn.
    #[test]
    fn a_node_is_split_as_long_as_any_feature_can() -> Tested {
        let mut columns = vec![vec![1.0; 8]; 6];
        columns[5] = (0..8).map(f64::from).collect();
        let labels = [0, 0, 0, 0, 1, 1, 1, 1];
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
        let forest =
            RandomForest { bootstrap: false, features: Some(1), trees: 7, ..RandomForest::default() };
        let model = forest.fit(&data, &Context::default())?;
        assert_eq!(model.predict(data.x())?, Predictions::Classes(labels.map(|label| label as u32).to_vec()));
        assert_eq!(model.facts(), [("leaves of a tree", 2.0)]);
        Ok(())
    }
}
