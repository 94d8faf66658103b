//! The strength of a penalty.

use std::fmt;

use super::{Field, FieldInfo, Parameter, Parameters, Range, Relation, Value};
use crate::Error;

/// The strength `λ` of the penalty, for every penalised method.
///
/// A field of [`options!`](crate::options) lists the forms that its method supports; they become its
/// parameters:
///
/// ```
/// use fewest_core::method::{Options, Regularization};
///
/// fewest_core::options! {
///     /// A penalised method.
///     #[derive(Debug)]
///     pub struct Example {
///         /// How strong the penalty is.
///         pub regularization: Regularization = Regularization::Count, offers(Value, Ratio, Paper);
///     }
/// }
///
/// let names: Vec<&str> = Example::default().parameters().iter().map(|parameter| parameter.name).collect();
/// assert_eq!(names, ["lambda", "lambda_ratio", "rule"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Regularization {
    /// The requested number of features decides: `λ` is taken from the path, just before one more feature
    /// enters.
    #[default]
    Count,
    /// This `λ`; parameter `lambda`.
    Value(f64),
    /// This share, above 0 and at most 1, of the smallest `λ` that selects nothing; parameter `lambda_ratio`.
    Ratio(f64),
    /// By the number of features with the rule of the method's paper; `rule=paper`.
    Paper,
    /// The `λ` with the least error in a cross-validation; parameter `lambda_folds`.
    CrossValidated {
        /// Number of folds, at least 2.
        folds: usize,
    },
    /// The largest `λ` whose error in a cross-validation is at most one standard error above the least;
    /// parameter `lambda_folds` with `lambda_rule=one-se`.
    OneStandardError {
        /// Number of folds, at least 2.
        folds: usize,
    },
    /// The `λ` with the least extended Bayesian information criterion (Chen and Chen 2012), of models with at
    /// most half as many coefficients as samples; parameter `lambda_ebic`.
    Information {
        /// `γ` from 0, the criterion of Schwarz (BIC), to 1.
        gamma: f64,
    },
}

/// The forms of a [`Regularization`] that a method supports, besides the number of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Offer {
    /// [`Regularization::Value`] above 0.
    Value,
    /// [`Regularization::Value`] of at least 0: the problem has a solution without a penalty too.
    ValueOrZero,
    /// [`Regularization::Value`] above 0 and below 1: errors have the weight `1 − λ`.
    ValueBelowOne,
    /// [`Regularization::Ratio`].
    Ratio,
    /// [`Regularization::Paper`].
    Paper,
    /// [`Regularization::CrossValidated`].
    CrossValidated,
    /// [`Regularization::OneStandardError`], besides [`Offer::CrossValidated`].
    OneStandardError,
    /// [`Regularization::Information`].
    Information,
}

const LAMBDA: &str = "lambda";
const RATIO: &str = "lambda_ratio";
const FOLDS: &str = "lambda_folds";
const RULE: &str = "rule";
const FOLD_RULE: &str = "lambda_rule";
const EBIC: &str = "lambda_ebic";

const LEAST: &str = "best";
const ONE_SE: &str = "one-se";

impl Offer {
    fn name(self) -> &'static str {
        match self {
            Offer::Value | Offer::ValueOrZero | Offer::ValueBelowOne => LAMBDA,
            Offer::Ratio => RATIO,
            Offer::Paper => RULE,
            Offer::CrossValidated => FOLDS,
            Offer::OneStandardError => FOLD_RULE,
            Offer::Information => EBIC,
        }
    }

    fn range(self) -> Range {
        match self {
            Offer::Value => Range::Positive,
            Offer::ValueOrZero => Range::NonNegative,
            Offer::ValueBelowOne => Range::ProperFraction,
            Offer::Ratio => Range::Fraction,
            Offer::Paper => Range::OneOf(&["path", "paper"]),
            Offer::CrossValidated => Range::Count(2),
            Offer::OneStandardError => Range::OneOf(&[LEAST, ONE_SE]),
            Offer::Information => Range::Share,
        }
    }

    /// The meaning; `by_count` if the number of features decides by default.
    fn doc(self, by_count: bool) -> &'static str {
        match self {
            Offer::Value | Offer::ValueOrZero | Offer::ValueBelowOne if by_count => {
                "Penalty λ; when left out, the number of features decides."
            }
            Offer::Value | Offer::ValueOrZero | Offer::ValueBelowOne => "Penalty λ.",
            Offer::Ratio => "λ as a share of the smallest λ that selects nothing.",
            Offer::Paper => {
                "k features: from the path just before one more enters, or by the rule of the method's paper."
            }
            Offer::CrossValidated => {
                "Folds of a cross-validation that chooses λ, at most the number of samples."
            }
            Offer::OneStandardError => {
                "λ of the least error, or the largest whose error is within one standard error of that."
            }
            Offer::Information => {
                "γ of the extended Bayesian information criterion that chooses λ; 0 is the BIC."
            }
        }
    }

    /// Of two that are given, the first decides.
    fn yields_to(self) -> &'static [&'static str] {
        match self {
            Offer::Value | Offer::ValueOrZero | Offer::ValueBelowOne | Offer::OneStandardError => &[],
            Offer::Ratio => &[LAMBDA],
            Offer::CrossValidated => &[LAMBDA, RATIO],
            Offer::Information => &[LAMBDA, RATIO, FOLDS],
            Offer::Paper => &[LAMBDA, RATIO, FOLDS],
        }
    }
}

impl Regularization {
    /// `λ` of a method that takes it as a value, or as a share of `largest`, the smallest `λ` that selects
    /// nothing, where the method knows that.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] where it is given in another way.
    pub fn lambda(self, largest: Option<f64>) -> Result<f64, Error> {
        match (self, largest) {
            (Regularization::Value(lambda), _) => Ok(lambda),
            (Regularization::Ratio(ratio), Some(largest)) => Ok(ratio * largest),
            (_, Some(_)) => Err(self.not_offered("`lambda` or `lambda_ratio`")),
            (_, None) => Err(self.not_offered("`lambda`")),
        }
    }

    /// Whether the data choose `λ`: by a cross-validation or an information criterion.
    pub fn is_chosen_by_data(self) -> bool {
        matches!(
            self,
            Regularization::CrossValidated { .. }
                | Regularization::OneStandardError { .. }
                | Regularization::Information { .. }
        )
    }

    /// The number of folds of a method that chooses `λ` by cross-validation only.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] where `λ` is given in another way.
    pub fn folds(self) -> Result<usize, Error> {
        match self {
            Regularization::CrossValidated { folds } => Ok(folds),
            _ => Err(self.not_offered("`lambda_folds`")),
        }
    }

    /// `γ` of a method that chooses `λ` by an information criterion.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] where `λ` is given in another way.
    pub fn gamma(self) -> Result<f64, Error> {
        match self {
            Regularization::Information { gamma } => Ok(gamma),
            _ => Err(self.not_offered("`lambda_ebic`")),
        }
    }

    /// `λ` of a method to which features arrive: the largest one is not known before all did.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] where it is not given as a value.
    pub fn lambda_of_stream(self) -> Result<f64, Error> {
        match self {
            Regularization::Value(lambda) => Ok(lambda),
            other => {
                let given = match other {
                    Regularization::Count => "not given".to_owned(),
                    other => format!("given by {other}"),
                };
                let expected = "a number above 0, such as 0.1, where features arrive: a number of features, or a \
                                share of the largest `lambda`, needs all of them";
                Err(Error::parameter(LAMBDA, given, expected))
            }
        }
    }

    fn not_offered(self, offered: &str) -> Error {
        Error::parameter("regularization", self, format!("given by {offered}"))
    }

    /// The value of the parameter of `offer`, if that parameter was given.
    fn value(self, offer: Offer) -> Option<Value> {
        match (self, offer) {
            (Regularization::Value(lambda), Offer::Value | Offer::ValueOrZero | Offer::ValueBelowOne) => {
                Some(Value::Real(lambda))
            }
            (Regularization::Ratio(ratio), Offer::Ratio) => Some(Value::Real(ratio)),
            (
                Regularization::CrossValidated { folds } | Regularization::OneStandardError { folds },
                Offer::CrossValidated,
            ) => Some(Value::Count(folds)),
            (Regularization::OneStandardError { .. }, Offer::OneStandardError) => Some(Value::Word(ONE_SE)),
            (Regularization::Information { gamma }, Offer::Information) => Some(Value::Real(gamma)),
            (Regularization::Paper, Offer::Paper) => Some(Value::Word("paper")),
            (Regularization::Count, Offer::Paper) => Some(Value::Word("path")),
            _ => None,
        }
    }
}

/// As on the command line: `lambda = 0.1`, `lambda_folds = 5`.
impl fmt::Display for Regularization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Regularization::Count => f.write_str("the number of features"),
            Regularization::Value(lambda) => write!(f, "{LAMBDA} = {lambda}"),
            Regularization::Ratio(ratio) => write!(f, "{RATIO} = {ratio}"),
            Regularization::Paper => write!(f, "{RULE} = paper"),
            Regularization::CrossValidated { folds } => write!(f, "{FOLDS} = {folds}"),
            Regularization::OneStandardError { folds } => {
                write!(f, "{FOLDS} = {folds} with {FOLD_RULE} = {ONE_SE}")
            }
            Regularization::Information { gamma } => write!(f, "{EBIC} = {gamma}"),
        }
    }
}

impl Field for Regularization {
    fn field_parameters(&self, field: &FieldInfo) -> Vec<Parameter> {
        let by_count = matches!(self, Regularization::Count | Regularization::Paper);
        // If only a value is supported, the documentation of the field explains it.
        let doc = |offer: Offer| match field.offers {
            [Offer::Value | Offer::ValueOrZero | Offer::ValueBelowOne] => field.doc,
            _ => offer.doc(by_count),
        };
        let parameter = |&offer: &Offer| Parameter {
            decides_count: !matches!(offer, Offer::Paper | Offer::OneStandardError),
            relations: match (offer, offer.yields_to()) {
                (Offer::OneStandardError, _) => vec![Relation::Needs(FOLDS)],
                (_, []) => Vec::new(),
                (_, others) => vec![Relation::Yields(others)],
            },
            ..Parameter::new(offer.name(), offer.range(), doc(offer)).with_default(match offer {
                Offer::OneStandardError => self.value(offer).or(Some(Value::Word(LEAST))),
                _ => self.value(offer),
            })
        };
        field.offers.iter().map(parameter).collect()
    }

    fn set_field(&mut self, field: &FieldInfo, parameters: &Parameters) -> Result<(), Error> {
        // A given parameter decides; otherwise the default remains.
        for offer in field.offers.iter().filter(|offer| parameters.is_given(offer.name())) {
            *self = match offer {
                Offer::Value | Offer::ValueOrZero | Offer::ValueBelowOne => {
                    Regularization::Value(parameters.real(LAMBDA)?)
                }
                Offer::Ratio => Regularization::Ratio(parameters.real(RATIO)?),
                Offer::CrossValidated => Regularization::CrossValidated { folds: parameters.count(FOLDS)? },
                Offer::OneStandardError => {
                    let folds = parameters.count(FOLDS)?;
                    match parameters.word(FOLD_RULE)? {
                        ONE_SE => Regularization::OneStandardError { folds },
                        _ => Regularization::CrossValidated { folds },
                    }
                }
                Offer::Information => Regularization::Information { gamma: parameters.real(EBIC)? },
                Offer::Paper if parameters.word(RULE)? == "paper" => Regularization::Paper,
                Offer::Paper => Regularization::Count,
            };
        }
        Ok(())
    }

    fn check_field(&self, field: &FieldInfo) -> Result<(), Error> {
        let is_whole = match self {
            Regularization::OneStandardError { .. } => field.offers.contains(&Offer::OneStandardError),
            _ => true,
        };
        let told = |offer: &Offer| Some((*offer, self.value(*offer)?));
        match field.offers.iter().find_map(told).filter(|_| is_whole) {
            Some((offer, value)) if !offer.range().contains(&value) => {
                Err(Error::parameter(offer.name(), value, offer.range().to_string()))
            }
            None if *self != Regularization::Count => {
                let offered: Vec<&str> = field.offers.iter().map(|offer| offer.name()).collect();
                let expected = format!("the number of features, or given by {}", offered.join(", "));
                Err(Error::parameter(field.name, self, expected))
            }
            _ => Ok(()),
        }
    }
}
