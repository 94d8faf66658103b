//! From values to coordinates of a drawing.

/// Ticks that every axis has, unless its range is a point.
const LEAST_TICKS: usize = 4;

/// Maps `[from.0, from.1]` to `[to.0, to.1]`, linearly or by logarithms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    from: (f64, f64),
    to: (f64, f64),
    logarithmic: bool,
}

impl Scale {
    pub(super) fn linear(from: (f64, f64), to: (f64, f64)) -> Self {
        Self { from, to, logarithmic: false }
    }

    /// For positive values only.
    pub(super) fn logarithmic(from: (f64, f64), to: (f64, f64)) -> Self {
        Self { from: (from.0.ln(), from.1.ln()), to, logarithmic: true }
    }

    /// The coordinate of `value`; the middle if all values are equal.
    pub(super) fn place(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.ln() } else { value };
        // Halves, because the length of the range of all numbers is none.
        let length = self.from.1 / 2.0 - self.from.0 / 2.0;
        let share = if length == 0.0 { 0.5 } else { (value / 2.0 - self.from.0 / 2.0) / length };
        self.to.0 + share * (self.to.1 - self.to.0)
    }
}

/// Round numbers in `[low, high]`: at least four, and few more.
pub(super) fn ticks(low: f64, high: f64) -> Vec<f64> {
    let length = high - low;
    if !(length.is_finite() && length > 0.0) {
        return vec![low];
    }
    let power = 10.0_f64.powf(length.log10().floor());
    // From the largest step to the smallest; the last has at least four multiples in any range.
    let steps = [2.0, 1.0, 0.5, 0.25, 0.2].map(|share| share * power);
    let multiples = |step: f64| {
        let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        (0..=(last - first).max(0.0) as usize).map(move |at| (first + at as f64) * step)
    };
    let enough = steps.into_iter().find(|&step| multiples(step).count() >= LEAST_TICKS);
    multiples(enough.unwrap_or(steps[4])).collect()
}

/// Round numbers in `[low, high]` for a logarithmic axis: powers of ten over several decades, with 2 and 5
/// between them where there are few, and plain [`ticks`] where even these are less than four.
pub(super) fn logarithmic_ticks(low: f64, high: f64) -> Vec<f64> {
    if !(low > 0.0 && high > low && high.is_finite()) {
        return vec![low];
    }
    let decades = (high / low).log10();
    let factors: &[f64] = if decades < 4.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let every = (decades / 8.0).ceil().max(1.0) as i32;
    let exponents = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let round: Vec<f64> = exponents
        .filter(|exponent| exponent.rem_euclid(every) == 0)
        .flat_map(|exponent| factors.iter().map(move |factor| factor * 10.0_f64.powi(exponent)))
        .filter(|tick| *tick >= low * (1.0 - 1e-9) && *tick <= high * (1.0 + 1e-9))
        .collect();
    if round.len() < LEAST_TICKS { ticks(low, high) } else { round }
}

/// `[least, most]` with a small margin; for a single value, a margin around it.
pub(super) fn padded(least: f64, most: f64) -> (f64, f64) {
    let room = if most > least { 0.05 * most - 0.05 * least } else { 0.05 * most.abs().max(1e-3) };
    ((least - room).max(f64::MIN), (most + room).min(f64::MAX))
}

/// Moves coordinates, given in increasing order, at least `gap` apart, within `[low, high]` if they fit.
pub(super) fn spread(places: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut spread = places.to_vec();
    let mut least = low;
    for place in &mut spread {
        *place = place.max(least);
        least = *place + gap;
    }
    let mut most = high;
    for place in spread.iter_mut().rev() {
        *place = place.min(most);
        most = *place - gap;
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_map_ends_to_ends() {
        let linear = Scale::linear((0.0, 2.0), (100.0, 0.0));
        assert_eq!([linear.place(0.0), linear.place(0.5), linear.place(2.0)], [100.0, 75.0, 0.0]);
        let log = Scale::logarithmic((1.0, 100.0), (0.0, 10.0));
        assert!((log.place(10.0) - 5.0).abs() < 1e-12);
        assert_eq!(Scale::linear((3.0, 3.0), (0.0, 10.0)).place(3.0), 5.0);
    }

    #[test]
    fn ticks_are_round_and_at_least_four() {
        assert_eq!(ticks(0.0, 1.0), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(ticks(-3.0, 7.0), [-2.5, 0.0, 2.5, 5.0]);
        assert_eq!(ticks(2.0, 2.0), [2.0]);
        // The range of a published evaluation, which once had two.
        assert_eq!(ticks(0.653, 0.827).len(), 7);
        for from in -50..50 {
            for length in 1..400 {
                let (low, high) =
                    (f64::from(from) * 0.37, f64::from(from) * 0.37 + f64::from(length) * 0.0173);
                let ticks = ticks(low, high);
                assert!((4..=9).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
                assert!(ticks.iter().all(|tick| *tick >= low - 1e-9 && *tick <= high + 1e-9));
            }
        }
    }

    #[test]
    fn logarithmic_ticks_thin_out_with_the_decades_and_are_at_least_four() {
        assert_eq!(logarithmic_ticks(1.0, 100.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(logarithmic_ticks(0.01, 1000.0).len(), 6);
        assert!(logarithmic_ticks(1e-30, 1e30).len() <= 9);
        assert_eq!(logarithmic_ticks(0.0, 1.0), [0.0]);
        for length in 1..200 {
            let high = 1.3 * 1.07_f64.powi(length);
            assert!(logarithmic_ticks(1.3, high).len() >= 4, "1.3 to {high}");
        }
    }

    #[test]
    fn labels_are_moved_apart_but_stay_inside() {
        assert_eq!(spread(&[0.0, 1.0, 50.0], 10.0, 0.0, 100.0), [0.0, 10.0, 50.0]);
        assert_eq!(spread(&[98.0, 99.0], 10.0, 0.0, 100.0), [90.0, 100.0]);
    }
}
