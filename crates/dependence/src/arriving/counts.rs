//! The counts of all features.

use std::ops::Range;

use fewest_columns::finite_values;
use fewest_core::{Dataset, Error, FeatureKind, State, Target, state};

use super::METHOD;
use super::axis::{Axis, Numbers, Place};
use super::joint::Joint;
use crate::dependence::Dependence;

/// Most nodes of a real target, and of a feature with one.
const NODES: usize = 128;

/// Most nodes of a feature with few classes, where that many cost little, and counts that they then may take.
const MOST_NODES: usize = 512;
const MOST_COUNTS: usize = 1 << 14;

/// Levels of a category that are not named.
const MOST_LEVELS: usize = 1 << 16;

/// Features that a task works on.
const TASK: usize = 8;

/// What is counted of all samples so far.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    kinds: Option<Kinds>,
    pub(crate) n: usize,
    pub(crate) target: Axis,
    pub(crate) features: Vec<Joint>,
}

impl Default for Counts {
    fn default() -> Self {
        Self { kinds: None, n: 0, target: Axis::Levels(0), features: Vec::new() }
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
        Ok(Self { kinds, target, features: features.into_iter().map(|feature| feature.axis).collect() })
    }

    /// For values in these ranges, of the target and of each feature.
    pub(crate) fn over(self, target: (f64, f64), features: impl Iterator<Item = (f64, f64)>) -> Self {
        let over = |axis: Axis, (low, high): (f64, f64)| match axis {
            // Levels are known, or join when they come.
            Axis::Levels(_) => axis,
            Axis::Numbers(_) => axis.with(low).with(high),
        };
        let target = over(self.target, target);
        let features = self.features.into_iter().zip(features).map(|(own, range)| over(own, range)).collect();
        Self { target, features, ..self }
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
        Counts { kinds: Some(self.kinds.clone()), n: 0, target: self.target.clone(), features }
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
            || !is_same(&self.target, &counts.target)
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

    /// The axes of the target and of the features, before any sample.
    fn begin(dependence: &Dependence, kinds: &Kinds) -> Result<(Axis, Vec<Joint>), Error> {
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
        Ok((target.clone(), kinds.features.iter().map(joint).collect()))
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
            self.widen_target(self.target.with(targets[start]));
            let mut end = start + 1;
            while end < targets.len() {
                if !self.target.has_seen(targets[end]) {
                    let wider = self.target.with(targets[end]);
                    if !wider.has_nodes_of(&self.target) {
                        break;
                    }
                    self.target = wider;
                }
                end += 1;
            }
            let places: Vec<Place> =
                targets[start..end].iter().map(|&value| self.target.place(value)).collect();
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
        if !wider.has_nodes_of(&self.target) {
            let places = self.target.moves(&wider);
            fewest_parallel::chunks(&mut self.features, TASK, |_, features| {
                features.iter_mut().for_each(|feature| feature.widen_target(wider.len(), &places));
            });
        }
        self.target = wider;
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
        let joined = self.target.joined(&later.target)?;
        self.widen_target(joined.clone());
        later.widen_target(joined);
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
        let (target, features) = (Axis::load(from)?, Vec::<Joint>::load(from)?);
        let n_features = kinds.as_ref().map_or(0, |kinds| kinds.features.len());
        // Before the target has nodes no feature has counts, whose number would tell how many nodes it has.
        let named =
            |j: usize| kinds.as_ref().and_then(|kinds| kinds.features[j].as_ref()).map_or(0, Vec::len);
        let is_whole = |(j, feature): (usize, &Joint)| {
            feature.is_whole(target.len()) && (target.len() > 0 || feature.axis.len() <= named(j))
        };
        if features.len() != n_features || !features.iter().enumerate().all(is_whole) {
            return Err(Error::parameter(
                "state",
                "no state of this stream",
                "what `save` returned, unchanged",
            ));
        }
        Ok(Self { kinds, n, target, features })
    }
}
