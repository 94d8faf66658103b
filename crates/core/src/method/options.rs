//! Options whose fields are parameters, and the types that such fields may have.

use super::{Offer, Parameter, Parameters, Range, Relation, Value};
use crate::Error;

/// The options of a method: a struct whose fields are its parameters.
///
/// Written by [`options!`](crate::options), or by hand if the parameters depend on a value, such as the
/// criterion of a forward selection. The default implementations are those of a method without parameters:
/// `impl Options for Variance {}`.
pub trait Options {
    /// The parameters, with the values that these options have as defaults.
    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    /// Gives every field the value that `parameters` have.
    ///
    /// # Errors
    /// If `parameters` belong to another method.
    fn set(&mut self, parameters: &Parameters) -> Result<(), Error> {
        let _ = parameters;
        Ok(())
    }

    /// Checks every value against its range: for options filled in by a program. Methods call it first.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for the first value out of range.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// The defaults, overridden by `parameters`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for values that exclude each other.
    fn from_parameters(parameters: &Parameters) -> Result<Self, Error>
    where
        Self: Default,
    {
        parameters.check()?;
        let mut options = Self::default();
        options.set(parameters)?;
        options.check()?;
        Ok(options)
    }
}

/// The type of a parameter's value: how it is written and read.
///
/// Implemented for `f64`, `usize`, `u32`, `bool` (`true` or `false`), `Option<T>`, lists of features
/// (`Vec<usize>`) and by [`words!`](crate::words) for enums; open for other types.
pub trait ParameterType: Sized {
    /// The allowed values, unless the field declares a narrower range.
    fn range() -> Range;

    /// The value; `None` where the parameter is left out.
    fn to_value(&self) -> Option<Value>;

    /// From the value, or from `None` where the parameter is left out; `None` for a value of another type.
    fn from_value(value: Option<&Value>) -> Option<Self>;

    /// The word by which groups of features are selected together.
    fn group_word() -> Option<&'static str> {
        None
    }
}

/// What a field of options may be: a [`ParameterType`], which is one parameter of the field's name; a
/// [`choice!`](crate::choice), whose variants have their own parameters; or other options, whose
/// parameters are added.
pub trait Field {
    /// The parameters, with the values that the field has as defaults.
    fn field_parameters(&self, field: &FieldInfo) -> Vec<Parameter>;

    /// Takes the value from `parameters`.
    ///
    /// # Errors
    /// If `parameters` belong to another method.
    fn set_field(&mut self, field: &FieldInfo, parameters: &Parameters) -> Result<(), Error>;

    /// Checks the value.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a value out of range.
    fn check_field(&self, field: &FieldInfo) -> Result<(), Error>;
}

/// The declaration of a field, without its type and default.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FieldInfo {
    /// The name.
    pub name: &'static str,
    /// The documentation.
    pub doc: &'static str,
    /// The range, if the declaration narrows that of the type.
    pub range: Option<Range>,
    /// Declared by `decides_count`.
    pub decides_count: bool,
    /// Declared by `needs(other)`, which is the name of another parameter.
    pub needs: Option<&'static str>,
    /// Declared by `offers(…)`: the supported forms of a [`Regularization`](super::Regularization).
    pub offers: &'static [Offer],
}

impl FieldInfo {
    /// A field that is declared with its type and default only.
    pub const fn new(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, range: None, decides_count: false, needs: None, offers: &[] }
    }

    /// The parameter of this name.
    pub fn parameter(&self, range: Range, default: Option<Value>) -> Parameter {
        Parameter {
            decides_count: self.decides_count,
            relations: self.needs.map(Relation::Needs).into_iter().collect(),
            ..Parameter::new(self.name, self.range.unwrap_or(range), self.doc).with_default(default)
        }
    }
}

impl<T: ParameterType> Field for T {
    fn field_parameters(&self, field: &FieldInfo) -> Vec<Parameter> {
        let parameter = field.parameter(T::range(), self.to_value());
        vec![Parameter { group_word: T::group_word(), ..parameter }]
    }

    fn set_field(&mut self, field: &FieldInfo, parameters: &Parameters) -> Result<(), Error> {
        let value = parameters.get(field.name);
        *self = T::from_value(value).ok_or_else(|| match value {
            // The declared range may be larger than that of the type.
            Some(value) if !T::range().contains(value) => {
                Error::parameter(field.name, value, T::range().to_string())
            }
            _ => parameters.unknown(field.name),
        })?;
        Ok(())
    }

    fn check_field(&self, field: &FieldInfo) -> Result<(), Error> {
        let range = field.range.unwrap_or(T::range());
        match self.to_value() {
            Some(value) if !range.contains(&value) => {
                Err(Error::parameter(field.name, value, range.to_string()))
            }
            _ => Ok(()),
        }
    }
}

impl ParameterType for f64 {
    fn range() -> Range {
        Range::Real
    }

    fn to_value(&self) -> Option<Value> {
        Some(Value::Real(*self))
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Real(value)) => Some(*value),
            _ => None,
        }
    }
}

impl ParameterType for usize {
    fn range() -> Range {
        Range::Count(0)
    }

    fn to_value(&self) -> Option<Value> {
        Some(Value::Count(*self))
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Count(value)) => Some(*value),
            _ => None,
        }
    }
}

impl ParameterType for u32 {
    fn range() -> Range {
        Range::Between(0, u32::MAX as usize)
    }

    fn to_value(&self) -> Option<Value> {
        Some(Value::Count(*self as usize))
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        usize::from_value(value).and_then(|value| u32::try_from(value).ok())
    }
}

impl ParameterType for bool {
    fn range() -> Range {
        Range::OneOf(&["false", "true"])
    }

    fn to_value(&self) -> Option<Value> {
        Some(Value::Word(if *self { "true" } else { "false" }))
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Word("true")) => Some(true),
            Some(Value::Word("false")) => Some(false),
            _ => None,
        }
    }
}

impl<T: ParameterType> ParameterType for Option<T> {
    fn range() -> Range {
        T::range()
    }

    fn to_value(&self) -> Option<Value> {
        self.as_ref().and_then(T::to_value)
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            None => Some(None),
            some => T::from_value(some).map(Some),
        }
    }

    fn group_word() -> Option<&'static str> {
        T::group_word()
    }
}

impl ParameterType for Vec<usize> {
    fn range() -> Range {
        Range::Features
    }

    fn to_value(&self) -> Option<Value> {
        (!self.is_empty()).then(|| Value::Features(self.clone()))
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            None => Some(Vec::new()),
            Some(Value::Features(indices)) => Some(indices.clone()),
            _ => None,
        }
    }
}

/// An enum whose variants are words, each with its own parameters. Written by [`choice!`](crate::choice).
pub trait Choice: Sized + 'static {
    /// The words, in the order of the variants.
    const WORDS: &'static [&'static str];

    /// The word by which groups of features are selected together.
    const GROUP_WORD: Option<&'static str>;

    /// Every variant with its defaults.
    fn alternatives() -> Vec<Self>;

    /// The word of the variant.
    fn word(&self) -> &'static str;

    /// The parameters of this variant, with its values as defaults.
    fn own_parameters(&self) -> Vec<Parameter>;

    /// Takes the values of the variant's parameters.
    ///
    /// # Errors
    /// If `parameters` belong to another method.
    fn set_own(&mut self, parameters: &Parameters) -> Result<(), Error>;

    /// Checks the values of the variant's parameters.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a value out of range.
    fn check_own(&self) -> Result<(), Error>;
}

/// The parameters of a field that is a choice: the word, and those of each variant.
pub fn choice_parameters<T: Choice>(choice: &T, field: &FieldInfo) -> Vec<Parameter> {
    let word = field.parameter(Range::OneOf(T::WORDS), Some(Value::Word(choice.word())));
    // The declaration of the field may leave out some.
    let allowed = word.range.words();
    let mut list = vec![Parameter { group_word: T::GROUP_WORD, ..word }];
    for alternative in T::alternatives().into_iter().filter(|one| allowed.contains(&one.word())) {
        let word = alternative.word();
        let chosen = if word == choice.word() { choice } else { &alternative };
        for mut parameter in chosen.own_parameters() {
            // A parameter that several variants have is listed once.
            if let Some(known) = list.iter_mut().find(|known| known.name == parameter.name) {
                if word == choice.word() {
                    known.default = parameter.default;
                }
                for relation in &mut known.relations {
                    if let Relation::With { parameter, words } = relation
                        && *parameter == field.name
                    {
                        words.push(word);
                    }
                }
                continue;
            }
            let relation = Relation::With { parameter: field.name, words: vec![word] };
            parameter.relations.insert(0, relation);
            list.push(parameter);
        }
    }
    // A parameter that every variant has is always used.
    let always = |relation: &Relation| match relation {
        Relation::With { parameter, words } => *parameter == field.name && words.len() == allowed.len(),
        _ => false,
    };
    for parameter in &mut list {
        parameter.relations.retain(|relation| !always(relation));
    }
    list
}

/// Takes the word and the values of its variant.
///
/// # Errors
/// If `parameters` belong to another method.
pub fn set_choice<T: Choice>(
    choice: &mut T,
    field: &FieldInfo,
    parameters: &Parameters,
) -> Result<(), Error> {
    let word = parameters.word(field.name)?;
    if word != choice.word() {
        let found = T::alternatives().into_iter().find(|alternative| alternative.word() == word);
        *choice = found.ok_or_else(|| parameters.unknown(field.name))?;
    }
    choice.set_own(parameters)
}
