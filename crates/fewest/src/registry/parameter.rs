//! Parameters by name: what a method takes, and values checked against it.

use std::fmt;

use fewest_core::Error;

use super::{Method, nearest};

/// A parameter a method takes.
#[derive(Debug)]
pub struct Parameter {
    /// The name, as on the command line and in JSON.
    pub name: &'static str,
    /// The value used when none is given; `None` where the parameter is then left out.
    pub default: Option<&'static str>,
    /// The values allowed.
    pub range: Range,
    /// What it does, in one line.
    pub meaning: &'static str,
}

/// The values a [`Parameter`] may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Range {
    /// A number above 0.
    Positive,
    /// A number of at least 0.
    NonNegative,
    /// A number of at least 0 and below 1.
    BelowOne,
    /// A number above 0 and at most 1.
    Fraction,
    /// A number above 0 and below 1.
    ProperFraction,
    /// A number from 0 to 1, or one of these words.
    ShareOr(&'static [&'static str]),
    /// A whole number of at least this.
    Count(usize),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A number above 0, or one of these words.
    PositiveOr(&'static [&'static str]),
    /// Feature indices counted from 0, separated by commas.
    Features,
}

/// A parameter's value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A number.
    Real(f64),
    /// A whole number.
    Count(usize),
    /// A word of a list.
    Word(&'static str),
    /// Feature indices, from 0.
    Features(Vec<usize>),
}

impl Range {
    fn parse(self, text: &str) -> Option<Value> {
        let real = || text.parse().ok().filter(|value: &f64| value.is_finite());
        let word = |words: &[&'static str]| {
            words.iter().find(|word| word.eq_ignore_ascii_case(text)).map(|word| Value::Word(word))
        };
        match self {
            Range::Positive => real().filter(|value| *value > 0.0).map(Value::Real),
            Range::NonNegative => real().filter(|value| *value >= 0.0).map(Value::Real),
            Range::BelowOne => real().filter(|value| (0.0..1.0).contains(value)).map(Value::Real),
            Range::Fraction => real().filter(|value| *value > 0.0 && *value <= 1.0).map(Value::Real),
            Range::ProperFraction => real().filter(|value| *value > 0.0 && *value < 1.0).map(Value::Real),
            Range::Count(minimum) => text.parse().ok().filter(|value| *value >= minimum).map(Value::Count),
            Range::OneOf(words) => word(words),
            Range::PositiveOr(words) => word(words).or_else(|| Range::Positive.parse(text)),
            Range::ShareOr(words) => {
                word(words).or_else(|| real().filter(|value| (0.0..=1.0).contains(value)).map(Value::Real))
            }
            Range::Features => {
                let indices: Result<Vec<usize>, _> =
                    text.split(',').map(|index| index.trim().parse()).collect();
                indices.ok().map(Value::Features)
            }
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Positive => f.write_str("a number above 0"),
            Range::NonNegative => f.write_str("a number of at least 0"),
            Range::BelowOne => f.write_str("a number of at least 0 and below 1"),
            Range::Fraction => f.write_str("a number above 0 and at most 1"),
            Range::ProperFraction => f.write_str("a number above 0 and below 1"),
            Range::Count(minimum) => write!(f, "a whole number of at least {minimum}"),
            Range::OneOf(words) => f.write_str(&words.join("|")),
            Range::PositiveOr(words) => write!(f, "a number above 0, or {}", words.join("|")),
            Range::ShareOr(words) => write!(f, "a number from 0 to 1, or {}", words.join("|")),
            Range::Features => f.write_str("feature indices counted from 0, separated by commas"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Real(value) if *value != 0.0 && !(1e-4..1e7).contains(&value.abs()) => {
                write!(f, "{value:e}")
            }
            Value::Real(value) => write!(f, "{value}"),
            Value::Count(value) => write!(f, "{value}"),
            Value::Word(word) => f.write_str(word),
            Value::Features(indices) => {
                let indices: Vec<String> = indices.iter().map(usize::to_string).collect();
                f.write_str(&indices.join(","))
            }
        }
    }
}

/// A value for each parameter of a method or learner: those given, and the defaults of the others.
#[derive(Debug, Clone)]
pub struct Parameters {
    /// The id of what takes them.
    owner: &'static str,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    parameter: &'static Parameter,
    value: Option<Value>,
    given: bool,
}

impl Parameters {
    /// The defaults of `method`.
    pub fn defaults(method: &'static Method) -> Self {
        Self::defaults_of(method.id, method.parameters())
    }

    /// The defaults of `parameters`, which `owner` takes.
    pub(crate) fn defaults_of(
        owner: &'static str,
        parameters: impl Iterator<Item = &'static Parameter>,
    ) -> Self {
        let default = |parameter: &'static Parameter| Entry {
            parameter,
            value: parameter.default.and_then(|text| parameter.range.parse(text)),
            given: false,
        };
        Self { owner, entries: parameters.map(default).collect() }
    }

    /// The defaults of `method`, but for `assignments` of the form `name=value`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for what is no assignment, a value out of range, or a parameter given
    /// twice; [`Error::Unsupported`] for a name the method does not know, with those it does.
    ///
    /// ```
    /// use fewest::registry::{self, Parameters};
    /// let method = registry::find("hsic")?;
    /// let parameters = Parameters::parse(method, &["sigma_x=0.5"])?;
    /// assert_eq!(parameters.real("sigma_x")?, 0.5);
    /// let error = Parameters::parse(method, &["sigma_x=-1"]).unwrap_err();
    /// assert_eq!(error.to_string(), "parameter `sigma_x` is -1, but must be a number above 0, or median");
    /// # Ok::<(), fewest::core::Error>(())
    /// ```
    pub fn parse<S: AsRef<str>>(method: &'static Method, assignments: &[S]) -> Result<Self, Error> {
        Self::defaults(method).assigned(assignments)
    }

    /// These, but for `assignments`.
    pub(crate) fn assigned<S: AsRef<str>>(mut self, assignments: &[S]) -> Result<Self, Error> {
        for assignment in assignments {
            let assignment = assignment.as_ref();
            let Some((name, value)) = assignment.split_once('=') else {
                return Err(Error::parameter("param", assignment, "NAME=VALUE, such as sigma_x=1"));
            };
            self.set(name.trim(), value.trim())?;
        }
        Ok(self)
    }

    /// Gives parameter `name` the value written as `text`.
    ///
    /// # Errors
    /// As [`Parameters::parse`].
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), Error> {
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.parameter.name == name) else {
            return Err(self.unknown(name));
        };
        let Parameter { name, range, .. } = *entry.parameter;
        if entry.given {
            return Err(Error::parameter(name, "given twice", "given once"));
        }
        let Some(value) = range.parse(text) else {
            return Err(Error::parameter(
                name,
                if text.is_empty() { "empty" } else { text },
                range.to_string(),
            ));
        };
        entry.value = Some(value);
        entry.given = true;
        Ok(())
    }

    /// Whether `name` was given, rather than left at its default.
    pub fn is_given(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.parameter.name == name && entry.given)
    }

    /// Every parameter that has a value, in the method's order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.entries.iter().filter_map(|entry| Some((entry.parameter.name, entry.value.as_ref()?)))
    }

    /// The value of `name`, or `None` where it has neither value nor default.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find_map(|(other, value)| (other == name).then_some(value))
    }

    /// The number that `name` has.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the method has no such parameter or it is no number.
    pub fn real(&self, name: &str) -> Result<f64, Error> {
        self.optional_real(name)?.ok_or_else(|| self.unknown(name))
    }

    /// The number that `name` has, or `None` where it was left out or is a word.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when it is neither.
    pub fn optional_real(&self, name: &str) -> Result<Option<f64>, Error> {
        match self.get(name) {
            None | Some(Value::Word(_)) => Ok(None),
            Some(Value::Real(value)) => Ok(Some(*value)),
            Some(_) => Err(self.unknown(name)),
        }
    }

    /// The whole number that `name` has.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the method has no such parameter or it is no whole number.
    pub fn count(&self, name: &str) -> Result<usize, Error> {
        match self.get(name) {
            Some(Value::Count(value)) => Ok(*value),
            _ => Err(self.unknown(name)),
        }
    }

    /// The whole number that `name` has, or `None` where it was left out.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when it is no whole number.
    pub fn optional_count(&self, name: &str) -> Result<Option<usize>, Error> {
        self.get(name).map(|_| self.count(name)).transpose()
    }

    /// The word that `name` has.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the method has no such parameter or it is no word.
    pub fn word(&self, name: &str) -> Result<&'static str, Error> {
        match self.get(name) {
            Some(Value::Word(word)) => Ok(word),
            _ => Err(self.unknown(name)),
        }
    }

    /// The feature indices that `name` has; none where it was left out.
    pub fn features(&self, name: &str) -> &[usize] {
        match self.get(name) {
            Some(Value::Features(indices)) => indices,
            _ => &[],
        }
    }

    /// An error unless `name` was left out: it means something only where `where_it_counts`.
    pub(super) fn only_if(
        &self,
        name: &'static str,
        counts: bool,
        where_it_counts: &str,
    ) -> Result<(), Error> {
        match self.get(name) {
            Some(value) if !counts && self.is_given(name) => {
                Err(Error::parameter(name, value.to_string(), format!("left out unless {where_it_counts}")))
            }
            _ => Ok(()),
        }
    }

    /// An error when `name` was given beside one of `others`, each of which decides in its place.
    pub(super) fn instead_of(&self, others: &[&str], name: &'static str) -> Result<(), Error> {
        match (self.get(name), others.iter().find(|other| self.is_given(other))) {
            (Some(value), Some(other)) if self.is_given(name) => {
                let expected = format!("left out beside `{other}`, which decides in its place");
                Err(Error::parameter(name, value.to_string(), expected))
            }
            _ => Ok(()),
        }
    }

    fn unknown(&self, name: &str) -> Error {
        let names: Vec<&str> = self.entries.iter().map(|entry| entry.parameter.name).collect();
        let takes = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        let hint = match nearest(name, &names).first() {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        Error::Unsupported {
            method: self.owner,
            what: format!("parameter `{name}`"),
            instead: format!("it takes {takes}{hint}"),
        }
    }
}
