//! The counts of all features.

use std::ops::Range;

use fewest_columns::finite_values;
use fewest_core::{Dataset, Error, FeatureKind, State, Target, state};

use super::METHOD;
use super::axis::{Axis, Numbers, Place, enough_nodes};
use super::joint::Joint;
use crate::dependence::Dependence;

/// Most nodes of a real target, and of a feature with one, while their ranges are not known.
const NODES: usize = 128;

/// Most nodes of a feature with few classes, where that many cost little, and counts that they then may take.
const MOST_NODES: usize = 512;
const MOST_COUNTS: usize = 1 << 14;

/// Most nodes of a variable whose range is known, and counts of a feature: 4 MiB.
const MOST_NODES_OF_RANGE: usize = 4096;
const MOST_COUNTS_OF_RANGE: usize = 1 << 19;

/// Levels of a category that are not named.
const MOST_LEVELS: usize = 1 << 16;

/// Features that a task works on.
const TASK: usize = 8;

/// What is counted of all samples so far.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    kinds: Option<Kinds>,
    pub(crate) n: usize,
    /// The target alone.
    pub(crate) target: Joint,
    pub(crate) features: Vec<Joint>,
}

impl Default for Counts {
    fn default() -> Self {
        Self { kinds: None, n: 0, target: Joint::new(Axis::Levels(0), 1), features: Vec::new() }
    }
}

/// What all batches must have in common.
#[derive(Debug, Clone, PartialEq)]
struct Kinds {
    /// The levels of categories.
    features: Vec<Option<Vec<String>>>,
    /// None of a real target.
    classes: Option<Vec<String>>,
}

state!(Kinds { features, classes });

impl Kinds {
    fn of(batch: &Dataset) -> Result<Self, Error> {
        let levels = |j| match batch.feature_kind(j) {
            FeatureKind::Categorical { levels } => Some(levels.clone()),
            _ => None,
        };
        let classes = match batch.target() {
            Target::Class(classes) => Some(classes.names().to_vec()),
            Target::Real(outputs) if outputs.n_outputs() == 1 => None,
            other => {
                let (expected, found) = ("classes or one real output", other.describe());
                return Err(Error::UnsupportedTarget { method: METHOD, expected, found });
            }
        };
        Ok(Self { features: (0..batch.n_features()).map(levels).collect(), classes })
    }

    fn check(&self, first: &Self) -> Result<(), Error> {
        let (expected, found) = (first.features.len(), self.features.len());
        if expected != found {
            return Err(Error::ShapeMismatch { what: "features of a batch", expected, found });
        }
        if self.classes != first.classes {
            let expected = "those of the first batch: name all classes in every batch, in one order";
            return Err(Error::parameter("classes of a batch", "others", expected));
        }
        match (0..found).find(|&j| self.features[j] != first.features[j]) {
            None => Ok(()),
            Some(j) => {
                let expected = "that of the first batch: name all levels in every batch, in one order";
                Err(Error::parameter("kind of a feature", format!("another one for column {j}"), expected))
            }
        }
    }
}

/// The nodes of all variables.
#[derive(Debug)]
pub(crate) struct Axes {
    kinds: Kinds,
    target: Axis,
    features: Vec<Axis>,
}

impl Axes {
    /// For variables of the kinds in this batch, of no value yet.
    ///
    /// # Errors
    /// For a target or features that cannot be counted.
    pub(crate) fn of_kinds(batch: &Dataset, dependence: &Dependence) -> Result<Self, Error> {
        let kinds = Kinds::of(batch)?;
        let (target, features) = Counts::begin(dependence, &kinds)?;
        let features = features.into_iter().map(|feature| feature.axis).collect();
        Ok(Self { kinds, target: target.axis, features })
    }

    /// For values in these ranges, of the target and of each feature, each with its length in widths of the
    /// kernel: with so many nodes that an entry of a Gram matrix is off by at most `error`, as far as there
    /// may be so many.
    pub(crate) fn over(
        self,
        target: (Range<f64>, f64),
        features: impl Iterator<Item = (Range<f64>, f64)>,
        error: f64,
    ) -> Self {
        let over = |axis: Axis, (range, widths): (Range<f64>, f64), most: usize| match axis {
            // Levels are known, or join when they come.
            Axis::Levels(_) => axis,
            Axis::Numbers(_) => Axis::Numbers(Numbers::of_range(range, enough_nodes(widths, error, most))),
        };
        let target = over(self.target, target, MOST_NODES_OF_RANGE);
        let most = (MOST_COUNTS_OF_RANGE / target.len().max(1)).clamp(NODES, MOST_NODES_OF_RANGE);
        let features = self.features.into_iter().zip(features).map(|(own, range)| over(own, range, most));
        Self { features: features.collect(), target, ..self }
    }

    pub(crate) fn n_features(&self) -> usize {
        self.features.len()
    }

    /// Numbers that the counts hold.
    pub(crate) fn size(&self) -> usize {
        let of_feature = |axis: &Axis| axis.len().saturating_mul(self.target.len());
        self.features.iter().map(of_feature).fold(0, usize::saturating_add)
    }

    /// Counts of no samples.
    pub(crate) fn counts(&self) -> Counts {
        let width = self.target.len();
        let features = self.features.iter().map(|axis| Joint::new(axis.clone(), width)).collect();
        let target = Joint::new(self.target.clone(), 1);
        Counts { kinds: Some(self.kinds.clone()), n: 0, target, features }
    }

    /// Whether these counts are at these nodes: those of numbers are the same, and levels without names may
    /// have joined.
    ///
    /// # Errors
    /// [`Error::Unreadable`], naming the first column that has other nodes.
    pub(crate) fn check(&self, counts: &Counts) -> Result<(), Error> {
        let others = |j| Error::unreadable(j, "the stream has other rows than in an earlier pass");
        let is_same = |own: &Axis, found: &Axis| match (own, found) {
            (Axis::Levels(own), Axis::Levels(found)) => found >= own,
            _ => own == found,
        };
        let same_kinds = counts.kinds.as_ref() == Some(&self.kinds);
        if !same_kinds
            || counts.features.len() != self.features.len()
            || !is_same(&self.target, &counts.target.axis)
        {
            return Err(others(0));
        }
        let mut both = self.features.iter().zip(&counts.features);
        match both.position(|(own, found)| !is_same(own, &found.axis)) {
            None => Ok(()),
            Some(j) => Err(others(j)),
        }
    }
}

impl Counts {
    /// The values of some rows of a target: the codes of classes, or its numbers.
    pub(crate) fn targets(target: &Target, rows: Range<usize>) -> Vec<f64> {
        match target {
            Target::Class(classes) => {
                let codes = classes.codes().get(rows).unwrap_or_default();
                codes.iter().map(|&code| f64::from(code)).collect()
            }
            Target::Real(outputs) => outputs.output(0).get(rows).unwrap_or_default().to_vec(),
            _ => Vec::new(),
        }
    }

    /// The target and the features, before any sample.
    fn begin(dependence: &Dependence, kinds: &Kinds) -> Result<(Joint, Vec<Joint>), Error> {
        let (target, most) = match &kinds.classes {
            Some(names) if !dependence.takes_codes() => {
                let most = (MOST_COUNTS / names.len().max(1)).clamp(NODES, MOST_NODES);
                (Axis::Levels(names.len()), most)
            }
            None if dependence.widths()?.1.is_none() => {
                let (expected, found) = ("classes (for the delta kernel)", "real outputs".to_owned());
                return Err(Error::UnsupportedTarget { method: METHOD, expected, found });
            }
            _ => (Axis::Numbers(Numbers::new(NODES)), NODES),
        };
        let joint = |levels: &Option<Vec<String>>| {
            let axis = match levels {
                Some(levels) => Axis::Levels(levels.len()),
                None => Axis::Numbers(Numbers::new(most)),
            };
            Joint::new(axis, target.len())
        };
        let features = kinds.features.iter().map(joint).collect();
        Ok((Joint::new(target, 1), features))
    }

    /// The values of a feature, each of which can be counted.
    fn column(batch: &Dataset, j: usize, levels: Option<&Vec<String>>) -> Result<Vec<f64>, Error> {
        let values = finite_values(batch, j)?;
        let Some(levels) = levels else { return Ok(values) };
        let n_levels = if levels.is_empty() { MOST_LEVELS } else { levels.len() };
        let is_code = |code: &f64| *code >= 0.0 && code.fract() == 0.0 && *code < n_levels as f64;
        match values.iter().find(|code| !is_code(code)) {
            None => Ok(values),
            Some(code) => {
                let name = format!("{code} in `{}` (column {j})", batch.feature_name(j));
                Err(Error::parameter("level", name, format!("a whole number below {n_levels}")))
            }
        }
    }

    /// Adds the next samples.
    ///
    /// # Errors
    /// Those of [`HsicSums`](super::HsicSums): nothing has changed then.
    pub(crate) fn add(&mut self, batch: &Dataset, dependence: &Dependence) -> Result<(), Error> {
        batch.refuse_sample_weights(METHOD)?;
        let kinds = Kinds::of(batch)?;
        let levels = |j: usize| kinds.features[j].as_ref();
        let columns = fewest_parallel::try_map(batch.n_features(), |j| Self::column(batch, j, levels(j)))?;
        let targets = Self::targets(batch.target(), 0..batch.n_samples());
        match &self.kinds {
            Some(first) => kinds.check(first)?,
            None => (self.target, self.features) = Self::begin(dependence, &kinds)?,
        }
        self.kinds = Some(kinds);
        self.n += batch.n_samples();
        let mut start = 0;
        while start < targets.len() {
            self.widen_target(self.target.axis.with(targets[start]));
            let mut end = start + 1;
            while end < targets.len() {
                if !self.target.axis.has_seen(targets[end]) {
                    let wider = self.target.axis.with(targets[end]);
                    if !wider.has_nodes_of(&self.target.axis) {
                        break;
                    }
                    self.target.axis = wider;
                }
                end += 1;
            }
            let places: Vec<Place> =
                targets[start..end].iter().map(|&value| self.target.axis.place(value)).collect();
            places.iter().for_each(|place| self.target.add_at(place, 0, &[1.0]));
            fewest_parallel::chunks(&mut self.features, TASK, |at, features| {
                for (feature, column) in features.iter_mut().zip(&columns[at * TASK..]) {
                    let values = column[start..end].iter().zip(&places);
                    values.for_each(|(value, place)| feature.add(*value, place));
                }
            });
            start = end;
        }
        Ok(())
    }

    fn widen_target(&mut self, wider: Axis) {
        if !wider.has_nodes_of(&self.target.axis) {
            let places = self.target.axis.moves(&wider);
            fewest_parallel::chunks(&mut self.features, TASK, |_, features| {
                features.iter_mut().for_each(|feature| feature.widen_target(wider.len(), &places));
            });
        }
        self.target.widen(wider);
    }

    /// Adds what was counted of later samples.
    ///
    /// # Errors
    /// For other features or classes.
    pub(crate) fn merge(&mut self, mut later: Self) -> Result<(), Error> {
        match (&self.kinds, &later.kinds) {
            (_, None) => return Ok(()),
            (None, _) => {
                *self = later;
                return Ok(());
            }
            (Some(own), Some(later)) => later.check(own)?,
        }
        let joined = self.target.axis.joined(&later.target.axis)?;
        self.widen_target(joined.clone());
        later.widen_target(joined);
        self.target.merge(later.target)?;
        for (own, later) in self.features.iter_mut().zip(later.features) {
            own.merge(later)?;
        }
        self.n = self.n.saturating_add(later.n);
        Ok(())
    }
}

impl State for Counts {
    fn save(&self, to: &mut Vec<u8>) {
        self.kinds.save(to);
        self.n.save(to);
        self.target.save(to);
        self.features.save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let (kinds, n) = (Option::<Kinds>::load(from)?, usize::load(from)?);
        let (target, features) = (Joint::load(from)?, Vec::<Joint>::load(from)?);
        let n_features = kinds.as_ref().map_or(0, |kinds| kinds.features.len());
        // Before the target has nodes no feature has counts, whose number would tell how many nodes it has.
        let named =
            |j: usize| kinds.as_ref().and_then(|kinds| kinds.features[j].as_ref()).map_or(0, Vec::len);
        let is_whole = |(j, feature): (usize, &Joint)| {
            let width = target.axis.len();
            feature.is_whole(width) && (width > 0 || feature.axis.len() <= named(j))
        };
        let is_valid = features.len() == n_features && target.is_whole(1);
        if !is_valid || !features.iter().enumerate().all(is_whole) {
            return Err(Error::parameter(
                "state",
                "no state of this stream",
                "what `save` returned, unchanged",
            ));
        }
        Ok(Self { kinds, n, target, features })
    }
}
