//! Decision trees.

use fewest_core::method::Options;
use fewest_core::{Classes, Columns, Context, Dataset, Error, FeatureKind, options};
use fewest_machines::{check_width, feature_names, finite_column};

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

/// Which samples go to the first child.
#[derive(Debug, Clone, Copy)]
enum Rule {
    AtMost(f64),
    Equal(f64),
}

impl Rule {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(threshold) => value <= threshold,
            Self::Equal(level) => value == level,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Node {
    Leaf(u32),
    /// The children are nodes `children` and `children + 1`.
    Split {
        feature: usize,
        rule: Rule,
        children: usize,
    },
}

struct TreeModel {
    names: Vec<String>,
    nodes: Vec<Node>,
}

struct Training<'a> {
    columns: Vec<Vec<f64>>,
    categorical: Vec<bool>,
    classes: &'a Classes,
    min_leaf: usize,
}

/// A split, with `Σ_c n_c²/n` over both parts: `n` times one less its impurity.
struct Candidate {
    purity: f64,
    feature: usize,
    rule: Rule,
}

fn purity(counts: &[usize], n: usize) -> f64 {
    counts.iter().map(|&count| (count * count) as f64).sum::<f64>() / n as f64
}

impl Training<'_> {
    fn counts(&self, samples: &[usize]) -> Vec<usize> {
        let mut counts = vec![0; self.classes.n_classes()];
        for &i in samples {
            counts[self.classes.codes()[i] as usize] += 1;
        }
        counts
    }

    /// The best split of `samples`, whose classes are counted in `counts`; `None` when there is none.
    fn best_split(&self, samples: &[usize], counts: &[usize]) -> Option<Candidate> {
        let mut best: Option<Candidate> = None;
        let mut order = samples.to_vec();
        for (feature, values) in self.columns.iter().enumerate() {
            order.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
            let mut inside = vec![0_usize; counts.len()];
            let mut n_inside = 0;
            let mut runs = order.chunk_by(|&a, &b| values[a] == values[b]).peekable();
            while let Some(run) = runs.next() {
                let value = values[run[0]];
                let rule = if self.categorical[feature] {
                    inside.fill(0);
                    n_inside = 0;
                    Rule::Equal(value)
                } else {
                    // Nothing is above the last value.
                    let Some(next) = runs.peek() else { break };
                    let next = values[next[0]];
                    let middle = 0.5 * value + 0.5 * next;
                    Rule::AtMost(if middle < next { middle } else { value })
                };
                for &i in run {
                    inside[self.classes.codes()[i] as usize] += 1;
                }
                n_inside += run.len();
                let n_outside = samples.len() - n_inside;
                if n_inside < self.min_leaf || n_outside < self.min_leaf {
                    continue;
                }
                let outside: Vec<usize> =
                    counts.iter().zip(&inside).map(|(all, inside)| all - inside).collect();
                let purity = purity(&inside, n_inside) + purity(&outside, n_outside);
                if best.as_ref().is_none_or(|best| purity > best.purity) {
                    best = Some(Candidate { purity, feature, rule });
                }
            }
        }
        best
    }
}

impl Learner for DecisionTree {
    fn name(&self) -> &'static str {
        "decision-tree"
    }

    fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        self.check()?;
        let names = feature_names(data);
        let is_categorical = |j| matches!(data.feature_kind(j), FeatureKind::Categorical { .. });
        let training = Training {
            columns: (0..data.n_features())
                .map(|j| finite_column(data.x(), &names, j))
                .collect::<Result<_, Error>>()?,
            categorical: (0..data.n_features()).map(is_categorical).collect(),
            classes: data.classes(self.name())?,
            min_leaf: self.min_leaf,
        };
        let mut nodes = vec![Node::Leaf(0)];
        // A stack instead of recursion: a tree can be as deep as there are samples.
        let mut open = vec![(0_usize, 0_usize, (0..data.n_samples()).collect::<Vec<usize>>())];
        while let Some((node, depth, samples)) = open.pop() {
            if context.stopped().is_some() {
                return Err(Error::Stopped { before: "the decision tree was grown" });
            }
            let counts = training.counts(&samples);
            let most_frequent = (0..counts.len()).rev().max_by_key(|&class| counts[class]).unwrap_or(0);
            nodes[node] = Node::Leaf(most_frequent as u32);
            let pure = counts[most_frequent] == samples.len();
            if pure || self.max_depth.is_some_and(|deepest| depth >= deepest) {
                continue;
            }
            if let Some(Candidate { feature, rule, .. }) = training.best_split(&samples, &counts) {
                let values = &training.columns[feature];
                let (first, second): (Vec<usize>, Vec<usize>) =
                    samples.into_iter().partition(|&i| rule.holds(values[i]));
                let children = nodes.len();
                nodes[node] = Node::Split { feature, rule, children };
                nodes.extend([Node::Leaf(0), Node::Leaf(0)]);
                open.push((children, depth + 1, first));
                open.push((children + 1, depth + 1, second));
            }
        }
        Ok(Box::new(TreeModel { names, nodes }))
    }
}

impl Model for TreeModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        check_width(x, self.names.len())?;
        let columns: Vec<Vec<f64>> =
            (0..self.names.len()).map(|j| finite_column(x, &self.names, j)).collect::<Result<_, Error>>()?;
        let class = |i: usize| {
            let mut node = 0;
            loop {
                match self.nodes[node] {
                    Node::Leaf(class) => break class,
                    Node::Split { feature, rule, children } => {
                        node = if rule.holds(columns[feature][i]) { children } else { children + 1 };
                    }
                }
            }
        };
        Ok(Predictions::Classes((0..x.n_samples()).map(class).collect()))
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        let leaves = self.nodes.iter().filter(|node| matches!(node, Node::Leaf(_))).count();
        vec![("leaves", leaves as f64)]
    }
}
