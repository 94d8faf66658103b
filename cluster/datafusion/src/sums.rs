//! What is summed of one group of rows.

use std::result::Result as Either;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::datatypes::{DataType, Float64Type};
use datafusion_common::{HashMap, Result};
use fewest_columns::{ExactMoments, ExactProducts, NotFinite};
use fewest_core::{Error as CoreError, State};
use fewest_filters::unordered::Unordered;

use crate::arguments::are_numbers;
use crate::error::{Error, corrupt};
use crate::labels::{Labels, NONE};

/// Cells of a table of levels and classes: 128 MiB.
const MOST_CELLS: usize = 1 << 24;

/// Sums of a feature and a target, which can be added up and written.
#[derive(Debug)]
pub(crate) enum Sums {
    /// Of a number, by class.
    Numbers(ByLabel),
    /// Of a real target, by level of the feature.
    Targets(ByLabel),
    /// Of a number and a real target.
    Products(ExactProducts),
    /// Levels by class.
    Levels(Counts),
}

#[derive(Debug, Default)]
pub(crate) struct ByLabel {
    labels: Labels,
    /// Those of each label, by its number.
    moments: Vec<ExactMoments>,
}

#[derive(Debug)]
pub(crate) struct Counts {
    are_numbers: bool,
    levels: Labels,
    classes: Labels,
    /// By the numbers of level and class.
    counts: HashMap<(u32, u32), u64>,
}

impl Sums {
    /// Of no rows, for arguments of these types, to which [`coerced`](crate::arguments::coerced) has cast
    /// them.
    pub(crate) fn new(feature: &DataType, target: Option<&DataType>) -> Self {
        match (feature, target) {
            (DataType::Float64, Some(DataType::Float64)) => Self::Products(ExactProducts::default()),
            (DataType::Float64, _) => Self::Numbers(ByLabel::default()),
            (_, Some(DataType::Float64)) => Self::Targets(ByLabel::default()),
            (levels, _) => Self::Levels(Counts {
                are_numbers: are_numbers(levels),
                levels: Labels::default(),
                classes: Labels::default(),
                counts: HashMap::default(),
            }),
        }
    }

    /// Adds the rows in which no argument is null.
    pub(crate) fn add(&mut self, function: &'static str, x: &ArrayRef, y: Option<&ArrayRef>) -> Result<()> {
        let not_finite =
            |number, name| move |NotFinite(value)| Error::NotFinite { function, number, name, value };
        match self {
            Sums::Numbers(sums) => sums.add(y, x)?.map_err(not_finite(1, "x"))?,
            Sums::Targets(sums) => {
                if let Some(y) = y {
                    sums.add(Some(x), y)?.map_err(not_finite(2, "y"))?;
                }
            }
            Sums::Products(sums) => {
                let Some(y) = y else { return Ok(()) };
                for pair in numbers(x).iter().zip(numbers(y)) {
                    let (Some(x), Some(y)) = pair else { continue };
                    if !x.is_finite() {
                        Err(not_finite(1, "x")(NotFinite(x)))?;
                    }
                    sums.add(x, y).map_err(not_finite(2, "y"))?;
                }
            }
            Sums::Levels(sums) => {
                let levels = sums.levels.codes(Some(x), x.len())?;
                let classes = sums.classes.codes(y, x.len())?;
                for (level, class) in levels.into_iter().zip(classes) {
                    if level != NONE && class != NONE {
                        *sums.counts.entry((level, class)).or_insert(0) += 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the sums of other rows.
    ///
    /// # Errors
    /// For sums of another kind.
    pub(crate) fn merge(&mut self, other: &Self) -> Either<(), CoreError> {
        match (self, other) {
            (Sums::Numbers(own), Sums::Numbers(other)) | (Sums::Targets(own), Sums::Targets(other)) => {
                let numbers = own.labels.merge(&other.labels);
                own.moments.resize_with(own.labels.len(), ExactMoments::default);
                for (moments, number) in other.moments.iter().zip(numbers) {
                    if let Some(own) = own.moments.get_mut(number as usize) {
                        own.merge(moments);
                    }
                }
            }
            (Sums::Products(own), Sums::Products(other)) => own.merge(other),
            (Sums::Levels(own), Sums::Levels(other)) => {
                let (levels, classes) = (own.levels.merge(&other.levels), own.classes.merge(&other.classes));
                for ((level, class), count) in &other.counts {
                    if let (Some(level), Some(class)) =
                        (levels.get(*level as usize), classes.get(*class as usize))
                    {
                        let own = own.counts.entry((*level, *class)).or_insert(0);
                        *own = own.saturating_add(*count);
                    }
                }
            }
            _ => return Err(corrupt("sums of arguments of other types")),
        }
        Ok(())
    }

    /// The sums as scores take them, labels in their order.
    pub(crate) fn unordered(&self, function: &'static str) -> Either<Unordered, Error> {
        Ok(match self {
            Sums::Numbers(sums) => Unordered::Numbers(sums.in_order()),
            Sums::Targets(sums) => Unordered::Targets(sums.in_order()),
            Sums::Products(sums) => Unordered::Products(sums.clone()),
            Sums::Levels(sums) => {
                let (levels, classes) = (sums.levels.len(), sums.classes.len());
                let cells = levels.checked_mul(classes).filter(|cells| *cells <= MOST_CELLS);
                let too_many = Error::TooManyCells { function, levels, classes, most: MOST_CELLS };
                let mut counts = vec![0; cells.ok_or(too_many)?];
                for ((level, class), count) in sums.in_order() {
                    if let Some(cell) = counts.get_mut(level + class * levels) {
                        *cell = count;
                    }
                }
                Unordered::Levels { n_levels: levels, counts, are_numbers: sums.are_numbers }
            }
        })
    }

    /// Bytes that they hold outside themselves.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Sums::Numbers(sums) | Sums::Targets(sums) => {
                let held: usize = sums.moments.iter().map(ExactMoments::heap_bytes).sum();
                held + sums.moments.capacity() * size_of::<ExactMoments>() + sums.labels.heap_bytes()
            }
            Sums::Products(sums) => sums.heap_bytes(),
            Sums::Levels(sums) => {
                let cells = sums.counts.capacity() * size_of::<((u32, u32), u64)>();
                cells + sums.levels.heap_bytes() + sums.classes.heap_bytes()
            }
        }
    }
}

/// The values of a column that planning has cast.
fn numbers(column: &ArrayRef) -> &Float64Array {
    column.as_primitive::<Float64Type>()
}

impl ByLabel {
    fn add(&mut self, labels: Option<&ArrayRef>, values: &ArrayRef) -> Result<Either<(), NotFinite>> {
        let codes = self.labels.codes(labels, values.len())?;
        self.moments.resize_with(self.labels.len(), ExactMoments::default);
        let values = numbers(values);
        for (code, value) in codes.into_iter().zip(values) {
            if let (Some(value), Some(moments)) = (value, self.moments.get_mut(code as usize))
                && let Err(error) = moments.add(value)
            {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }

    fn in_order(&self) -> Vec<ExactMoments> {
        self.labels.order().into_iter().filter_map(|code| self.moments.get(code as usize).cloned()).collect()
    }
}

impl Counts {
    /// By the places of level and class in the order of their labels, in this order.
    fn in_order(&self) -> Vec<((usize, usize), u64)> {
        let (levels, classes) = (places(&self.levels), places(&self.classes));
        let place = |(&(level, class), &count): (&(u32, u32), &u64)| {
            Some(((*levels.get(level as usize)?, *classes.get(class as usize)?), count))
        };
        let mut counts: Vec<_> = self.counts.iter().filter_map(place).collect();
        counts.sort_unstable();
        counts
    }
}

/// The place of each label in the order, by its number.
fn places(labels: &Labels) -> Vec<usize> {
    let mut places = vec![0; labels.len()];
    for (place, code) in labels.order().into_iter().enumerate() {
        if let Some(at) = places.get_mut(code as usize) {
            *at = place;
        }
    }
    places
}

impl State for ByLabel {
    fn save(&self, to: &mut Vec<u8>) {
        self.labels.save(to);
        self.in_order().save(to);
    }

    fn load(from: &mut &[u8]) -> Either<Self, CoreError> {
        Ok(Self { labels: State::load(from)?, moments: State::load(from)? })
    }
}

impl State for Counts {
    fn save(&self, to: &mut Vec<u8>) {
        self.are_numbers.save(to);
        self.levels.save(to);
        self.classes.save(to);
        self.in_order().save(to);
    }

    fn load(from: &mut &[u8]) -> Either<Self, CoreError> {
        let (are_numbers, levels, classes) = State::load(from)?;
        let counts: Vec<((usize, usize), u64)> = State::load(from)?;
        let counts = counts.into_iter().map(|((level, class), count)| ((level as u32, class as u32), count));
        Ok(Self { are_numbers, levels, classes, counts: counts.collect() })
    }
}

impl State for Sums {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Sums::Numbers(sums) => {
                0_u8.save(to);
                sums.save(to);
            }
            Sums::Targets(sums) => {
                1_u8.save(to);
                sums.save(to);
            }
            Sums::Products(sums) => {
                2_u8.save(to);
                sums.save(to);
            }
            Sums::Levels(sums) => {
                3_u8.save(to);
                sums.save(to);
            }
        }
    }

    fn load(from: &mut &[u8]) -> Either<Self, CoreError> {
        Ok(match u8::load(from)? {
            0 => Sums::Numbers(State::load(from)?),
            1 => Sums::Targets(State::load(from)?),
            2 => Sums::Products(State::load(from)?),
            3 => Sums::Levels(State::load(from)?),
            _ => return Err(corrupt("sums of a kind unknown here")),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{BooleanArray, DictionaryArray, Int64Array, StringViewArray};
    use arrow::datatypes::Int32Type;
    use proptest::prelude::*;

    use super::*;

    /// A column of each kind: numbers, text, whole numbers, truth values, a dictionary.
    fn column(kind: usize, values: &[Option<u8>]) -> ArrayRef {
        let text = |value: &Option<u8>| value.map(|value| format!("name {value}"));
        match kind {
            0 => Arc::new(
                values
                    .iter()
                    .map(|value| value.map(|value| f64::from(value) / 3.0))
                    .collect::<Float64Array>(),
            ),
            1 => Arc::new(values.iter().map(text).collect::<StringViewArray>()),
            2 => Arc::new(values.iter().map(|value| value.map(i64::from)).collect::<Int64Array>()),
            3 => Arc::new(values.iter().map(|value| value.map(|value| value > 3)).collect::<BooleanArray>()),
            _ => {
                let texts: Vec<Option<String>> = values.iter().map(text).collect();
                Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>())
            }
        }
    }

    fn sums(kinds: (usize, usize), rows: &[(Option<u8>, Option<u8>)]) -> Sums {
        let (x, y): (Vec<_>, Vec<_>) = rows.iter().copied().unzip();
        let (x, y) = (column(kinds.0, &x), column(kinds.1, &y));
        let mut sums = Sums::new(x.data_type(), Some(y.data_type()));
        sums.add("f", &x, Some(&y)).unwrap();
        sums
    }

    fn bytes(sums: &Sums) -> Vec<u8> {
        let mut to = Vec::new();
        sums.save(&mut to);
        to
    }

    fn rows() -> impl Strategy<Value = Vec<(Option<u8>, Option<u8>)>> {
        let cell = || prop::option::weighted(0.9, 0_u8..7);
        prop::collection::vec((cell(), cell()), 0..60)
    }

    proptest! {
        /// What is computed from is the same for any order and any parts, which are merged in any order.
        #[test]
        fn states_are_those_of_the_rows(
            (rows, shuffled) in rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
            kinds in (0_usize..5, 0_usize..5),
            cut in 1_usize..20,
        ) {
            let mut merged = sums(kinds, &[]);
            for part in shuffled.chunks(cut) {
                let state = bytes(&sums(kinds, part));
                merged.merge(&Sums::load(&mut state.as_slice()).unwrap()).unwrap();
            }
            let of = |sums: &Sums| format!("{:?}", sums.unordered("f").unwrap());
            // Exact sums of equal value can differ inside before they are written.
            let reread = |sums: &Sums| Sums::load(&mut bytes(sums).as_slice()).unwrap();
            prop_assert_eq!(of(&reread(&merged)), of(&reread(&sums(kinds, &rows))));
        }
    }

    #[test]
    fn broken_states_are_errors() {
        let rows = [(Some(1), Some(2)), (Some(3), Some(2)), (Some(1), Some(4))];
        for kinds in [(0, 1), (1, 0), (0, 0), (1, 2)] {
            let state = bytes(&sums(kinds, &rows));
            for len in 0..state.len() {
                assert!(Sums::load(&mut &state[..len]).is_err());
            }
            for other in [(0, 1), (1, 0), (0, 0), (1, 2)] {
                let merged = sums(other, &rows).merge(&Sums::load(&mut state.as_slice()).unwrap());
                assert_eq!(merged.is_ok(), other == kinds);
            }
            // Bytes that are changed are an error or other sums, and no panic.
            for at in 0..state.len() {
                for flip in [1, 0x80, 0xFF] {
                    let mut changed = state.clone();
                    changed[at] ^= flip;
                    if let Ok(changed) = Sums::load(&mut changed.as_slice()) {
                        let mut merged = sums(kinds, &rows);
                        let _ = merged
                            .merge(&changed)
                            .map(|()| merged.unordered("f").map(|sums| sums.target_varies()));
                    }
                }
            }
        }
    }

    #[test]
    fn columns_that_name_rows_are_refused() {
        let ids: ArrayRef = Arc::new((0..5000).collect::<Int64Array>());
        let mut sums = Sums::new(&DataType::Int64, Some(&DataType::Int64));
        sums.add("fewest_chi2", &ids, Some(&ids)).unwrap();
        let error = sums.unordered("fewest_chi2").unwrap_err();
        assert!(error.to_string().starts_with("fewest_chi2: 5000 levels"));
    }
}
