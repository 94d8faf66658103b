//! What streams hold, as bytes: every number with all of its bits.

use std::any::type_name;
use std::collections::VecDeque;

use crate::{Error, Scores, Status, Target};

/// A value that can be written as bytes and read back as it was, with the bits of every number.
///
/// [`state!`](crate::state) implements it for a struct, and [`stream_state!`](crate::stream_state) writes
/// [`StreamSelector::save`](crate::StreamSelector::save) and `restore` from the fields of a stream.
///
/// ```
/// use fewest_core::{Error, State, state};
///
/// #[derive(Debug, PartialEq)]
/// struct Kept {
///     name: String,
///     values: Vec<f64>,
/// }
/// state!(Kept { name, values });
///
/// let kept = Kept { name: "age".to_owned(), values: vec![0.1, f64::INFINITY] };
/// let mut bytes = Vec::new();
/// kept.save(&mut bytes);
/// assert_eq!(Kept::load(&mut bytes.as_slice())?, kept);
/// // What was cut off is no state.
/// assert!(Kept::load(&mut &bytes[..bytes.len() - 1]).is_err());
/// # Ok::<(), Error>(())
/// ```
pub trait State: Sized {
    /// Appends the value.
    fn save(&self, to: &mut Vec<u8>);

    /// Takes a value from the front.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for bytes that were not written as one.
    fn load(from: &mut &[u8]) -> Result<Self, Error>;
}

/// Implements [`State`](crate::State) for a struct by its fields, in the order in which they are listed.
#[macro_export]
macro_rules! state {
    ($type:ty { $($field:ident),+ $(,)? }) => {
        impl $crate::State for $type {
            fn save(&self, to: &mut Vec<u8>) {
                $($crate::State::save(&self.$field, to);)+
            }

            fn load(from: &mut &[u8]) -> Result<Self, $crate::Error> {
                Ok(Self { $($field: $crate::State::load(from)?),+ })
            }
        }
    };
}

/// Writes `save` and `restore` of a [`StreamSelector`](crate::StreamSelector), inside its implementation:
/// first the fields that it was made with, which have to be the same in the stream that takes the state, then
/// those that change.
///
/// ```
/// # use fewest_core::*;
/// struct Mean {
///     power: f64,
///     sums: Vec<f64>,
///     n: usize,
/// }
///
/// impl StreamSelector for Mean {
///     fn update(&mut self, arrived: &Dataset, _: &Context<'_>) -> Result<(), Error> {
///         self.sums.resize(arrived.n_features(), 0.0);
///         let mut values = vec![0.0; arrived.n_samples()];
///         for (j, sum) in self.sums.iter_mut().enumerate() {
///             arrived.x().copy_column(j, &mut values)?;
///             *sum += values.iter().map(|value| value.powf(self.power)).sum::<f64>();
///         }
///         self.n += arrived.n_samples();
///         Ok(())
///     }
///     fn selection(&self, budget: Budget) -> Result<Selection, Error> {
///         let means = self.sums.iter().map(|sum| sum / self.n as f64).enumerate().collect();
///         Ok(Selection::by_weight(means, self.sums.len(), budget, Status::Converged))
///     }
///     fn held(&self) -> Held {
///         Held::new(self.sums.len(), self.sums.len())
///     }
///     stream_state!(power; sums, n);
/// }
///
/// let data = Dataset::new(DenseColumns::from_columns(&[vec![1.0, 2.0], vec![3.0, 4.0]])?, Target::None)?;
/// let mut first = Mean { power: 2.0, sums: Vec::new(), n: 0 };
/// first.update(&data, &Context::default())?;
/// let mut second = Mean { power: 2.0, sums: Vec::new(), n: 0 };
/// second.restore(&first.save()?)?;
/// assert_eq!(second.selection(Budget::Auto)?, first.selection(Budget::Auto)?);
/// let mut other = Mean { power: 3.0, sums: Vec::new(), n: 0 };
/// assert!(other.restore(&first.save()?).is_err());
/// # Ok::<(), Error>(())
/// ```
#[macro_export]
macro_rules! stream_state {
    ($($($made:ident).+),+; $($($field:ident).+),+ $(,)?) => {
        fn save(&self) -> Result<Vec<u8>, $crate::Error> {
            let mut to = Vec::new();
            $crate::streams_state::save_maker::<Self>(&format!("{:?}", ($(&self.$($made).+,)+)), &mut to);
            $($crate::State::save(&self.$($field).+, &mut to);)+
            Ok(to)
        }

        fn restore(&mut self, state: &[u8]) -> Result<(), $crate::Error> {
            let mut from = state;
            $crate::streams_state::check_maker::<Self>(&format!("{:?}", ($(&self.$($made).+,)+)), &mut from)?;
            // All of it is read before anything changes.
            let mut whole = from;
            $($crate::streams_state::load_as(&self.$($field).+, &mut whole)?;)+
            $crate::streams_state::check_end(whole)?;
            $(self.$($field).+ = $crate::State::load(&mut from)?;)+
            Ok(())
        }
    };
}

/// What [`stream_state!`](crate::stream_state) is written with.
pub mod by_macro {
    use super::*;

    /// Writes which stream it is and what it was made with.
    pub fn save_maker<S>(made: &str, to: &mut Vec<u8>) {
        type_name::<S>().to_owned().save(to);
        made.to_owned().save(to);
    }

    /// Refuses the state of another stream.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`].
    pub fn check_maker<S>(made: &str, from: &mut &[u8]) -> Result<(), Error> {
        let (stream, options) = (String::load(from)?, String::load(from)?);
        if stream != type_name::<S>() {
            return Err(Error::parameter("state", format!("one of {stream}"), "of the same stream"));
        }
        if options != made {
            let expected = format!("one with the same options, {made}");
            return Err(Error::parameter("state", format!("one of a stream with {options}"), expected));
        }
        Ok(())
    }

    /// A value of the type of another.
    ///
    /// # Errors
    /// As [`State::load`].
    pub fn load_as<T: State>(_: &T, from: &mut &[u8]) -> Result<T, Error> {
        T::load(from)
    }

    /// Refuses bytes after the last field.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`].
    pub fn check_end(rest: &[u8]) -> Result<(), Error> {
        if rest.is_empty() { Ok(()) } else { Err(broken()) }
    }
}

/// The error for bytes that no state was written as.
pub(crate) fn broken() -> Error {
    Error::parameter("state", "no state of this stream", "what `save` returned, unchanged")
}

fn take<'a>(from: &mut &'a [u8], len: usize) -> Result<&'a [u8], Error> {
    let (taken, rest) = from.split_at_checked(len).ok_or_else(broken)?;
    *from = rest;
    Ok(taken)
}

macro_rules! numbers {
    ($($type:ty),+) => {
        $(impl State for $type {
            fn save(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn load(from: &mut &[u8]) -> Result<Self, Error> {
                let bytes = take(from, size_of::<Self>())?;
                bytes.try_into().map(Self::from_le_bytes).map_err(|_| broken())
            }
        })+
    };
}

numbers!(u8, u32, u64, f64);

impl State for usize {
    fn save(&self, to: &mut Vec<u8>) {
        (*self as u64).save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        u64::load(from)?.try_into().map_err(|_| broken())
    }
}

impl State for bool {
    fn save(&self, to: &mut Vec<u8>) {
        u8::from(*self).save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        match u8::load(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(broken()),
        }
    }
}

impl State for String {
    fn save(&self, to: &mut Vec<u8>) {
        self.len().save(to);
        to.extend_from_slice(self.as_bytes());
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let len = usize::load(from)?;
        String::from_utf8(take(from, len)?.to_vec()).map_err(|_| broken())
    }
}

impl<T: State> State for Vec<T> {
    fn save(&self, to: &mut Vec<u8>) {
        self.len().save(to);
        self.iter().for_each(|value| value.save(to));
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let len = usize::load(from)?;
        // A length that was not written here asks for no memory.
        let mut values = Vec::with_capacity(len.min(from.len() / size_of::<T>().max(1)));
        for _ in 0..len {
            if from.is_empty() {
                return Err(broken());
            }
            values.push(T::load(from)?);
        }
        Ok(values)
    }
}

impl<T: State> State for VecDeque<T> {
    fn save(&self, to: &mut Vec<u8>) {
        self.len().save(to);
        self.iter().for_each(|value| value.save(to));
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        Vec::load(from).map(Self::from)
    }
}

impl<T: State> State for Option<T> {
    fn save(&self, to: &mut Vec<u8>) {
        self.is_some().save(to);
        self.iter().for_each(|value| value.save(to));
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        bool::load(from)?.then(|| T::load(from)).transpose()
    }
}

macro_rules! tuples {
    ($(($($type:ident $at:tt),+))+) => {
        $(impl<$($type: State),+> State for ($($type,)+) {
            fn save(&self, to: &mut Vec<u8>) {
                $(self.$at.save(to);)+
            }

            fn load(from: &mut &[u8]) -> Result<Self, Error> {
                Ok(($($type::load(from)?,)+))
            }
        })+
    };
}

tuples! { (A 0, B 1) (A 0, B 1, C 2) }

/// Without p-values and notes.
impl State for Scores {
    fn save(&self, to: &mut Vec<u8>) {
        self.values.save(to);
        (self.higher_is_better, self.status).save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let values = Vec::load(from)?;
        let (higher_is_better, status) = State::load(from)?;
        let scores = if higher_is_better { Self::descending(values) } else { Self::ascending(values) };
        Ok(scores.with_status(status))
    }
}

impl State for Status {
    fn save(&self, to: &mut Vec<u8>) {
        self.name().to_owned().save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let name = String::load(from)?;
        Self::ALL.into_iter().find(|status| status.name() == name).ok_or_else(broken)
    }
}

impl State for Target {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Target::None => 0_u8.save(to),
            Target::Class(classes) => {
                1_u8.save(to);
                (classes.codes().to_vec(), classes.names().to_vec()).save(to);
            }
            Target::Real(outputs) => {
                2_u8.save(to);
                let columns = (0..outputs.n_outputs()).map(|output| outputs.output(output).to_vec());
                columns.collect::<Vec<_>>().save(to);
            }
            Target::Survival(survival) => {
                3_u8.save(to);
                (survival.times().to_vec(), survival.events().to_vec()).save(to);
            }
            Target::Affinity(affinity) => {
                4_u8.save(to);
                (affinity.values().to_vec(), affinity.n_samples()).save(to);
            }
        }
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        match u8::load(from)? {
            0 => Ok(Target::None),
            1 => {
                <(Vec<u32>, Vec<String>)>::load(from).and_then(|(codes, names)| Target::classes(codes, names))
            }
            2 => {
                let columns = Vec::<Vec<f64>>::load(from)?;
                let n_samples = columns.first().map_or(0, Vec::len);
                Target::outputs(columns.concat(), n_samples)
            }
            3 => <(Vec<f64>, Vec<bool>)>::load(from)
                .and_then(|(times, events)| Target::survival(times, events)),
            4 => <(Vec<f64>, usize)>::load(from).and_then(|(values, n)| Target::affinity(values, n)),
            _ => Err(broken()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round<T: State + PartialEq + std::fmt::Debug>(value: T) {
        let mut bytes = Vec::new();
        value.save(&mut bytes);
        let mut rest = bytes.as_slice();
        assert_eq!(T::load(&mut rest).unwrap(), value);
        assert!(rest.is_empty());
        for len in 0..bytes.len() {
            assert!(T::load(&mut &bytes[..len]).is_err(), "{value:?} of {len} bytes");
        }
    }

    #[test]
    fn values_are_read_back_as_they_were_and_never_from_less() {
        round((7_usize, Some(vec!["é".to_owned(), String::new()]), vec![true, false]));
        round(vec![Some((1_u32, -0.0_f64)), None]);
        round(Target::None);
        round(Target::from_labels(&["b", "a", "b"]));
        round(Target::outputs(vec![1.0, 2.0, 3.0, 4.0], 2).unwrap());
        round(Target::survival(vec![1.0, 2.0], vec![true, false]).unwrap());
        round(Target::affinity(vec![1.0, 0.5, 0.5, 1.0], 2).unwrap());
        Status::ALL.into_iter().for_each(round);
        // The bits of a number that is none.
        let mut bytes = Vec::new();
        let odd = f64::from_bits(0x7ff8_0000_0000_0123);
        odd.save(&mut bytes);
        assert_eq!(f64::load(&mut bytes.as_slice()).unwrap().to_bits(), odd.to_bits());
    }

    #[test]
    fn a_length_that_was_never_written_asks_for_no_memory() {
        let mut bytes = Vec::new();
        u64::MAX.save(&mut bytes);
        bytes.extend_from_slice(&[0; 64]);
        assert!(Vec::<f64>::load(&mut bytes.as_slice()).is_err());
        assert!(Vec::<Vec<f64>>::load(&mut bytes.as_slice()).is_err());
        assert!(String::load(&mut bytes.as_slice()).is_err());
    }
}
