//! Text as codes: the levels of categories and classes.

use std::collections::HashMap;

use fewest_core::order;

/// Gives each distinct text a code, in the order of first appearance.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    codes: HashMap<String, u32>,
    names: Vec<String>,
}

impl Interner {
    pub(crate) fn code(&mut self, text: &str) -> u32 {
        if let Some(&code) = self.codes.get(text) {
            return code;
        }
        let code = self.names.len() as u32;
        self.codes.insert(text.to_owned(), code);
        self.names.push(text.to_owned());
        code
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }
}

/// Brings `codes` (NaN where missing) into the increasing order of their `names`, and returns the ordered
/// names.
///
/// The order is that of numbers when all names are numbers, else that of the texts. Different spellings of a
/// number, such as `1` and `1.0`, become one level, named by the first spelling.
pub(crate) fn sort_levels(codes: &mut [f64], names: Vec<String>) -> Vec<String> {
    // `+ 0.0` makes 0 and -0 equal, so the first spelling remains first.
    let number = |name: &String| name.parse().ok().filter(|number: &f64| number.is_finite()).map(|n| n + 0.0);
    let numbers: Option<Vec<f64>> = names.iter().map(number).collect();
    let order = match &numbers {
        Some(numbers) => order::ascending(numbers),
        None => {
            let mut order: Vec<usize> = (0..names.len()).collect();
            order.sort_by(|&a, &b| names[a].cmp(&names[b]));
            order
        }
    };
    let mut renamed = vec![0.0; names.len()];
    let mut sorted: Vec<String> = Vec::with_capacity(names.len());
    let mut previous: Option<usize> = None;
    for &old in &order {
        let same = match (&numbers, previous) {
            (Some(numbers), Some(previous)) => numbers[previous] == numbers[old],
            _ => false,
        };
        if !same {
            sorted.push(names[old].clone());
        }
        renamed[old] = (sorted.len() - 1) as f64;
        previous = Some(old);
    }
    for code in codes.iter_mut().filter(|code| !code.is_nan()) {
        *code = renamed[*code as usize];
    }
    sorted
}

/// Replaces numbers (NaN where missing) by codes in their increasing order, and returns a name for each code:
/// its spelling in the file where that is known, otherwise [`number_text`].
pub(crate) fn levels_of_numbers(values: &mut [f64], spelling: &Spellings) -> Vec<String> {
    let present = values.iter().copied().filter(|value| !value.is_nan());
    let levels = order::distinct(present.map(|value| value + 0.0).collect());
    for value in values.iter_mut().filter(|value| !value.is_nan()) {
        let number = *value;
        *value = levels.partition_point(|&level| level < number) as f64;
    }
    levels.iter().map(|&level| spelling.get(level)).collect()
}

/// How the first few distinct numbers of a column were written.
#[derive(Debug, Default)]
pub(crate) struct Spellings {
    texts: HashMap<u64, String>,
}

impl Spellings {
    /// Stores `text` for `number`, unless it is known or there are more than `most` different numbers.
    pub(crate) fn note(&mut self, number: f64, text: &str, most: usize) {
        if self.texts.len() <= most {
            self.texts.entry((number + 0.0).to_bits()).or_insert_with(|| text.to_owned());
        }
    }

    fn get(&self, number: f64) -> String {
        self.texts.get(&(number + 0.0).to_bits()).cloned().unwrap_or_else(|| number_text(number))
    }
}

/// The shortest decimal text that reads back as the same number, with an exponent for very large and small
/// ones: as numbers are written where they are levels or ids.
///
/// ```
/// assert_eq!([0.1, 3.0, 1e300].map(fewest_data::number_text), ["0.1", "3", "1e300"]);
/// ```
pub fn number_text(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || (1e-5..1e16).contains(&size) || !number.is_finite() {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn numbers_are_written_in_their_shortest_form() {
        assert_eq!([0.1, 1e300, -0.0, 1e15].map(number_text), ["0.1", "1e300", "-0", "1000000000000000"]);
    }

    #[test]
    fn text_levels_follow_their_order() {
        let mut codes = [0.0, 1.0, f64::NAN, 2.0];
        assert_eq!(sort_levels(&mut codes, names(&["pear", "apple", "fig"])), ["apple", "fig", "pear"]);
        assert_eq!([codes[0], codes[1], codes[3]], [2.0, 0.0, 1.0]);
        assert!(codes[2].is_nan());
    }

    #[test]
    fn numbers_as_levels_follow_their_size_and_merge_by_value() {
        let mut codes = [0.0, 1.0, 2.0, 3.0];
        assert_eq!(sort_levels(&mut codes, names(&["10", "2", "2.0", "-1"])), ["-1", "2", "10"]);
        assert_eq!(codes, [2.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn levels_of_numbers_keep_the_spelling() {
        let mut spellings = Spellings::default();
        spellings.note(1.0, "+1", 2);
        let mut values = [1.0, -1.0, f64::NAN, 1.0, -0.0, 0.0];
        assert_eq!(levels_of_numbers(&mut values, &spellings), ["-1", "0", "+1"]);
        assert_eq!([values[0], values[1], values[3], values[4], values[5]], [2.0, 0.0, 2.0, 1.0, 1.0]);
    }
}
