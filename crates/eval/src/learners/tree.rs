//! Decision trees.

use fewest_core::method::Options;
use fewest_core::{Columns, Context, Dataset, Error, options};
use fewest_machines::{check_width, feature_names, finite_column};

use super::growth::{All, Response, Training, Tree};
use super::{Learner, Model, Predictions};

options! {
    /// A classification tree (CART; Breiman et al. 1984) by Gini impurity `1 − Σ_c p_c²`, without pruning.
    ///
    /// A numeric feature splits at the middle between two neighbouring values, a categorical one into a level
    /// and all others. The split with the lowest impurity is used (the first at a tie), even if it does not
    /// lower the impurity: the first of the two splits that solve XOR does not. A leaf predicts its most
    /// frequent class (the lowest code at a tie). Nothing is random. `O(d n log n)` for each level of the
    /// tree.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct DecisionTree {
        /// Largest number of splits from the root to a leaf; left out, no limit.
        pub max_depth: Option<usize> = None;
        /// Smallest number of samples in a leaf.
        pub min_leaf: usize = 1, Count(1);
    }
}

struct TreeModel {
    names: Vec<String>,
    tree: Tree<u32>,
}

/// The most frequent class, the lowest code at a tie.
fn commonest(counts: &[f64]) -> u32 {
    (0..counts.len()).fold(0, |best, class| if counts[class] > counts[best] { class } else { best }) as u32
}

impl Learner for DecisionTree {
    fn name(&self) -> &'static str {
        "decision-tree"
    }

    fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        self.check()?;
        let response = Response::Classes(data.classes(self.name())?);
        let training = Training::new(data, response, self.min_leaf)?;
        let samples = (0..data.n_samples()).collect();
        let mut all = All(data.n_features());
        let leaf = |counts: &[f64], _| commonest(counts);
        let tree = Tree::grow(&training, samples, self.max_depth, &mut all, leaf, context)?;
        Ok(Box::new(TreeModel { names: feature_names(data), tree }))
    }
}

impl Model for TreeModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        check_width(x, self.names.len())?;
        let columns: Vec<Vec<f64>> =
            (0..self.names.len()).map(|j| finite_column(x, &self.names, j)).collect::<Result<_, Error>>()?;
        Ok(Predictions::Classes((0..x.n_samples()).map(|i| *self.tree.predict(&columns, i)).collect()))
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        vec![("leaves", self.tree.n_leaves() as f64)]
    }
}
