//! A data set: features, target, and additional information about them.

mod gathered;
mod parts;

use std::sync::Arc;

use crate::columns::RowSubset;
use crate::{Authors, Classes, Column, Columns, Error, Graph, Groups, Target, Views};

pub(crate) use gathered::Gathered;

/// The kind of a feature.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FeatureKind {
    /// Quantities: differences and order have a meaning.
    #[default]
    Numeric,
    /// Codes of categories, `0.0, 1.0, …`, each with a name.
    Categorical {
        /// The name of each code.
        levels: Vec<String>,
    },
}

/// A table with a target. Cloning is cheap: the features are shared.
#[derive(Clone)]
pub struct Dataset {
    x: Arc<dyn Columns>,
    target: Target,
    feature_names: Option<Arc<[String]>>,
    feature_kinds: Option<Arc<[FeatureKind]>>,
    feature_groups: Option<Arc<Groups>>,
    feature_graph: Option<Arc<Graph>>,
    views: Option<Arc<Views>>,
    sample_ids: Option<Vec<String>>,
    sample_id_name: Option<String>,
    sample_weights: Option<Vec<f64>>,
    sample_graph: Option<Arc<Graph>>,
    authors: Option<Arc<Authors>>,
    surroundings: Option<Arc<Surroundings>>,
}

/// All samples of a network, without their target, and which of them a data set has.
struct Surroundings {
    all: Dataset,
    rows: Vec<usize>,
}

impl Surroundings {
    /// Of the samples `rows` of those that are among them.
    fn of(&self, rows: &[usize]) -> Self {
        Self { all: self.all.clone(), rows: rows.iter().map(|&row| self.rows[row]).collect() }
    }
}

impl Dataset {
    /// Features `x` with their `target`.
    ///
    /// # Errors
    /// [`Error::TooFew`] for a table without samples or features; [`Error::ShapeMismatch`] when the
    /// target's length differs.
    pub fn new(x: impl Columns + 'static, target: Target) -> Result<Self, Error> {
        Self::shared(Arc::new(x), target)
    }

    /// [`Dataset::new`] for features that are shared already.
    ///
    /// # Errors
    /// As [`Dataset::new`].
    pub fn shared(x: Arc<dyn Columns>, target: Target) -> Result<Self, Error> {
        check_not_empty(&*x)?;
        if let Some(found) = target.n_samples() {
            check_length("target values", x.n_samples(), found)?;
        }
        Ok(Self {
            x,
            target,
            feature_names: None,
            feature_kinds: None,
            feature_groups: None,
            feature_graph: None,
            views: None,
            sample_ids: None,
            sample_id_name: None,
            sample_weights: None,
            sample_graph: None,
            authors: None,
            surroundings: None,
        })
    }

    /// With a name for each feature.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many names as features.
    pub fn with_feature_names(mut self, names: Vec<String>) -> Result<Self, Error> {
        check_length("feature names", self.n_features(), names.len())?;
        self.feature_names = Some(names.into());
        Ok(self)
    }

    /// With a kind for each feature; without kinds, all are numeric.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many kinds as features.
    pub fn with_feature_kinds(mut self, kinds: Vec<FeatureKind>) -> Result<Self, Error> {
        check_length("feature kinds", self.n_features(), kinds.len())?;
        self.feature_kinds = Some(kinds.into());
        Ok(self)
    }

    /// With groups of features.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless the groups have the same number of features.
    pub fn with_feature_groups(mut self, groups: impl Into<Arc<Groups>>) -> Result<Self, Error> {
        let groups = groups.into();
        check_length("features of the groups", self.n_features(), groups.n_features())?;
        self.feature_groups = Some(groups);
        Ok(self)
    }

    /// With links between features, whose nodes are the features.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many nodes as features.
    pub fn with_feature_graph(mut self, graph: impl Into<Arc<Graph>>) -> Result<Self, Error> {
        let graph = graph.into();
        check_length("nodes of the graph of features", self.n_features(), graph.n_nodes())?;
        self.feature_graph = Some(graph);
        Ok(self)
    }

    /// With links between samples, whose nodes are the samples.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many nodes as samples.
    pub fn with_sample_graph(mut self, graph: impl Into<Arc<Graph>>) -> Result<Self, Error> {
        let graph = graph.into();
        check_length("nodes of the sample graph", self.n_samples(), graph.n_nodes())?;
        self.sample_graph = Some(graph);
        Ok(self)
    }

    /// With the authors of the samples, and who follows whom.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless every sample has an author.
    pub fn with_authors(mut self, authors: impl Into<Arc<Authors>>) -> Result<Self, Error> {
        let authors = authors.into();
        check_length("samples with an author", self.n_samples(), authors.of_sample().len())?;
        self.authors = Some(authors);
        Ok(self)
    }

    /// With the samples around these: those of a network whose labels are hidden, with the links between all
    /// of them. These samples are the `rows` of `all`, whose target is not kept. Only methods of linked
    /// samples look at them ([`Dataset::surroundings`]).
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there is a row for each sample, and as many features;
    /// [`Error::InvalidParameter`] for a row that does not exist.
    ///
    /// ```
    /// use fewest_core::{Dataset, DenseColumns, Graph, Target};
    /// let x = DenseColumns::from_columns(&[vec![1.0, 2.0, 3.0]])?;
    /// let links = Graph::undirected(3, &[(0, 2, 1.0)])?;
    /// let all = Dataset::new(x, Target::real(vec![5.0, 6.0, 7.0])?)?.with_sample_graph(links)?;
    /// let training = all.subset(&[0, 1])?.with_surroundings(&all, vec![0, 1])?;
    /// // The link leads out of the training samples: only the surroundings have it, and they have no target.
    /// assert_eq!(training.sample_graph().map(Graph::n_links), Some(0));
    /// let Some((all, rows)) = training.surroundings() else { unreachable!() };
    /// assert_eq!((all.sample_graph().map(Graph::n_links), rows), (Some(1), &[0, 1][..]));
    /// assert_eq!(*all.target(), Target::None);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    pub fn with_surroundings(mut self, all: &Dataset, rows: Vec<usize>) -> Result<Self, Error> {
        check_length("rows of the surroundings", self.n_samples(), rows.len())?;
        check_length("features of the surroundings", self.n_features(), all.n_features())?;
        if let Some(row) = rows.iter().find(|row| **row >= all.n_samples()) {
            return Err(Error::parameter("rows", row, format!("below {}", all.n_samples())));
        }
        let all = Self { target: Target::None, surroundings: None, ..all.clone() };
        self.surroundings = Some(Arc::new(Surroundings { all, rows }));
        Ok(self)
    }

    /// With the views of the features: which of them come from which source.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless every feature has a view.
    pub fn with_views(mut self, views: impl Into<Arc<Views>>) -> Result<Self, Error> {
        let views = views.into();
        check_length("features with a view", self.n_features(), views.of_feature().len())?;
        self.views = Some(views);
        Ok(self)
    }

    /// With another target for the same samples, or none.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless it has as many values as there are samples.
    pub fn with_target(mut self, target: Target) -> Result<Self, Error> {
        if let Some(found) = target.n_samples() {
            check_length("target values", self.n_samples(), found)?;
        }
        self.target = target;
        Ok(self)
    }

    /// With a name for each sample.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many as samples.
    pub fn with_sample_ids(mut self, ids: Vec<String>) -> Result<Self, Error> {
        check_length("sample ids", self.n_samples(), ids.len())?;
        self.sample_ids = Some(ids);
        Ok(self)
    }

    /// With a name for the sample ids, such as the header of their column.
    pub fn with_sample_id_name(mut self, name: String) -> Self {
        self.sample_id_name = Some(name);
        self
    }

    /// With a weight for each sample.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many as samples; [`Error::InvalidParameter`] for a
    /// weight that is negative or not finite.
    pub fn with_sample_weights(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        check_length("sample weights", self.n_samples(), weights.len())?;
        if let Some(weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return Err(Error::parameter("sample weight", weight, "finite and not negative"));
        }
        self.sample_weights = Some(weights);
        Ok(self)
    }

    /// With other values of the same features and samples: scaled, or with missing values filled in.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many samples and features as before.
    pub fn with_x(mut self, x: impl Columns + 'static) -> Result<Self, Error> {
        check_length("samples of the new values", self.n_samples(), x.n_samples())?;
        check_length("features of the new values", self.n_features(), x.n_features())?;
        self.x = Arc::new(x);
        // They would have the values of before.
        self.surroundings = None;
        Ok(self)
    }

    /// The features.
    pub fn x(&self) -> &dyn Columns {
        &*self.x
    }

    /// The features, to share with another data set.
    pub fn shared_x(&self) -> Arc<dyn Columns> {
        Arc::clone(&self.x)
    }

    /// The target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The target as classes.
    ///
    /// # Errors
    /// [`Error::UnsupportedTarget`], in the name of `method`, for another one.
    pub fn classes(&self, method: &'static str) -> Result<&Classes, Error> {
        match &self.target {
            Target::Class(classes) => Ok(classes),
            other => Err(Error::UnsupportedTarget { method, expected: "classes", found: other.describe() }),
        }
    }

    /// Number of samples (rows).
    pub fn n_samples(&self) -> usize {
        self.x.n_samples()
    }

    /// Number of features (columns).
    pub fn n_features(&self) -> usize {
        self.x.n_features()
    }

    /// The name of feature `j`, or `f{j}` where names were not given.
    pub fn feature_name(&self, j: usize) -> String {
        match self.feature_names.as_ref().and_then(|names| names.get(j)) {
            Some(name) => name.clone(),
            None => format!("f{j}"),
        }
    }

    /// The kind of feature `j`.
    pub fn feature_kind(&self, j: usize) -> &FeatureKind {
        self.feature_kinds.as_ref().and_then(|kinds| kinds.get(j)).unwrap_or(&FeatureKind::Numeric)
    }

    /// The groups of features, where groups were given.
    pub fn feature_groups(&self) -> Option<&Groups> {
        self.feature_groups.as_deref()
    }

    /// The group of each feature, where groups were given: for methods that work with groups without overlap
    /// only.
    ///
    /// # Errors
    /// [`Error::Unsupported`], in the name of `method`, for other kinds of groups.
    ///
    /// ```
    /// use fewest_core::{Dataset, DenseColumns, Groups, Target};
    /// let data = Dataset::new(DenseColumns::new(vec![0.0; 3], 1, 3)?, Target::None)?;
    /// assert_eq!(data.feature_partition("group-lasso")?, None);
    /// let data = data.with_feature_groups(Groups::overlapping(3, vec![vec![0, 1], vec![1, 2]])?)?;
    /// assert!(data.feature_partition("group-lasso").is_err());
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    pub fn feature_partition(&self, method: &'static str) -> Result<Option<&[usize]>, Error> {
        match self.feature_groups() {
            None => Ok(None),
            Some(Groups::Partition(group_of)) => Ok(Some(group_of)),
            Some(other) => Err(Error::Unsupported {
                method,
                what: format!("working with {}", other.describe()),
                instead: match other {
                    Groups::Tree(_) => "use tree-lasso, or list each feature in one group only",
                    _ => "use overlapping-group-lasso, or list each feature in one group only",
                }
                .to_owned(),
            }),
        }
    }

    /// The links between features, where they were given.
    pub fn feature_graph(&self) -> Option<&Graph> {
        self.feature_graph.as_deref()
    }

    /// The links between samples, where they were given.
    pub fn sample_graph(&self) -> Option<&Graph> {
        self.sample_graph.as_deref()
    }

    /// The authors of the samples, where they were given.
    pub fn authors(&self) -> Option<&Authors> {
        self.authors.as_deref()
    }

    /// All samples of the network, without target, and the rows that these samples are among them, where they
    /// were given ([`Dataset::with_surroundings`]).
    pub fn surroundings(&self) -> Option<(&Dataset, &[usize])> {
        self.surroundings.as_deref().map(|around| (&around.all, &around.rows[..]))
    }

    /// The views of the features, where they were given.
    pub fn views(&self) -> Option<&Views> {
        self.views.as_deref()
    }

    /// The views of the features, for a method that needs them.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where they were not given.
    pub fn needed_views(&self, method: &'static str) -> Result<&Views, Error> {
        self.views().ok_or_else(|| Error::Unsupported {
            method,
            what: "a table without views".to_owned(),
            instead: "say which features come from which source (--views)".to_owned(),
        })
    }

    /// The name of each sample, where names were given.
    pub fn sample_ids(&self) -> Option<&[String]> {
        self.sample_ids.as_deref()
    }

    /// The name of the sample ids, where one was given.
    pub fn sample_id_name(&self) -> Option<&str> {
        self.sample_id_name.as_deref()
    }

    /// The weight of each sample, where weights were given.
    pub fn sample_weights(&self) -> Option<&[f64]> {
        self.sample_weights.as_deref()
    }

    /// For a method that does not use sample weights: called first, so that no method ignores them
    /// silently.
    ///
    /// # Errors
    /// [`Error::Unsupported`], in the name of `method`, where samples have weights.
    ///
    /// ```
    /// use fewest_core::{Dataset, DenseColumns, Error, Target};
    /// let data = Dataset::new(DenseColumns::new(vec![0.0; 3], 3, 1)?, Target::None)?;
    /// data.refuse_sample_weights("mine")?;
    /// let weighted = data.with_sample_weights(vec![1.0, 2.0, 1.0])?;
    /// assert!(matches!(weighted.refuse_sample_weights("mine"), Err(Error::Unsupported { method: "mine", .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn refuse_sample_weights(&self, method: &'static str) -> Result<(), Error> {
        match self.sample_weights {
            None => Ok(()),
            Some(_) => Err(Error::Unsupported {
                method,
                what: "weighting samples".to_owned(),
                instead: "leave the weights out, or repeat rows".to_owned(),
            }),
        }
    }

    /// The samples `rows`, in that order, without copying the features, with all information about them;
    /// of the links only those between two of these samples.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when a row is out of range; [`Error::TooFew`] when none is left.
    pub fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        let x = RowSubset::new(Arc::clone(&self.x), rows.to_vec())?;
        check_not_empty(&x)?;
        let sample_graph = self.sample_graph.as_ref().map(|graph| graph.subset(rows)).transpose()?;
        let authors = self.authors.as_ref().map(|authors| authors.subset(rows)).transpose()?;
        let sample_ids = |ids: &Vec<String>| rows.iter().map(|&row| ids[row].clone()).collect();
        let sample_weights = |weights: &Vec<f64>| rows.iter().map(|&row| weights[row]).collect();
        // All fields are listed, so that the compiler finds a forgotten one.
        Ok(Self {
            x: Arc::new(x),
            target: self.target.subset(rows),
            feature_names: self.feature_names.clone(),
            feature_kinds: self.feature_kinds.clone(),
            feature_groups: self.feature_groups.clone(),
            feature_graph: self.feature_graph.clone(),
            views: self.views.clone(),
            sample_ids: self.sample_ids.as_ref().map(sample_ids),
            sample_id_name: self.sample_id_name.clone(),
            sample_weights: self.sample_weights.as_ref().map(sample_weights),
            sample_graph: sample_graph.map(Arc::new),
            authors: authors.map(Arc::new),
            surroundings: self.surroundings.as_ref().map(|around| Arc::new(around.of(rows))),
        })
    }

    /// The features with the same value in every sample, by increasing index.
    ///
    /// # Errors
    /// [`Error::Unreadable`] of the first feature that cannot be read.
    ///
    /// ```
    /// use fewest_core::{Dataset, DenseColumns, Target};
    /// let x = DenseColumns::from_columns(&[vec![0.0, 1.0], vec![3.0, 3.0]])?;
    /// assert_eq!(Dataset::new(x, Target::None)?.constant_features()?, [1]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    pub fn constant_features(&self) -> Result<Vec<usize>, Error> {
        let mut scratch = Vec::new();
        let n_samples = self.n_samples();
        let mut constant = Vec::new();
        for j in 0..self.n_features() {
            let is_constant = match self.x.column(j, &mut scratch)? {
                Column::Dense(values) => values.iter().all(|value| *value == values[0]),
                Column::Sparse { values, .. } => {
                    let unstored =
                        if values.len() == n_samples { values.first().copied() } else { Some(0.0) };
                    values.iter().all(|value| Some(*value) == unstored)
                }
            };
            if is_constant {
                constant.push(j);
            }
        }
        Ok(constant)
    }

    /// [`Error::NonFinite`] for the first NaN or infinity among the values of feature `j`.
    ///
    /// # Errors
    /// [`Error::NonFinite`], as above.
    pub fn check_finite(&self, j: usize, values: &[f64]) -> Result<(), Error> {
        // Without an early exit, which would prevent vectorisation.
        if values.iter().fold(true, |all, value| all & value.is_finite()) {
            return Ok(());
        }
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(row) => Err(Error::NonFinite {
                name: format!("`{}`", self.feature_name(j)),
                column: j,
                row,
                value: values[row],
            }),
        }
    }
}

fn check_not_empty(x: &dyn Columns) -> Result<(), Error> {
    for (what, found) in [("samples", x.n_samples()), ("features", x.n_features())] {
        if found == 0 {
            return Err(Error::TooFew { what, minimum: 1, found });
        }
    }
    Ok(())
}

fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::ShapeMismatch { what, expected, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DenseColumns;

    const N: usize = 4;

    /// Two features of four samples, with all that can be known about them.
    fn dataset(target: Target) -> Result<Dataset, Error> {
        let columns = [vec![1.0, 2.0, 3.0, 4.0], vec![0.0, 1.0, 1.0, 0.0]];
        let levels = vec!["no".to_owned(), "yes".to_owned()];
        Dataset::new(DenseColumns::from_columns(&columns)?, target)?
            .with_feature_names(vec!["size".to_owned(), "wild".to_owned()])?
            .with_feature_kinds(vec![FeatureKind::Numeric, FeatureKind::Categorical { levels }])?
            .with_feature_groups(Groups::partition(vec![5, 2]))?
            .with_feature_graph(Graph::undirected(2, &[(0, 1, 0.5)])?)?
            .with_views(Views::new(2, vec![("b".to_owned(), vec![1]), ("a".to_owned(), vec![0])])?)?
            .with_sample_graph(Graph::directed(N, &[(0, 3, 2.0), (3, 0, 4.0), (1, 2, 1.0), (3, 1, 5.0)])?)?
            .with_sample_ids(["a", "b", "c", "d"].map(str::to_owned).to_vec())?
            .with_sample_id_name("letter".to_owned())
            .with_sample_weights(vec![0.1, 0.2, 0.3, 0.4])
    }

    /// Out of order and one row twice: each sample keeps its values, target, name and weight.
    #[test]
    fn a_subset_takes_along_what_is_known() -> Result<(), Error> {
        let rows = [3, 0, 3];
        let affinity = (0..N * N).map(|at| ((at / N) * (at % N)) as f64).collect();
        let targets = [
            (Target::None, Target::None),
            (Target::real(vec![5.0, 6.0, 7.0, 8.0])?, Target::real(vec![8.0, 5.0, 8.0])?),
            (
                Target::outputs(vec![5.0, 6.0, 7.0, 8.0, -5.0, -6.0, -7.0, -8.0], N)?,
                Target::outputs(vec![8.0, 5.0, 8.0, -8.0, -5.0, -8.0], 3)?,
            ),
            // A class without samples stays a class.
            (
                Target::from_labels(&["x", "y", "z", "x"]),
                Target::classes(vec![0; 3], ["x", "y", "z"].map(str::to_owned).to_vec())?,
            ),
            (
                Target::affinity(affinity, N)?,
                Target::affinity(vec![9.0, 0.0, 9.0, 0.0, 0.0, 0.0, 9.0, 0.0, 9.0], 3)?,
            ),
        ];
        for (target, expected) in targets {
            let whole = dataset(target)?;
            let subset = whole.subset(&rows)?;
            assert_eq!((subset.n_samples(), subset.n_features()), (3, 2));
            assert_eq!(subset.target(), &expected);
            let column = |j: usize| Ok::<_, Error>(subset.x().column(j, &mut Vec::new())?.to_vec(3));
            assert_eq!((column(0)?, column(1)?), (vec![4.0, 1.0, 4.0], vec![0.0; 3]));
            for j in 0..2 {
                assert_eq!(subset.feature_name(j), whole.feature_name(j));
                assert_eq!(subset.feature_kind(j), whole.feature_kind(j));
            }
            assert_eq!(subset.feature_partition("test")?, Some([5, 2].as_slice()));
            assert_eq!(subset.feature_graph(), whole.feature_graph());
            assert_eq!(subset.views(), whole.views());
            let links = [(0, 1, 4.0), (1, 0, 2.0), (1, 2, 2.0), (2, 1, 4.0)];
            assert_eq!(subset.sample_graph(), Some(&Graph::directed(3, &links)?));
            assert_eq!(subset.sample_ids(), Some(["d", "a", "d"].map(str::to_owned).as_slice()));
            assert_eq!(subset.sample_id_name(), Some("letter"));
            assert_eq!(subset.sample_weights(), Some([0.4, 0.1, 0.4].as_slice()));
            // Of a subset, as of the table.
            assert_eq!(subset.subset(&[1])?.sample_ids(), Some(["a".to_owned()].as_slice()));
        }
        Ok(())
    }

    #[test]
    fn what_is_about_another_number_of_samples_or_features_is_an_error() -> Result<(), Error> {
        let data = dataset(Target::None)?;
        let wrong = [
            data.clone().with_feature_groups(Groups::partition(vec![0; 3])),
            data.clone().with_feature_graph(Graph::undirected(3, &[])?),
            data.clone().with_sample_graph(Graph::undirected(2, &[])?),
            data.clone().with_views(Views::new(1, vec![("a".to_owned(), vec![0])])?),
            data.clone().with_target(Target::real(vec![0.0; 3])?),
        ];
        for result in wrong {
            assert!(matches!(result, Err(Error::ShapeMismatch { .. })));
        }
        assert_eq!(data.with_target(Target::None)?.sample_weights().map(<[f64]>::len), Some(N));
        Ok(())
    }

    #[test]
    fn rows_that_are_not_there_and_no_rows_are_errors() -> Result<(), Error> {
        for target in [Target::None, Target::real(vec![5.0, 6.0, 7.0, 8.0])?] {
            let whole = dataset(target)?;
            assert!(matches!(whole.subset(&[0, N]), Err(Error::InvalidParameter { .. })));
            assert!(matches!(whole.subset(&[]), Err(Error::TooFew { .. })));
        }
        Ok(())
    }
}
