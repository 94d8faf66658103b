//! A target as machines: two classes are one machine, more are one for each pair, a real output is one.

use fewest_core::{Dataset, Error, Target, order};

use super::loss::Loss;
use super::objective::Task;
use crate::limits::check_memory;

/// The machines of a target, and what their predictions mean.
#[derive(Debug, Clone)]
pub(crate) struct Tasks {
    pub(crate) tasks: Vec<Task>,
    pub(crate) loss: Loss,
    pub(crate) prediction: Prediction,
}

/// What decision values stand for.
#[derive(Debug, Clone)]
pub(crate) enum Prediction {
    /// The machine of each pair of class codes: positive for the second.
    Pairs(Vec<[u32; 2]>),
    /// The output is this times the value plus that.
    Output { scale: f64, offset: f64 },
}

/// The machines of `data`'s target, with tube `epsilon` in standard deviations for a real one.
///
/// # Errors
/// [`Error::UnsupportedTarget`] for another target; [`Error::TooFew`] for fewer than two classes with
/// samples, or an output that does not vary.
pub(crate) fn tasks(data: &Dataset, epsilon: f64, method: &'static str) -> Result<Tasks, Error> {
    match data.target() {
        Target::Class(classes) => {
            let codes = classes.codes();
            let found = classes.occurring().len();
            if found < 2 {
                return Err(Error::TooFew { what: "classes with samples", minimum: 2, found });
            }
            // Each has its samples, its coefficients and what these make of the features in question.
            let instead = format!(
                "{found} classes are told apart in pairs, in {} samples: is the target a \
                                   column of names?",
                codes.len()
            );
            check_memory(method, &[found, found, codes.len()], &instead)?;
            let task = |(pair, rows): ([u32; 2], Vec<usize>)| {
                let y = rows.iter().map(|&row| if codes[row] == pair[1] { 1.0 } else { -1.0 }).collect();
                (Task { rows, y }, pair)
            };
            let (tasks, pairs) = order::code_pairs(codes).map(task).unzip();
            Ok(Tasks { tasks, loss: Loss::SquaredHinge, prediction: Prediction::Pairs(pairs) })
        }
        Target::Real(outputs) if outputs.n_outputs() == 1 => {
            let mut y = outputs.output(0).to_vec();
            let n = y.len() as f64;
            let offset = y.iter().map(|value| value / n).sum::<f64>();
            let largest = y.iter().fold(0.0_f64, |most, value| most.max((value - offset).abs()));
            if !fewest_columns::standardise(&mut y) {
                return Err(Error::TooFew { what: "different target values", minimum: 2, found: 1 });
            }
            // The largest deviation before and after gives the scale without squaring what may overflow.
            let scale = largest / y.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            let task = Task { rows: (0..y.len()).collect(), y };
            let prediction = Prediction::Output { scale, offset };
            Ok(Tasks { tasks: vec![task], loss: Loss::SquaredInsensitive { epsilon }, prediction })
        }
        other => Err(Error::UnsupportedTarget {
            method,
            expected: "classes or one real output",
            found: other.describe(),
        }),
    }
}
