//! Decision trees.

use fewest_core::method::Options;
use fewest_core::{Columns, Context, Dataset, Error, options};
use fewest_machines::{check_width, feature_names, finite_column};

use super::growth::{All, Leaf, Response, Training, Tree, commonest, shares};
use super::{ClassScoring, Learner, Model, Predictions};

options! {
    /// A classification tree (CART; Breiman et al. 1984) by Gini impurity `1 − Σ_c p_c²`, without pruning.
    ///
    /// A numeric feature splits at the middle between two neighbouring values, a categorical one into a level
    /// and all others. The split with the lowest impurity is used (the first at a tie), even if it does not
    /// lower the impurity: the first of the two splits that solve XOR does not. A leaf predicts its most
    /// frequent class (the lowest code at a tie), with the shares of its classes for probabilities: of a tree
    /// that was grown to the end these are 0 and 1, and `min_leaf` makes them useful. Nothing is random.
    /// `O(d n log n)` once, and about `O(d n)` for each level of the tree.
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
    tree: Tree,
    n_classes: usize,
}

impl Learner for DecisionTree {
    fn name(&self) -> &'static str {
        "decision-tree"
    }

    fn scoring(&self) -> ClassScoring {
        ClassScoring::Probabilities
    }

    fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        self.check()?;
        let classes = data.classes(self.name())?;
        let training = Training::new(data, Response::Classes(classes), self.min_leaf)?;
        let times = vec![1; data.n_samples()];
        let mut all = All(data.n_features());
        let tree = Tree::grow(&training, &times, self.max_depth, &mut all, shares, context)?;
        Ok(Box::new(TreeModel { names: feature_names(data), tree, n_classes: classes.n_classes() }))
    }
}

impl TreeModel {
    /// The leaf of each sample, as `said` reads it.
    fn leaves<T>(&self, x: &dyn Columns, said: impl Fn(&Leaf) -> T) -> Result<Vec<T>, Error> {
        check_width(x, self.names.len())?;
        let columns: Vec<Vec<f64>> =
            (0..self.names.len()).map(|j| finite_column(x, &self.names, j)).collect::<Result<_, Error>>()?;
        Ok((0..x.n_samples()).map(|i| said(self.tree.predict(&columns, i))).collect())
    }
}

impl Model for TreeModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        Ok(Predictions::Classes(self.leaves(x, commonest)?))
    }

    fn score_classes(&self, x: &dyn Columns) -> Result<Vec<(u32, Vec<f64>)>, Error> {
        let mut scores: Vec<(u32, Vec<f64>)> =
            (0..self.n_classes).map(|code| (code as u32, vec![0.0; x.n_samples()])).collect();
        for (i, leaf) in self.leaves(x, Leaf::clone)?.into_iter().enumerate() {
            for (code, share) in leaf {
                scores[code as usize].1[i] = share;
            }
        }
        Ok(scores)
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        vec![("leaves", self.tree.n_leaves() as f64)]
    }
}
