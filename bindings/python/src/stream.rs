//! Samples that arrive in batches, as `fewest stream` takes them.

use std::sync::{Mutex, PoisonError, TryLockError};

use fewest::core::{Arrives, Budget, Dataset, Selection, StreamSelector};
use fewest::data::Missing;
use fewest::registry::{Kind, Method, Parameters, Registry};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};

use crate::data::{Data, without_gaps};
use crate::errors::{of_run, wrong};
use crate::run::{Run, run};
use crate::select::{About, Everywhere, Number, budget, configured, no_own_number, told};

/// A method to which samples arrive, and what it keeps of them.
#[pyclass(frozen, module = "fewest._fewest")]
pub(crate) struct Stream {
    method: &'static Method,
    given: Vec<(String, String)>,
    parameters: Parameters,
    k: Option<Number>,
    budget: Budget,
    n_features: usize,
    seed: u64,
    /// Nothing after an interrupt in the middle of a batch: nobody knows what is missing of it.
    held: Mutex<Option<Box<dyn StreamSelector>>>,
}

impl Stream {
    /// What is held, for `work`; `false` leaves nothing behind.
    fn with<T>(
        &self,
        work: impl FnOnce(Box<dyn StreamSelector>) -> PyResult<(Option<Box<dyn StreamSelector>>, T)>,
    ) -> PyResult<T> {
        // To wait with Python's lock held would be for ever.
        let mut held = match self.held.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => {
                return Err(wrong("another thread is in partial_fit of this estimator: wait for it"));
            }
        };
        let Some(stream) = held.take() else {
            return Err(wrong(
                "partial_fit was interrupted in the middle of a batch: start again with a clone",
            ));
        };
        let (after, answer) = work(stream)?;
        *held = after;
        Ok(answer)
    }
}

#[pymethods]
impl Stream {
    #[new]
    fn new(
        method: &str,
        given: Vec<(String, String)>,
        k: Option<Number>,
        n_features: usize,
        seed: u64,
        state: Option<Vec<u8>>,
    ) -> PyResult<Self> {
        let (method, parameters) = configured(method, &given)?;
        if method.arrives != Some(Arrives::Samples) {
            let all = Registry::standard().methods().iter();
            let others = all.filter(|other| other.arrives == Some(Arrives::Samples)).map(|other| other.id);
            let others = others.collect::<Vec<_>>().join(", ");
            return Err(wrong(format!(
                "{}: samples cannot arrive batch by batch: use `fit`, or one of {others}",
                method.id
            )));
        }
        let budget = budget(k.clone(), method, &parameters, n_features)?;
        let mut stream = method.stream(&parameters, budget, seed).map_err(wrong)?;
        if let Some(state) = state {
            stream.restore(&state).map_err(wrong)?;
        }
        let held = Mutex::new(Some(stream));
        Ok(Self { method, given, parameters, k, budget, n_features, seed, held })
    }

    /// How it is made again, for pickles and copies.
    #[expect(clippy::type_complexity, reason = "the tuple that Python wants")]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(
        Bound<'py, PyType>,
        (String, Vec<(String, String)>, Option<Number>, usize, u64, Bound<'py, PyBytes>),
    )> {
        let this = slf.get();
        let state = this.with(|stream| {
            let state = stream.save();
            Ok((Some(stream), state))
        })?;
        let state = PyBytes::new(slf.py(), &state.map_err(wrong)?);
        let made = (
            this.method.id.to_owned(),
            this.given.clone(),
            this.k.clone(),
            this.n_features,
            this.seed,
            state,
        );
        Ok((slf.get_type(), made))
    }

    /// Takes a batch; of missing values, those that `missing` leaves out.
    fn update(&self, py: Python<'_>, data: &Data, missing: &str, how: Run) -> PyResult<()> {
        let arrived = match missing.parse::<Missing>().map_err(wrong)? {
            Missing::Error => Some(data.dataset.clone()),
            Missing::DropRows => without_gaps(&data.dataset).map_err(wrong)?,
            _ => {
                return Err(wrong(format!(
                    "missing={missing}: what to fill in is known at the end only: use drop-rows, or fill in before"
                )));
            }
        };
        let Some(arrived) = arrived else { return Ok(()) };
        self.with(|mut stream| {
            let (answer, _) = run(py, &how, move |context| {
                let answer = stream.update(&arrived, context);
                (answer, stream)
            })?;
            let (answer, stream) = answer;
            // An error leaves the stream as it was.
            Ok((Some(stream), answer))
        })?
        .map_err(|error| of_run(&error))
    }

    /// What is selected from all that arrived, as `select` tells it; `data` is the last batch.
    fn selection<'py>(&self, py: Python<'py>, data: &Data, how: Run) -> PyResult<Bound<'py, PyDict>> {
        let (answer, seconds) = self.with(|stream| {
            let ((answer, stream), seconds) = run(py, &how, move |_| {
                let answer = stream.selection(self.budget).and_then(|selection| {
                    // What scores every feature tells all of them, however few are selected.
                    let all = (self.method.kind == Kind::Score)
                        .then(|| stream.selection(Budget::Count(self.n_features)))
                        .transpose()?;
                    Ok((selection, all))
                });
                (answer, stream)
            })?;
            Ok((Some(stream), (answer, seconds)))
        })?;
        let (selection, all) = answer.map_err(|error| match self.budget {
            Budget::Auto if matches!(error, fewest::core::Error::InvalidParameter { name: "k", .. }) => {
                no_own_number(self.method)
            }
            _ => of_run(&error),
        })?;
        let about = About {
            method: self.method,
            parameters: self.parameters.clone(),
            seed: self.seed,
            seconds,
            missing: data.missing,
        };
        let all = all.map(|all| everywhere(&data.dataset, &all));
        told(py, &data.dataset, selection, all, about)
    }
}

/// The scores of a selection of all features; NaN of those that it leaves out.
fn everywhere(data: &Dataset, all: &Selection) -> Everywhere {
    let spread = |values: &Vec<f64>| {
        let mut spread = vec![f64::NAN; data.n_features()];
        for (&j, &value) in all.order.iter().zip(values) {
            spread[j] = value;
        }
        spread
    };
    Everywhere {
        scores: spread(&all.scores),
        p_values: all.p_values.as_ref().map(spread),
        q_values: all.q_values.as_ref().map(spread),
    }
}
