//! Growing trees, for decision trees and forests.

use std::ops::Range;

use fewest_core::{Classes, Context, Dataset, Error, FeatureKind};
use fewest_machines::{feature_names, finite_column};

use super::ranks::{Ranks, Sorter};
use super::sides::{ClassSides, OutputSides, Sides};

/// The samples of a node, or of a loop over samples, after which the clock is looked at.
pub(super) const MANY: usize = 1024;

/// What a stop comes before.
pub(super) const GROWN: &str = "the trees were grown";

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

/// A split on the way of a sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passed {
    rule: Rule,
    /// The child that is not on the way.
    pub(super) other: usize,
}

impl Passed {
    /// Whether samples with these values go different ways.
    pub(super) fn parts(self, value: f64, other: f64) -> bool {
        self.rule.holds(value) != self.rule.holds(other)
    }
}

enum Node {
    Leaf(Leaf),
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

    /// Adds sample `i`, drawn `times`: to the count of its class, or its values to the sums.
    fn add(&self, sums: &mut [f64], i: usize, times: f64) {
        match self {
            Self::Classes(classes) => sums[classes.codes()[i] as usize] += times,
            Self::Real(outputs) => {
                for (sum, values) in sums.iter_mut().zip(outputs) {
                    *sum += times * values[i];
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
    ranks: Vec<Ranks>,
    categorical: Vec<bool>,
    pub response: Response<'a>,
    min_leaf: usize,
}

/// A split, with its [purity](Sides::purity).
struct Candidate {
    purity: f64,
    feature: usize,
    rule: Rule,
}

/// The samples of a node.
struct Members<'a> {
    /// Their numbers, increasing.
    samples: &'a [u32],
    /// How often each sample of the table was drawn.
    times: &'a [u32],
    /// Sums over the samples, as often as each was drawn, and how many that are.
    all: &'a [f64],
    count: usize,
}

impl<'a> Training<'a> {
    pub(super) fn new(data: &Dataset, response: Response<'a>, min_leaf: usize) -> Result<Self, Error> {
        let names = feature_names(data);
        let is_categorical = |j| matches!(data.feature_kind(j), FeatureKind::Categorical { .. });
        let columns: Vec<Vec<f64>> = (0..data.n_features())
            .map(|j| finite_column(data.x(), &names, j))
            .collect::<Result<_, Error>>()?;
        if u32::try_from(data.n_samples()).is_err() {
            return Err(Error::Unsupported {
                method: "a tree",
                what: format!("a table of more than {} samples", u32::MAX),
                instead: "take a part of the rows".to_owned(),
            });
        }
        Ok(Self {
            ranks: fewest_parallel::map(columns.len(), |j| Ranks::of(&columns[j])),
            columns,
            categorical: (0..data.n_features()).map(is_categorical).collect(),
            response,
            min_leaf,
        })
    }

    /// The sums of samples, and their number, as often as each was drawn.
    fn sums(&self, samples: &[u32], times: &[u32]) -> (Vec<f64>, usize) {
        let mut sums = vec![0.0; self.response.width()];
        let mut count = 0;
        for &i in samples {
            let times = times[i as usize];
            self.response.add(&mut sums, i as usize, f64::from(times));
            count += times as usize;
        }
        (sums, count)
    }

    /// The best split of a node by one of `features`; the first of several.
    fn best_split(
        &self,
        members: &Members<'_>,
        features: &[usize],
        sorter: &mut Sorter,
        context: &Context<'_>,
    ) -> Result<Option<Candidate>, Error> {
        match &self.response {
            Response::Classes(classes) => {
                let sides = ClassSides::new(classes.codes(), members.all);
                self.best_of(members, features, sides, sorter, context)
            }
            Response::Real(outputs) => {
                let sides = OutputSides::new(outputs, members.all);
                self.best_of(members, features, sides, sorter, context)
            }
        }
    }

    fn best_of(
        &self,
        members: &Members<'_>,
        features: &[usize],
        mut sides: impl Sides,
        sorter: &mut Sorter,
        context: &Context<'_>,
    ) -> Result<Option<Candidate>, Error> {
        let mut best: Option<Candidate> = None;
        for &feature in features {
            // To look at the clock costs as much as a split of a few samples.
            if members.samples.len() >= MANY {
                context.go_on(GROWN)?;
            }
            let values = &self.columns[feature];
            let categorical = self.categorical[feature];
            let order = sorter.sorted(&self.ranks[feature], members.samples);
            sides.clear();
            let mut n_inside = 0;
            let mut at = 0;
            while let Some(&first) = order.get(at) {
                if categorical {
                    sides.clear();
                    n_inside = 0;
                }
                // All samples of this value.
                while let Some(&next) = order.get(at)
                    && next.rank() == first.rank()
                {
                    let times = members.times[next.sample()];
                    sides.take(next.sample(), f64::from(times));
                    n_inside += times as usize;
                    at += 1;
                }
                let next = order.get(at);
                // Nothing is above the last value.
                if next.is_none() && !categorical {
                    break;
                }
                let n_outside = members.count - n_inside;
                if n_inside < self.min_leaf || n_outside < self.min_leaf {
                    continue;
                }
                let purity = sides.purity(n_inside, n_outside);
                if best.as_ref().is_none_or(|best| purity > best.purity) {
                    let value = values[first.sample()];
                    let rule = match next {
                        Some(next) if !categorical => {
                            let next = values[next.sample()];
                            let middle = 0.5 * value + 0.5 * next;
                            Rule::AtMost(if middle < next { middle } else { value })
                        }
                        _ => Rule::Equal(value),
                    };
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

/// A tree whose leaves hold what they predict.
pub(super) struct Tree {
    nodes: Vec<Node>,
}

/// A node that may be split: its samples are a range of those of the tree.
struct Open {
    node: usize,
    depth: usize,
    range: Range<usize>,
}

impl Tree {
    /// A tree over the samples that were drawn, each `times`. `leaf` makes the prediction of the sums and the
    /// number of a node's samples.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn grow(
        training: &Training<'_>,
        times: &[u32],
        max_depth: Option<usize>,
        choice: &mut dyn Choice,
        leaf: impl Fn(&[f64], usize) -> Leaf,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let mut samples: Vec<u32> = (0_u32..).zip(times).filter(|(_, t)| **t > 0).map(|(i, _)| i).collect();
        let (mut sorter, mut outside) = (Sorter::default(), Vec::new());
        let mut nodes = vec![Node::Leaf(Leaf::new())];
        // A list of work instead of recursion: a tree can be as deep as there are samples.
        let mut open = vec![Open { node: 0, depth: 0, range: 0..samples.len() }];
        while let Some(Open { node, depth, range }) = open.pop() {
            context.go_on(GROWN)?;
            let part = &mut samples[range.clone()];
            let (all, count) = training.sums(part, times);
            let is_first = |i: &u32| training.response.are_equal(*i as usize, part[0] as usize);
            let is_leaf = part.iter().all(is_first) || max_depth.is_some_and(|deepest| depth >= deepest);
            let mut found = None;
            if !is_leaf {
                let members = Members { samples: part, times, all: &all, count };
                found = training.best_split(&members, &choice.first(), &mut sorter, context)?;
                while found.is_none() {
                    let Some(feature) = choice.another() else { break };
                    found = training.best_split(&members, &[feature], &mut sorter, context)?;
                }
            }
            let Some(Candidate { feature, rule, .. }) = found else {
                nodes[node] = Node::Leaf(leaf(&all, count));
                continue;
            };
            let values = &training.columns[feature];
            // Both parts stay in the order of the table.
            outside.clear();
            let mut n_inside = 0;
            for at in 0..part.len() {
                let i = part[at];
                if rule.holds(values[i as usize]) {
                    part[n_inside] = i;
                    n_inside += 1;
                } else {
                    outside.push(i);
                }
            }
            part[n_inside..].copy_from_slice(&outside);
            let children = nodes.len();
            nodes[node] = Node::Split { feature, rule, children };
            let middle = range.start + n_inside;
            for (child, range) in [(children, range.start..middle), (children + 1, middle..range.end)] {
                nodes.push(Node::Leaf(Leaf::new()));
                open.push(Open { node: child, depth: depth + 1, range });
            }
        }
        Ok(Self { nodes })
    }

    /// What is predicted for row `i` of these columns.
    pub(super) fn predict(&self, columns: &[Vec<f64>], i: usize) -> &Leaf {
        self.leaf(0, |feature| columns[feature][i], |_, _| ())
    }

    /// What is predicted, from node `from` on, for the sample with these values of the features that are
    /// asked for on its way. `passed` is told of each split on it, with its feature.
    pub(super) fn leaf(
        &self,
        from: usize,
        value: impl Fn(usize) -> f64,
        mut passed: impl FnMut(usize, Passed),
    ) -> &Leaf {
        let mut node = from;
        loop {
            match &self.nodes[node] {
                Node::Leaf(leaf) => break leaf,
                &Node::Split { feature, rule, children } => {
                    let (taken, other) = match rule.holds(value(feature)) {
                        true => (children, children + 1),
                        false => (children + 1, children),
                    };
                    passed(feature, Passed { rule, other });
                    node = taken;
                }
            }
        }
    }

    pub(super) fn n_leaves(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node, Node::Leaf(_))).count()
    }
}

#[cfg(test)]
mod tests;
