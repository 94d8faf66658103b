//! Growing trees, for decision trees and forests.

use fewest_core::{Classes, Context, Dataset, Error, FeatureKind};
use fewest_machines::{feature_names, finite_column};

/// The samples of a node, or of a loop over samples, after which the clock is looked at.
pub(super) const MANY: usize = 1024;

/// What a stop comes before.
pub(super) const GROWN: &str = "the trees were grown";

/// Which samples go to the first child.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
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

enum Node<L> {
    Leaf(L),
    /// The children are nodes `children` and `children + 1`.
    Split {
        feature: usize,
        rule: Rule,
        children: usize,
    },
}

/// What a leaf says: the shares of the classes that occur in it, by increasing code; or the means of the
/// outputs.
pub(super) type Leaf = Vec<(u32, f64)>;

/// The leaf of `count` samples whose classes were counted.
pub(super) fn shares(counts: &[f64], count: usize) -> Leaf {
    means(counts, count).into_iter().filter(|(_, share)| *share > 0.0).collect()
}

/// The leaf of `count` samples whose outputs have these sums.
pub(super) fn means(sums: &[f64], count: usize) -> Leaf {
    sums.iter().enumerate().map(|(at, sum)| (at as u32, sum / count as f64)).collect()
}

/// The class with the largest share; of equal ones the lowest code.
pub(super) fn commonest(leaf: &Leaf) -> u32 {
    let first = (u32::MAX, 0.0);
    leaf.iter().fold(first, |best, &(code, share)| if share > best.1 { (code, share) } else { best }).0
}

/// A tree whose leaves hold what they predict.
pub(super) struct Tree<L> {
    nodes: Vec<Node<L>>,
}

/// What is to be predicted.
pub(super) enum Response<'a> {
    Classes(&'a Classes),
    /// Outputs less their means, so that squares of sums lose no digits.
    Real(Vec<Vec<f64>>),
}

impl Response<'_> {
    fn width(&self) -> usize {
        match self {
            Self::Classes(classes) => classes.n_classes(),
            Self::Real(outputs) => outputs.len(),
        }
    }

    /// Adds sample `i`: to the count of its class, or its values to the sums.
    fn add(&self, sums: &mut [f64], i: usize) {
        match self {
            Self::Classes(classes) => sums[classes.codes()[i] as usize] += 1.0,
            Self::Real(outputs) => {
                for (sum, values) in sums.iter_mut().zip(outputs) {
                    *sum += values[i];
                }
            }
        }
    }

    fn are_equal(&self, a: usize, b: usize) -> bool {
        match self {
            Self::Classes(classes) => classes.codes()[a] == classes.codes()[b],
            Self::Real(outputs) => outputs.iter().all(|values| values[a] == values[b]),
        }
    }
}

/// Samples to learn from.
pub(super) struct Training<'a> {
    pub columns: Vec<Vec<f64>>,
    categorical: Vec<bool>,
    pub response: Response<'a>,
    min_leaf: usize,
}

/// A split, with `Σ_c s_c²/n` over both parts: of counts `s` of classes, `n` less `n` times the Gini
/// impurity, and of sums of centred values the part of their squares that the split explains.
struct Candidate {
    purity: f64,
    feature: usize,
    rule: Rule,
}

fn purity(sums: impl Iterator<Item = f64>, n: usize) -> f64 {
    sums.map(|sum| sum * sum).sum::<f64>() / n as f64
}

impl<'a> Training<'a> {
    pub(super) fn new(data: &Dataset, response: Response<'a>, min_leaf: usize) -> Result<Self, Error> {
        let names = feature_names(data);
        let is_categorical = |j| matches!(data.feature_kind(j), FeatureKind::Categorical { .. });
        Ok(Self {
            columns: (0..data.n_features())
                .map(|j| finite_column(data.x(), &names, j))
                .collect::<Result<_, Error>>()?,
            categorical: (0..data.n_features()).map(is_categorical).collect(),
            response,
            min_leaf,
        })
    }

    fn sums(&self, samples: &[usize]) -> Vec<f64> {
        let mut sums = vec![0.0; self.response.width()];
        samples.iter().for_each(|&i| self.response.add(&mut sums, i));
        sums
    }

    /// The best split of `samples`, whose sums are `all`, by one of `features`; the first of several.
    fn best_split(
        &self,
        samples: &[usize],
        all: &[f64],
        features: &[usize],
        context: &Context<'_>,
    ) -> Result<Option<Candidate>, Error> {
        let mut best: Option<Candidate> = None;
        let mut order = Vec::with_capacity(samples.len());
        let mut inside = vec![0.0; all.len()];
        for &feature in features {
            // To look at the clock costs as much as a split of a few samples.
            if samples.len() >= MANY {
                context.go_on(GROWN)?;
            }
            let values = &self.columns[feature];
            order.clear();
            order.extend(samples.iter().map(|&i| (values[i], i)));
            order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            inside.fill(0.0);
            let mut n_inside = 0;
            let mut runs = order.chunk_by(|a, b| a.0 == b.0).peekable();
            while let Some(run) = runs.next() {
                let value = run[0].0;
                let rule = if self.categorical[feature] {
                    inside.fill(0.0);
                    n_inside = 0;
                    Rule::Equal(value)
                } else {
                    // Nothing is above the last value.
                    let Some(next) = runs.peek() else { break };
                    let next = next[0].0;
                    let middle = 0.5 * value + 0.5 * next;
                    Rule::AtMost(if middle < next { middle } else { value })
                };
                run.iter().for_each(|&(_, i)| self.response.add(&mut inside, i));
                n_inside += run.len();
                let n_outside = samples.len() - n_inside;
                if n_inside < self.min_leaf || n_outside < self.min_leaf {
                    continue;
                }
                let outside = all.iter().zip(&inside).map(|(all, inside)| all - inside);
                let purity = purity(inside.iter().copied(), n_inside) + purity(outside, n_outside);
                if best.as_ref().is_none_or(|best| purity > best.purity) {
                    best = Some(Candidate { purity, feature, rule });
                }
            }
        }
        Ok(best)
    }
}

/// Which features a node may split by.
pub(super) trait Choice {
    /// At least `tried` features, or all there are; called once for each node.
    fn first(&mut self) -> Vec<usize>;

    /// One more, where none of those gives a split; `None` where all were tried.
    fn another(&mut self) -> Option<usize>;
}

/// All features, in their order.
pub(super) struct All(pub usize);

impl Choice for All {
    fn first(&mut self) -> Vec<usize> {
        (0..self.0).collect()
    }

    fn another(&mut self) -> Option<usize> {
        None
    }
}

impl<L> Tree<L> {
    /// A tree over `samples`, which may hold a sample several times. `leaf` makes the prediction of the sums
    /// and the number of a node's samples.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn grow(
        training: &Training<'_>,
        samples: Vec<usize>,
        max_depth: Option<usize>,
        choice: &mut dyn Choice,
        leaf: impl Fn(&[f64], usize) -> L,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let mut nodes = vec![Node::Leaf(leaf(&training.sums(&samples), samples.len()))];
        // A list of work instead of recursion: a tree can be as deep as there are samples.
        let mut open = vec![(0_usize, 0_usize, samples)];
        while let Some((node, depth, samples)) = open.pop() {
            context.go_on(GROWN)?;
            let pure = samples.iter().all(|&i| training.response.are_equal(i, samples[0]));
            if pure || max_depth.is_some_and(|deepest| depth >= deepest) {
                continue;
            }
            let all = training.sums(&samples);
            let mut found = training.best_split(&samples, &all, &choice.first(), context)?;
            while found.is_none() {
                let Some(feature) = choice.another() else { break };
                found = training.best_split(&samples, &all, &[feature], context)?;
            }
            let Some(Candidate { feature, rule, .. }) = found else { continue };
            let values = &training.columns[feature];
            let (first, second): (Vec<usize>, Vec<usize>) =
                samples.into_iter().partition(|&i| rule.holds(values[i]));
            let children = nodes.len();
            nodes[node] = Node::Split { feature, rule, children };
            for part in [first, second] {
                nodes.push(Node::Leaf(leaf(&training.sums(&part), part.len())));
                open.push((nodes.len() - 1, depth + 1, part));
            }
        }
        Ok(Self { nodes })
    }

    /// What is predicted for row `i` of these columns.
    pub(super) fn predict(&self, columns: &[Vec<f64>], i: usize) -> &L {
        self.leaf(|feature| columns[feature][i])
    }

    /// What is predicted for the sample with these values of the features that are asked for on its way.
    pub(super) fn leaf(&self, mut value: impl FnMut(usize) -> f64) -> &L {
        let mut node = 0;
        loop {
            match &self.nodes[node] {
                Node::Leaf(leaf) => break leaf,
                Node::Split { feature, rule, children } => {
                    node = if rule.holds(value(*feature)) { *children } else { children + 1 };
                }
            }
        }
    }

    pub(super) fn n_leaves(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node, Node::Leaf(_))).count()
    }
}
