//! The cells that mean "missing".

/// Words and numbers that mean "missing".
pub(crate) struct Tokens {
    texts: Vec<String>,
    numbers: Vec<f64>,
}

impl Tokens {
    /// Compared without regard to case and surrounding blanks, and by value where one is a number.
    pub(crate) fn new(tokens: &[String]) -> Self {
        let texts: Vec<String> = tokens.iter().map(|token| token.trim().to_owned()).collect();
        let numbers = texts.iter().filter_map(|token| token.parse().ok()).collect();
        Self { texts, numbers }
    }

    /// Whether this number means "missing". NaN always does.
    pub(crate) fn has_number(&self, number: f64) -> bool {
        number.is_nan() || self.numbers.contains(&number)
    }

    /// Whether this text, which is no number and has no blanks around it, means "missing".
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.texts.iter().any(|token| token.eq_ignore_ascii_case(word))
    }

    /// Whether any text means "missing".
    pub(crate) fn has(&self, text: &str) -> bool {
        let text = text.trim();
        text.parse().map_or_else(|_| self.has_word(text), |number| self.has_number(number))
    }

    /// Whether any number but NaN means "missing".
    pub(crate) fn has_numbers(&self) -> bool {
        self.numbers.iter().any(|number| !number.is_nan())
    }

    /// Makes numbers that mean "missing" NaN.
    pub(crate) fn remove(&self, values: &mut [f64]) {
        if self.has_numbers() {
            values.iter_mut().filter(|value| self.has_number(**value)).for_each(|value| *value = f64::NAN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_are_found_as_in_any_spelling() {
        let tokens = Tokens::new(&["", " NA ", "-999", "NaN"].map(str::to_owned));
        for missing in ["", "  ", "na", " Na", "-999.0", "-9.99e2", "nan", "-NaN"] {
            assert!(tokens.has(missing), "{missing:?}");
        }
        for present in ["N", "n a", "-998", "999", "inf", "none"] {
            assert!(!tokens.has(present), "{present:?}");
        }
        let mut values = [1.0, -999.0, f64::NAN, f64::INFINITY];
        tokens.remove(&mut values);
        assert!(values[0] == 1.0 && values[1].is_nan() && values[3].is_infinite());
    }
}
