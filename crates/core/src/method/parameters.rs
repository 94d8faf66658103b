//! Parameters by name, with values checked against the parameters of a method.

use super::{Method, Parameter, Relation, Value, nearest};
use crate::Error;

/// A value for each parameter of a method or learner: those given, and the defaults of the others.
#[derive(Debug, Clone)]
pub struct Parameters {
    /// The id of the method or learner.
    owner: &'static str,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    parameter: Parameter,
    value: Option<Value>,
    given: bool,
}

impl Parameters {
    /// The defaults of `method`.
    pub fn defaults(method: &Method) -> Self {
        Self::new(method.id, method.parameters())
    }

    /// The defaults of `parameters`, which belong to `owner`.
    pub fn new(owner: &'static str, parameters: Vec<Parameter>) -> Self {
        let default =
            |parameter: Parameter| Entry { value: parameter.default.clone(), parameter, given: false };
        Self { owner, entries: parameters.into_iter().map(default).collect() }
    }

    /// The defaults of `method`, overridden by `assignments` of the form `name=value`.
    ///
    /// # Errors
    /// As [`Parameters::assigned`].
    pub fn parse<S: AsRef<str>>(method: &Method, assignments: &[S]) -> Result<Self, Error> {
        Self::defaults(method).assigned(assignments)
    }

    /// These parameters, overridden by `assignments` of the form `name=value`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for text that is not an assignment, a value out of range, or a
    /// parameter given twice; [`Error::Unsupported`] for an unknown name, with the known ones.
    ///
    /// ```
    /// use fewest_core::method::{Parameter, Parameters, Range};
    /// let takes = vec![Parameter::new("sigma", Range::PositiveOr(&["median"]), "Width.")];
    /// let parameters = Parameters::new("example", takes.clone()).assigned(&["sigma=0.5"])?;
    /// assert_eq!(parameters.real("sigma")?, 0.5);
    /// let error = Parameters::new("example", takes).assigned(&["sigma=-1"]).unwrap_err();
    /// assert_eq!(error.to_string(), "parameter `sigma` is -1, but must be a number above 0, or median");
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    pub fn assigned<S: AsRef<str>>(mut self, assignments: &[S]) -> Result<Self, Error> {
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
    /// As [`Parameters::assigned`].
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), Error> {
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.parameter.name == name) else {
            return Err(self.unknown(name));
        };
        let Parameter { name, range, .. } = entry.parameter;
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

    /// Whether a parameter was given that decides the number of features.
    pub fn decides_count(&self) -> bool {
        self.entries.iter().any(|entry| entry.given && entry.parameter.decides_count)
    }

    /// Whether a parameter has the word by which groups of features are selected together.
    pub fn selects_groups(&self) -> bool {
        self.entries.iter().any(|entry| match (entry.parameter.group_word, &entry.value) {
            (Some(group), Some(Value::Word(word))) => group == *word,
            _ => false,
        })
    }

    /// Every parameter that has a value and is used with the values of the others; in the order of the
    /// method.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let meant = self.entries.iter().filter(|entry| self.unmet(entry).is_none());
        meant.filter_map(|entry| Some((entry.parameter.name, entry.value.as_ref()?)))
    }

    /// The value of `name`, or `None` where it has neither value nor default.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entries.iter().find(|entry| entry.parameter.name == name)?.value.as_ref()
    }

    /// The number that `name` has.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the method has no such parameter or it is no number.
    pub fn real(&self, name: &str) -> Result<f64, Error> {
        match self.get(name) {
            Some(Value::Real(value)) => Ok(*value),
            _ => Err(self.unknown(name)),
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

    /// Checks every [`Relation`] of every parameter given.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for the first that should have been left out.
    pub fn check(&self) -> Result<(), Error> {
        for entry in self.entries.iter().filter(|entry| entry.given) {
            if let Some(condition) = self.unmet(entry).and_then(Relation::condition) {
                self.only_if(entry.parameter.name, false, &condition)?;
            }
            for relation in &entry.parameter.relations {
                if let Relation::Yields(others) = relation {
                    self.instead_of(others, entry.parameter.name)?;
                }
            }
        }
        Ok(())
    }

    /// The first condition of `entry` that is not met.
    fn unmet<'a>(&self, entry: &'a Entry) -> Option<&'a Relation> {
        entry.parameter.relations.iter().find(|relation| match relation {
            Relation::With { parameter, words } => match self.get(parameter) {
                Some(Value::Word(word)) => !words.contains(word),
                _ => true,
            },
            Relation::Needs(other) => !self.is_given(other),
            Relation::Yields(_) => false,
        })
    }

    /// An error unless `name` was left out: it is used only where `where_it_counts`. For conditions that
    /// no [`Relation`] can express.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when it was given and is not used.
    pub(crate) fn only_if(
        &self,
        name: &'static str,
        counts: bool,
        where_it_counts: &str,
    ) -> Result<(), Error> {
        match self.get(name) {
            Some(value) if !counts && self.is_given(name) => Err(Error::parameter(
                name,
                value.to_string(),
                format!("left out: it has a meaning only where {where_it_counts}"),
            )),
            _ => Ok(()),
        }
    }

    /// An error when both `name` and one of `others`, which replace it, were given.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when both were given.
    pub(crate) fn instead_of(&self, others: &[&str], name: &'static str) -> Result<(), Error> {
        match (self.get(name), others.iter().find(|other| self.is_given(other))) {
            (Some(value), Some(other)) if self.is_given(name) => {
                let expected = format!("left out: `{other}` is given, which decides in its place");
                Err(Error::parameter(name, value.to_string(), expected))
            }
            _ => Ok(()),
        }
    }

    /// The error for an unknown parameter.
    pub(super) fn unknown(&self, name: &str) -> Error {
        let names: Vec<&str> = self.entries.iter().map(|entry| entry.parameter.name).collect();
        let takes = if names.is_empty() { "no parameters".to_owned() } else { names.join(", ") };
        let hint = match similar(name, &names) {
            Some(near) if name == "gamma" && near.starts_with("sigma") => {
                format!("; did you mean `{near}`, where gamma is 1/(2 {near}²)?")
            }
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

/// The names of parameters in other programs and papers, and their names here.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("alpha", &["lambda"]),
    ("bandwidth", &["sigma", "sigma_x", "bandwidth_factor"]),
    ("box", &["c"]),
    ("cost", &["c"]),
    ("gamma", &["sigma", "sigma_x"]),
    ("k", &["neighbours"]),
    ("n_neighbors", &["neighbours"]),
    ("price", &["lambda"]),
    ("ratio", &["lambda_ratio"]),
    ("rho", &["l1_ratio"]),
    ("tol", &["tolerance", "min_improvement"]),
    ("width", &["sigma", "sigma_x", "bandwidth_factor"]),
];

/// The most likely correct name among `names`: the name used here for the same parameter, the most similar
/// one, or one that contains `name`.
fn similar(name: &str, names: &[&'static str]) -> Option<String> {
    let lower = name.to_lowercase();
    let of = |known: &&str| names.contains(known);
    let known = OTHER_NAMES.iter().find(|(other, _)| *other == lower);
    let known = known.and_then(|(_, here)| here.iter().copied().find(of));
    let contained = || names.iter().copied().find(|other| lower.len() > 2 && other.contains(&lower));
    let near = || nearest(name, names).into_iter().next();
    known.map(str::to_owned).or_else(near).or_else(|| contained().map(str::to_owned))
}
