//! Samples that arrive in batches, as `fewest stream` takes them.

use std::sync::{Mutex, PoisonError, TryLockError};

use fewest::core::{Arrives, Budget, Context, Error, Selection, Selector, StreamSelector};
use fewest::data::Missing;
use fewest::registry::{Built, Kind, Method, Parameters, Registry};
use fewest::streams::Window;
use fewest_study::Forgetting;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};

use crate::data::{Data, without_gaps};
use crate::errors::{not_yet, of_run, wrong};
use crate::run::{Run, run};
use crate::select::{About, Everywhere, Number, budget, configured, no_own_number, selected, told};

/// Which samples count: those of a window, by a half-life, or those since the last change.
type Forgets = (Option<usize>, Option<f64>, bool);

/// What is kept of the samples that came.
enum Kept {
    /// By the method itself, or by sums that forget.
    Stream(Box<dyn StreamSelector>),
    /// The last samples. The method is run on them from here, so that it can be interrupted.
    Window(Box<Window<Box<dyn Selector>>>),
}

impl Kept {
    fn new(
        method: &Method,
        parameters: &Parameters,
        forgetting: Option<Forgetting>,
        (budget, n_features, seed): (Budget, usize, u64),
    ) -> Result<Self, Error> {
        Ok(match forgetting {
            Some(window @ Forgetting::Window(samples)) => {
                window.check(method, parameters)?;
                let selector = method.build(parameters).map(Built::into_selector)?;
                Self::Window(Box::new(Window::new(selector, samples, seed)?))
            }
            Some(other) => Self::Stream(other.stream(method, parameters, budget, n_features, seed)?),
            None => Self::Stream(method.stream(parameters, budget, seed)?),
        })
    }

    fn stream(&mut self) -> &mut dyn StreamSelector {
        match self {
            Self::Stream(stream) => stream.as_mut(),
            Self::Window(window) => window.as_mut(),
        }
    }

    /// What is selected, from these data if it is a window, with the values of all features if there are
    /// some.
    fn selection(
        &self,
        method: &Method,
        parameters: &Parameters,
        (budget, n_features): (Budget, usize),
        context: &Context<'_>,
    ) -> Result<(Selection, Option<Everywhere>), Error> {
        match self {
            Self::Window(window) => {
                let (selection, scores) =
                    selected(method.build(parameters)?, &window.table()?, budget, context)?;
                Ok((selection, scores.map(Everywhere::from)))
            }
            Self::Stream(stream) => {
                let selection = stream.selection(budget)?;
                // What scores every feature tells all of them, however few are selected.
                let all = match method.kind {
                    Kind::Score => {
                        Some(everywhere(n_features, &stream.selection(Budget::Count(n_features))?))
                    }
                    _ => None,
                };
                Ok((selection, all))
            }
        }
    }
}

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
    forgets: Forgets,
    /// Nothing after an interrupt in the middle of a batch: nobody knows what is missing of it.
    held: Mutex<Option<Kept>>,
}

impl Stream {
    /// What is held, for `work`; `false` leaves nothing behind.
    fn with<T>(&self, work: impl FnOnce(Kept) -> PyResult<(Option<Kept>, T)>) -> PyResult<T> {
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
        forgets: Forgets,
        state: Option<Vec<u8>>,
    ) -> PyResult<Self> {
        let (method, parameters) = configured(method, &given)?;
        let forgetting = forgetting(forgets)?;
        let is_window = matches!(forgetting, Some(Forgetting::Window(_)));
        if method.arrives != Some(Arrives::Samples) && !is_window {
            let all = Registry::standard().methods().iter();
            let others = all.filter(|other| other.arrives == Some(Arrives::Samples)).map(|other| other.id);
            let others = others.collect::<Vec<_>>().join(", ");
            return Err(wrong(format!(
                "{}: samples cannot arrive batch by batch: use `fit`, a window, or one of {others}",
                method.id
            )));
        }
        let budget = budget(k.clone(), method, &parameters, n_features)?;
        let sizes = (budget, n_features, seed);
        let mut kept = Kept::new(method, &parameters, forgetting, sizes).map_err(wrong)?;
        if let Some(state) = state {
            kept.stream().restore(&state).map_err(wrong)?;
        }
        let held = Mutex::new(Some(kept));
        Ok(Self { method, given, parameters, k, budget, n_features, seed, forgets, held })
    }

    /// How it is made again, for pickles and copies.
    #[expect(clippy::type_complexity, reason = "the tuple that Python wants")]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(
        Bound<'py, PyType>,
        (String, Vec<(String, String)>, Option<Number>, usize, u64, Forgets, Bound<'py, PyBytes>),
    )> {
        let this = slf.get();
        let state = this.with(|mut kept| {
            let state = kept.stream().save();
            Ok((Some(kept), state))
        })?;
        let state = PyBytes::new(slf.py(), &state.map_err(wrong)?);
        let made = (
            this.method.id.to_owned(),
            this.given.clone(),
            this.k.clone(),
            this.n_features,
            this.seed,
            this.forgets,
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
        self.with(|mut kept| {
            let (answer, _) = run(py, &how, move |context| {
                let answer = kept.stream().update(&arrived, context);
                (answer, kept)
            })?;
            let (answer, kept) = answer;
            // An error leaves the stream as it was.
            Ok((Some(kept), answer))
        })?
        .map_err(|error| of_run(&error))
    }

    /// What is selected from all that arrived, as `select` tells it; `data` is the last batch.
    fn selection<'py>(&self, py: Python<'py>, data: &Data, how: Run) -> PyResult<Bound<'py, PyDict>> {
        let what = (self.budget, self.n_features);
        let (answer, seconds) = self.with(|mut kept| {
            let own = &mut kept;
            let ran =
                run(py, &how, move |context| own.selection(self.method, &self.parameters, what, context));
            // An interrupt of a selection changes nothing of what is kept.
            Ok((Some(kept), ran))
        })??;
        let (selection, all) = answer.map_err(|error| match (&error, self.budget) {
            (Error::InvalidParameter { name: "k", .. }, Budget::Auto) => no_own_number(self.method),
            (Error::Stopped { .. }, _) => of_run(&error),
            // Whatever else came would not change it.
            (Error::Unsupported { .. }, _) => wrong(error),
            _ => not_yet(error),
        })?;
        let about = About {
            method: self.method,
            parameters: self.parameters.clone(),
            seed: self.seed,
            seconds,
            missing: data.missing,
        };
        told(py, &data.dataset, selection, all, about)
    }

    /// The last alarm of a test for changes, if there was one.
    fn alarm<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let alarm = self.with(|mut kept| {
            let alarm = kept.stream().alarm().cloned();
            Ok((Some(kept), alarm))
        })?;
        alarm
            .map(|alarm| {
                let told = PyDict::new(py);
                told.set_item("number", alarm.number)?;
                told.set_item("sample", alarm.sample)?;
                told.set_item("since", alarm.since)?;
                told.set_item("before", alarm.before)?;
                told.set_item("after", alarm.after)?;
                told.set_item("rank_correlation", alarm.rank_correlation)?;
                told.set_item("left", alarm.left)?;
                told.set_item("entered", alarm.entered)?;
                Ok(told)
            })
            .transpose()
    }
}

/// What the parameters of this name mean.
fn forgetting((window, half_life, drift): Forgets) -> PyResult<Option<Forgetting>> {
    match (window, half_life, drift) {
        (None, None, false) => Ok(None),
        (Some(samples), None, false) => Ok(Some(Forgetting::Window(samples))),
        (None, Some(samples), false) => Ok(Some(Forgetting::HalfLife(samples))),
        (None, None, true) => Ok(Some(Forgetting::Drift)),
        _ => Err(wrong("window, half_life and drift: each says which samples count: give one of them")),
    }
}

/// The scores of a selection of all features; NaN of those that it leaves out.
fn everywhere(n_features: usize, all: &Selection) -> Everywhere {
    let spread = |values: &Vec<f64>| {
        let mut spread = vec![f64::NAN; n_features];
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
