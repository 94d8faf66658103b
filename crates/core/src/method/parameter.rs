//! The parameters of methods.

use super::{Range, Value};

/// A parameter of a method.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// The name of the field of the options, on the command line and in JSON.
    pub name: &'static str,
    /// The value used when none is given; `None` where the parameter is then left out.
    pub default: Option<Value>,
    /// The values allowed.
    pub range: Range,
    /// The documentation of the field; its first paragraph says what the parameter does.
    pub doc: &'static str,
    /// Whether it decides the number of features if given, so that no default number applies.
    pub decides_count: bool,
    /// The word by which the method selects groups of features together.
    pub group_word: Option<&'static str>,
    /// The conditions on other parameters if it is given.
    pub relations: Vec<Relation>,
}

/// A condition on other parameters if a parameter is given.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relation {
    /// It is used only if `parameter` has one of these words.
    With {
        /// The other parameter's name.
        parameter: &'static str,
        /// The words.
        words: Vec<&'static str>,
    },
    /// It is used only if this parameter is given.
    Needs(&'static str),
    /// It must be left out if one of these is given, which replaces it.
    Yields(&'static [&'static str]),
}

impl Parameter {
    /// A parameter without a default, without relations.
    ///
    /// ```
    /// use fewest_core::method::{Parameter, Range};
    /// let parameter = Parameter::new("tolerance", Range::Positive, "Duality gap to reach.\n\nIn the unit of y.");
    /// assert_eq!(parameter.description(), "duality gap to reach");
    /// ```
    pub fn new(name: &'static str, range: Range, doc: &'static str) -> Self {
        Self {
            name,
            default: None,
            range,
            doc,
            decides_count: false,
            group_word: None,
            relations: Vec::new(),
        }
    }

    /// With this default.
    pub fn with_default(mut self, default: Option<Value>) -> Self {
        self.default = default;
        self
    }

    /// What it does, in one line: the first paragraph of its documentation, as part of a sentence.
    pub fn description(&self) -> String {
        let lines = self.doc.lines().map(str::trim).skip_while(|line| line.is_empty());
        let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        let text = paragraph.join(" ");
        let text = text.strip_suffix('.').unwrap_or(&text);
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            // `HSIC` and `C` keep their capitals.
            (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
                let rest = &text[first.len_utf8()..];
                first.to_lowercase().chain(rest.chars()).collect()
            }
            _ => text.to_owned(),
        }
    }

    /// The condition under which it is used, such as `estimator=parzen`; nothing if it is always used.
    pub fn condition(&self) -> Option<String> {
        let conditions: Vec<String> = self.relations.iter().filter_map(Relation::condition).collect();
        (!conditions.is_empty()).then(|| conditions.join(" and "))
    }
}

impl Relation {
    /// `kernel=sigmoid, polynomial or mixed`, or `alpha is given`; nothing for [`Relation::Yields`].
    pub(super) fn condition(&self) -> Option<String> {
        match self {
            Relation::With { parameter, words } => Some(match words.split_last() {
                Some((last, others)) if !others.is_empty() => {
                    format!("{parameter}={} or {last}", others.join(", "))
                }
                _ => format!("{parameter}={}", words.join("")),
            }),
            Relation::Needs(other) => Some(format!("{other} is given")),
            Relation::Yields(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meaning_is_the_first_paragraph_as_part_of_a_sentence() {
        let meaning = |doc| Parameter::new("x", Range::Real, doc).description();
        assert_eq!(
            meaning(" Share of the features\n left that goes.\n\n More."),
            "share of the features left that goes"
        );
        assert_eq!(meaning("C, cost of a sample."), "C, cost of a sample");
        assert_eq!(meaning("HSIC of both"), "HSIC of both");
        assert_eq!(meaning("γ of exp(−γ d²)"), "γ of exp(−γ d²)");
        assert_eq!(meaning(""), "");
    }

    #[test]
    fn a_condition_is_written_as_it_is_given() {
        let with = |words: &[&'static str]| {
            Relation::With { parameter: "kernel", words: words.to_vec() }.condition().unwrap_or_default()
        };
        assert_eq!(with(&["gaussian"]), "kernel=gaussian");
        assert_eq!(with(&["sigmoid", "polynomial", "mixed"]), "kernel=sigmoid, polynomial or mixed");
        let relations = vec![Relation::Needs("alpha"), Relation::Yields(&["beta"])];
        let both = Parameter { relations, ..Parameter::new("t", Range::Positive, "") };
        assert_eq!(both.condition().as_deref(), Some("alpha is given"));
    }
}
