//! What may be meant otherwise, of a table that is read in passes.

use fewest_core::FeatureKind;

use super::Rows;
use crate::hints;
use crate::suspicions::FEW_SAMPLES;
use crate::{Error, ReadOptions};

impl Rows {
    /// What may be meant otherwise, as [`Table::notes`](crate::Table::notes) of the whole table: dates and percentages that are
    /// read as text, columns that identify samples, a target of very many classes, a feature that is called
    /// like a target. Numbers that identify samples are told where they increase, and features do not come in
    /// parts; decimal commas are not.
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

    /// Looks for features that number the rows, which takes a pass over those that do so in the first rows.
    /// Of features that come in parts no first rows are known.
    pub(super) fn look_for_row_numbers(&mut self) -> Result<(), Error> {
        let Some(first) = self.first().map(|first| first.dataset.clone()) else { return Ok(()) };
        let n = first.n_samples();
        if n < FEW_SAMPLES || self.n_parts() > 1 {
            return Ok(());
        }
        let mut own = Vec::new();
        for j in (0..first.n_features()).filter(|&j| *first.feature_kind(j) == FeatureKind::Numeric) {
            let (mut values, mut last) = (vec![0.0; n], f64::NEG_INFINITY);
            first.x().copy_column(j, &mut values)?;
            if hints::go_on_as_row_numbers(&mut last, &values) {
                own.push(j);
            }
        }
        if own.is_empty() {
            return Ok(());
        }
        self.n_passes += 1;
        let options = ReadOptions { features: Some(own.clone()), ..self.options.clone() };
        let mut last = vec![f64::NEG_INFINITY; own.len()];
        let mut goes_on = vec![true; own.len()];
        while goes_on.contains(&true)
            && let Some(table) = self.pieces.next(self.rows, &options)?
        {
            for (at, goes_on) in goes_on.iter_mut().enumerate() {
                let values = table.features.stored(at).to_vec(table.n_samples());
                *goes_on = *goes_on && hints::go_on_as_row_numbers(&mut last[at], &values);
            }
        }
        let numbers = own.iter().zip(goes_on).filter(|(_, goes_on)| *goes_on);
        self.row_numbers = numbers.filter_map(|(&j, _)| self.known.columns.get(j).copied()).collect();
        self.pieces.rewind()
    }
}
