//! The target of a data set.

use crate::{Error, order};

/// The target that the features are to predict.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Target {
    /// Nothing: unsupervised methods only.
    None,
    /// One or more real outputs for each sample.
    Real(Outputs),
    /// A class for each sample.
    Class(Classes),
    /// The similarity of each pair of samples, such as links between them.
    Affinity(Affinity),
    /// For each sample the time until an event, or until when it was seen without one.
    Survival(Survival),
}

/// Real outputs, one column for each output.
#[derive(Debug, Clone, PartialEq)]
pub struct Outputs {
    values: Vec<f64>,
    n_samples: usize,
}

/// Class labels as codes `0 .. n_classes`, with their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    codes: Vec<u32>,
    names: Vec<String>,
}

/// Times until an event, of which some are only known to be longer (censored).
#[derive(Debug, Clone, PartialEq)]
pub struct Survival {
    times: Vec<f64>,
    events: Vec<bool>,
}

/// A symmetric matrix of affinities between samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Affinity {
    values: Vec<f64>,
    n_samples: usize,
}

impl Target {
    /// One real output for each sample.
    ///
    /// # Errors
    /// [`Error::NonFiniteTarget`] for a NaN or an infinity.
    pub fn real(values: Vec<f64>) -> Result<Self, Error> {
        let n_samples = values.len();
        Self::outputs(values, n_samples)
    }

    /// Several real outputs: `values` column after column, `n_samples` values each.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] when the length is no multiple of `n_samples`;
    /// [`Error::NonFiniteTarget`] for a NaN or an infinity.
    pub fn outputs(values: Vec<f64>, n_samples: usize) -> Result<Self, Error> {
        if n_samples == 0 || values.is_empty() || !values.len().is_multiple_of(n_samples) {
            return Err(Error::ShapeMismatch {
                what: "target values (a multiple of the samples)",
                expected: n_samples,
                found: values.len(),
            });
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::NonFiniteTarget { row: at % n_samples, value: values[at] });
        }
        Ok(Self::Real(Outputs { values, n_samples }))
    }

    /// Classes from codes `0 .. names.len()`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a code without a name.
    pub fn classes(codes: Vec<u32>, names: Vec<String>) -> Result<Self, Error> {
        if let Some(code) = codes.iter().find(|&&code| code as usize >= names.len()) {
            return Err(Error::parameter(
                "class code",
                code,
                format!("below the number of classes, {}", names.len()),
            ));
        }
        Ok(Self::Class(Classes { codes, names }))
    }

    /// Classes from labels of any kind; codes follow the labels' increasing order.
    ///
    /// ```
    /// use fewest_core::Target;
    /// let Target::Class(classes) = Target::from_labels(&["b", "a", "b"]) else { unreachable!() };
    /// assert_eq!(classes.codes(), [1, 0, 1]);
    /// assert_eq!(classes.names(), ["a", "b"]);
    /// ```
    pub fn from_labels<L: Ord + ToString>(labels: &[L]) -> Self {
        let mut distinct: Vec<&L> = labels.iter().collect();
        distinct.sort();
        distinct.dedup();
        let code = |label: &L| distinct.partition_point(|other| *other < label) as u32;
        Self::Class(Classes {
            codes: labels.iter().map(code).collect(),
            names: distinct.iter().map(|label| label.to_string()).collect(),
        })
    }

    /// Survival times: of each sample the time of its event, or until which it was seen without one, where
    /// its entry in `events` is false.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many `events` as `times`; [`Error::NonFiniteTarget`] for
    /// a NaN or an infinity; [`Error::InvalidParameter`] for a time below 0; [`Error::TooFew`] without any
    /// event.
    ///
    /// ```
    /// use fewest_core::Target;
    /// let target = Target::survival(vec![5.0, 3.0, 4.0], vec![true, false, true])?;
    /// assert_eq!(target.describe(), "survival times");
    /// assert!(Target::survival(vec![5.0, 3.0], vec![false, false]).is_err());
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    pub fn survival(times: Vec<f64>, events: Vec<bool>) -> Result<Self, Error> {
        if events.len() != times.len() {
            return Err(Error::ShapeMismatch { what: "events", expected: times.len(), found: events.len() });
        }
        if let Some(row) = times.iter().position(|time| !time.is_finite()) {
            return Err(Error::NonFiniteTarget { row, value: times[row] });
        }
        if let Some(row) = times.iter().position(|time| *time < 0.0) {
            let found = format!("{} in sample {row} (counted from 0)", times[row]);
            return Err(Error::parameter("survival time", found, "at least 0"));
        }
        if !events.contains(&true) {
            let what = "samples with an event: without any, nothing is known about survival";
            return Err(Error::TooFew { what, minimum: 1, found: 0 });
        }
        Ok(Self::Survival(Survival { times, events }))
    }

    /// Affinities between samples: `values` is `n_samples` × `n_samples` and symmetric.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`], [`Error::NonFiniteTarget`], or [`Error::InvalidParameter`] naming the first
    /// pair that is not symmetric (to 1e-9 of the largest entry).
    pub fn affinity(values: Vec<f64>, n_samples: usize) -> Result<Self, Error> {
        let expected = n_samples.saturating_mul(n_samples);
        if values.len() != expected {
            return Err(Error::ShapeMismatch {
                what: "entries of the affinity matrix",
                expected,
                found: values.len(),
            });
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::NonFiniteTarget { row: at % n_samples, value: values[at] });
        }
        let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        for j in 0..n_samples {
            for i in 0..j {
                if (values[i + j * n_samples] - values[j + i * n_samples]).abs() > 1e-9 * largest {
                    return Err(Error::parameter(
                        "affinity",
                        format!("not symmetric at ({i}, {j})"),
                        "a symmetric matrix: average it with its transpose, if that is intended",
                    ));
                }
            }
        }
        Ok(Self::Affinity(Affinity { values, n_samples }))
    }

    /// Number of samples, or `None` without a target.
    pub fn n_samples(&self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Real(outputs) => Some(outputs.n_samples),
            Self::Class(classes) => Some(classes.codes.len()),
            Self::Affinity(affinity) => Some(affinity.n_samples),
            Self::Survival(survival) => Some(survival.times.len()),
        }
    }

    /// The target of the samples `rows`, in that order. Class names stay, also of classes that no longer
    /// occur; of survival times there may be no event left.
    pub fn subset(&self, rows: &[usize]) -> Self {
        match self {
            Self::None => Self::None,
            Self::Real(outputs) => {
                let values = (0..outputs.n_outputs())
                    .flat_map(|output| rows.iter().map(move |&row| outputs.output(output)[row]))
                    .collect();
                Self::Real(Outputs { values, n_samples: rows.len() })
            }
            Self::Class(classes) => Self::Class(Classes {
                codes: rows.iter().map(|&row| classes.codes[row]).collect(),
                names: classes.names.clone(),
            }),
            Self::Affinity(affinity) => {
                let n = affinity.n_samples;
                let values = rows
                    .iter()
                    .flat_map(|&j| rows.iter().map(move |&i| affinity.values[i + j * n]))
                    .collect();
                Self::Affinity(Affinity { values, n_samples: rows.len() })
            }
            Self::Survival(survival) => Self::Survival(Survival {
                times: rows.iter().map(|&row| survival.times[row]).collect(),
                events: rows.iter().map(|&row| survival.events[row]).collect(),
            }),
        }
    }

    /// The kind in words, for messages: "3 classes", "1 real output".
    pub fn describe(&self) -> String {
        match self {
            Self::None => "missing".to_owned(),
            Self::Real(outputs) if outputs.n_outputs() == 1 => "1 real output".to_owned(),
            Self::Real(outputs) => format!("{} real outputs", outputs.n_outputs()),
            Self::Class(classes) => format!("{} classes", classes.n_classes()),
            Self::Affinity(_) => "an affinity matrix".to_owned(),
            Self::Survival(_) => "survival times".to_owned(),
        }
    }
}

impl Outputs {
    /// Number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.values.len() / self.n_samples
    }

    /// Output `index < n_outputs()` of every sample.
    pub fn output(&self, index: usize) -> &[f64] {
        &self.values[index * self.n_samples..(index + 1) * self.n_samples]
    }
}

impl Classes {
    /// The class of every sample, as a code.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The name of each code.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of classes with a name; some may have no sample.
    pub fn n_classes(&self) -> usize {
        self.names.len()
    }

    /// Number of samples of each class.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        for &code in &self.codes {
            counts[code as usize] += 1;
        }
        counts
    }

    /// The codes of the classes that have samples, increasing.
    pub fn occurring(&self) -> Vec<u32> {
        order::distinct_codes(self.codes.clone())
    }
}

impl Survival {
    /// Of some of the rows of survival times, which may be without an event.
    pub(crate) fn of_rows(times: Vec<f64>, events: Vec<bool>) -> Self {
        Self { times, events }
    }

    /// The time of every sample.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Whether the time of a sample is that of an event.
    pub fn events(&self) -> &[bool] {
        &self.events
    }

    /// Number of events.
    pub fn n_events(&self) -> usize {
        self.events.iter().filter(|event| **event).count()
    }
}

impl Affinity {
    /// The matrix, `n_samples` × `n_samples`, symmetric.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.n_samples
    }
}
