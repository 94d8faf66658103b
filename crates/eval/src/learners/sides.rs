//! The two sides of a split.

/// The sums of the samples on one side of a split, and what both sides explain.
pub(super) trait Sides {
    /// No sample is inside.
    fn clear(&mut self);

    /// Sample `i`, drawn `times`, is inside from now on.
    fn take(&mut self, i: usize, times: f64);

    /// `Σ_c s_c²/n` over both parts, of `inside` and `outside` samples: of counts `s` of classes, `n` less
    /// `n` times the Gini impurity, and of sums of centred values the part of their squares that the split
    /// explains.
    fn purity(&self, inside: usize, outside: usize) -> f64;
}

/// Counts of classes. Their squares are whole numbers, so that they can be kept up to date without rounding.
pub(super) struct ClassSides<'a> {
    codes: &'a [u32],
    all: &'a [f64],
    all_squares: f64,
    inside: Vec<f64>,
    inside_squares: f64,
    outside_squares: f64,
}

impl<'a> ClassSides<'a> {
    pub(super) fn new(codes: &'a [u32], all: &'a [f64]) -> Self {
        let all_squares = all.iter().map(|count| count * count).sum();
        let inside = vec![0.0; all.len()];
        Self { codes, all, all_squares, inside, inside_squares: 0.0, outside_squares: all_squares }
    }
}

impl Sides for ClassSides<'_> {
    fn clear(&mut self) {
        self.inside.fill(0.0);
        (self.inside_squares, self.outside_squares) = (0.0, self.all_squares);
    }

    fn take(&mut self, i: usize, times: f64) {
        let code = self.codes[i] as usize;
        let inside = self.inside[code];
        let outside = self.all[code] - inside;
        self.inside_squares += times * (2.0 * inside + times);
        self.outside_squares -= times * (2.0 * outside - times);
        self.inside[code] = inside + times;
    }

    fn purity(&self, inside: usize, outside: usize) -> f64 {
        self.inside_squares / inside as f64 + self.outside_squares / outside as f64
    }
}

/// Sums of outputs.
pub(super) struct OutputSides<'a> {
    outputs: &'a [Vec<f64>],
    all: &'a [f64],
    inside: Vec<f64>,
}

impl<'a> OutputSides<'a> {
    pub(super) fn new(outputs: &'a [Vec<f64>], all: &'a [f64]) -> Self {
        Self { outputs, all, inside: vec![0.0; all.len()] }
    }
}

impl Sides for OutputSides<'_> {
    fn clear(&mut self) {
        self.inside.fill(0.0);
    }

    fn take(&mut self, i: usize, times: f64) {
        for (sum, values) in self.inside.iter_mut().zip(self.outputs) {
            *sum += times * values[i];
        }
    }

    fn purity(&self, inside: usize, outside: usize) -> f64 {
        let rest = self.all.iter().zip(&self.inside).map(|(all, inside)| all - inside);
        squares(self.inside.iter().copied()) / inside as f64 + squares(rest) / outside as f64
    }
}

fn squares(sums: impl Iterator<Item = f64>) -> f64 {
    sums.map(|sum| sum * sum).sum()
}
