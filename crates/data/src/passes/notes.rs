//! What may be meant otherwise, of a table that is read in passes.

use fewest_core::FeatureKind;

use super::Rows;
use crate::hints;
use crate::suspicions::FEW_SAMPLES;
use crate::{Error, ReadOptions};

impl Rows {
    /// What may be meant otherwise, as [`Table::notes`](crate::Table::notes) of the whole table: dates and
    /// percentages that are read as text, columns that identify samples, a target of very many classes, a
    /// feature that is called like a target. Numbers that identify samples are told where they increase, and
    /// features do not come in parts; decimal commas are not.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.looked.notes.clone();
        let labels = self.row_numbers.iter().map(|&column| crate::roles::label(self.pieces.names(), column));
        notes.extend(hints::row_numbers_in(labels));
        if let Some(classes) = &self.looked.classes {
            let n_samples = classes.counts().iter().sum();
            notes.extend(hints::classes_of(classes.names(), n_samples, self.asked_task));
        }
        let name = |&column: &usize| crate::roles::label(self.pieces.names(), column).name;
        let names = self.features.iter().filter_map(name);
        notes.extend(hints::other_target(names, &self.options));
        notes
    }

    /// Looks for features that number the rows. Of those that the first look did not read, it takes a pass
    /// over the ones that do so in the first rows; of features that come in parts no first rows are known.
    pub(super) fn look_for_row_numbers(&mut self) -> Result<(), Error> {
        let Some(first) = self.first().map(|first| first.dataset.clone()) else { return Ok(()) };
        if self.n_parts() > 1 {
            return Ok(());
        }
        let n = first.n_samples();
        let (mut numbers, mut likely) = (Vec::new(), Vec::new());
        for (j, &column) in self.known.columns.iter().enumerate() {
            match self.looked.numbers.get(&column) {
                Some(true) => numbers.push(column),
                None if n >= FEW_SAMPLES && *first.feature_kind(j) == FeatureKind::Numeric => {
                    let (mut values, mut last) = (vec![0.0; n], f64::NEG_INFINITY);
                    first.x().copy_column(j, &mut values)?;
                    if hints::go_on_as_row_numbers(&mut last, &values) {
                        likely.push(j);
                    }
                }
                _ => {}
            }
        }
        if !likely.is_empty() {
            let goes_on = self.go_on_as_row_numbers(&likely)?;
            let found = likely.iter().zip(goes_on).filter(|(_, goes_on)| *goes_on);
            numbers.extend(found.filter_map(|(&j, _)| self.known.columns.get(j)));
        }
        self.row_numbers = numbers;
        Ok(())
    }

    /// Whether each of these features numbers all of the rows.
    fn go_on_as_row_numbers(&mut self, features: &[usize]) -> Result<Vec<bool>, Error> {
        self.n_passes += 1;
        let options = ReadOptions { features: Some(features.to_vec()), ..self.options.clone() };
        let mut last = vec![Some(f64::NEG_INFINITY); features.len()];
        while last.iter().any(Option::is_some)
            && let Some(table) = self.pieces.next(self.rows, &options)?
        {
            self.n_read += table.n_samples() as u64;
            for (j, last) in last.iter_mut().enumerate() {
                let values = table.features.stored(j).to_vec(table.n_samples());
                *last = last.take_if(|last| hints::go_on_as_row_numbers(last, &values));
            }
        }
        self.pieces.rewind()?;
        Ok(last.iter().map(Option::is_some).collect())
    }
}
