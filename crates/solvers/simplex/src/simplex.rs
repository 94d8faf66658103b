//! The vertices of a program, and the way from one to a better one.

use fewest_core::derive_seed;
use fewest_linalg::{add_scaled, dot};
use fewest_solver::{Control, Error, Status};

use crate::Cost;
use crate::inverse::Inverse;
use crate::step::{Passed, Step};

/// Steps between two checks of the values against the entries.
const CHECKED_AFTER: usize = 50;

/// A check that moves a value by more than this share of the largest makes a new inverse.
const DRIFT: f64 = 1e-9;

/// A condition of an optimum that is off by less than this share of its terms is off by rounding.
const ROUNDING: f64 = 1e-13;

/// A step that improves the objective by less than this share of its terms is one on the spot.
const NO_PROGRESS: f64 = 1e-15;

/// Steps on the spot before the kinks of the rows are moved apart.
const MOST_ON_THE_SPOT: usize = 20;

/// What is nearer to a kink than this, relative to 1 or the kink, may be on either side of it.
const NEAR: f64 = 1e-11;

/// How far kinks are moved apart, relative to 1 or their size.
const APART: f64 = 1e-6;

/// How often they are; afterwards Bland's rule ends what remains.
const MOST_TIMES_APART: u64 = 3;

/// Steps on the spot by Bland's rule, which does not go round in circles, before they are taken for rounding.
const MOST_CAREFUL: usize = 1000;

/// Checks without progress before steps are taken to go round in circles: by rounding, each alone may look
/// like progress.
const MOST_IDLE: usize = 20;

/// Where a bound begins to cost, as a multiple of the largest slope, and the factor where that is too little.
const WALL: f64 = 10.0;

/// The largest of these multiples: beyond, no point keeps the bounds.
const HIGHEST_WALL: f64 = 1e12;

/// What a column or a row is at a vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Place {
    /// At one of its kinks.
    Kink(usize),
    /// On one of the segments between them.
    Segment(usize),
}

/// A column or a row: its cost and where it is.
#[derive(Debug, Clone)]
pub(crate) struct Quantity {
    /// The caller's number.
    id: usize,
    pub(crate) cost: Cost,
    pub(crate) place: Place,
    pub(crate) value: f64,
    /// How far its kinks are moved.
    pub(crate) shift: f64,
    /// Its position among the free columns, or the tight rows.
    position: usize,
}

/// A column or a row, by its position in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Variable {
    Column(usize),
    Row(usize),
}

/// `minimise over x   Σ_j f_j(x_j) + Σ_i g_i((A x)_i)` with piecewise linear [`Cost`]s, at one of its
/// vertices.
///
/// A vertex has as many *free* columns, whose value is no kink of their cost, as *tight* rows, whose value is
/// one; the entries where they meet are a regular matrix, whose inverse is kept. All other rows and columns
/// follow. So the work depends on the number of free columns, and not on that of all rows.
///
/// Rows and columns may join, and costs may change, at any time: the vertex remains one.
#[derive(Debug, Clone, Default)]
pub struct Simplex {
    columns: Vec<Quantity>,
    rows: Vec<Quantity>,
    /// Of each column, one number a row.
    entries: Vec<Vec<f64>>,
    /// The length of each column.
    norms: Vec<f64>,
    free: Vec<usize>,
    tight: Vec<usize>,
    inverse: Inverse,
    /// The multiplier of each row: the slope of its cost, or between those beside its kink.
    duals: Vec<f64>,
    /// The slope that stands for an infinite one.
    wall: f64,
    times_apart: u64,
    n_steps: u64,
}

impl Quantity {
    fn new(id: usize, cost: Cost, place: Place, value: f64) -> Self {
        Self { id, cost, place, value, shift: 0.0, position: 0 }
    }

    pub(crate) fn kink(&self, at: usize) -> f64 {
        self.cost.kinks[at] + self.shift
    }

    /// What is free and off its segment by more than `near`, relative to 1 or its kinks, goes onto that where
    /// it is.
    fn settle(&mut self, near: f64) {
        if let Place::Segment(segment) = self.place {
            let (least, most) = self.segments(near);
            self.place = Place::Segment(segment.clamp(least, most));
        }
    }

    /// The segments of what is `near` below its value, and above, relative to 1 or its kinks.
    fn segments(&self, near: f64) -> (usize, usize) {
        let t = self.value - self.shift;
        let size = near * self.cost.kinks.iter().fold(1.0_f64, |most, kink| most.max(kink.abs()));
        (self.cost.segment(t - size), self.cost.segment(t + size))
    }
}

fn same_size(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::ShapeMismatch { what, expected, found }) }
}

/// How much the objective falls with each unit of a move, and its direction, 1 or −1.
type Gain = (f64, f64);

impl Simplex {
    /// The numbers of the columns, in the order in which they joined.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.columns.iter().map(|column| column.id)
    }

    /// The numbers of the rows, in the order in which they joined.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.rows.iter().map(|row| row.id)
    }

    /// The columns whose value is not 0, with their value `x_j`.
    pub fn values(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.columns.iter().filter(|column| column.value != 0.0).map(|column| (column.id, column.value))
    }

    /// The rows whose multiplier is not 0, with the multiplier `y_i`: a subgradient of `g_i` at `(A x)_i`.
    /// At an optimum `−(Aᵀ y)_j` is a subgradient of `f_j` at `x_j`.
    pub fn duals(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.rows.iter().zip(&self.duals).filter(|(_, y)| **y != 0.0).map(|(row, y)| (row.id, *y))
    }

    /// Steps from vertex to vertex so far.
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// The costs of all columns, by their number: other slopes at the same kinks.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a cost with other kinks or with slopes that fall.
    pub fn set_column_costs(&mut self, cost: impl Fn(usize) -> Cost) -> Result<(), Error> {
        let costs: Vec<Cost> = self.columns.iter().map(|column| cost(column.id)).collect();
        for (column, cost) in self.columns.iter().zip(&costs) {
            cost.check()?;
            if cost.kinks != column.cost.kinks {
                return Err(cost.refused(format!("the kinks {:?} that the column has", column.cost.kinks)));
            }
        }
        for (column, cost) in self.columns.iter_mut().zip(costs) {
            column.cost = cost;
            // Steps do not look at kinks where the slope does not change, but now it may.
            column.settle(NEAR);
        }
        Ok(())
    }

    /// Columns join at their first kink, which has to be 0: all else remains as it was. `entries` has one
    /// number a row, column after column.
    ///
    /// # Errors
    /// Nothing joins then: [`Error::ShapeMismatch`] for another number of entries,
    /// [`Error::InvalidParameter`] for a cost that is not convex or whose first kink is not 0.
    pub fn add_columns(&mut self, columns: &[(usize, Cost)], entries: &[f64]) -> Result<(), Error> {
        let m = self.rows.len();
        same_size("entries of the new columns", m.saturating_mul(columns.len()), entries.len())?;
        for (_, cost) in columns {
            cost.check()?;
            if cost.kinks[0] != 0.0 {
                return Err(cost.refused("a first kink at 0, where a column joins"));
            }
        }
        for (at, &(id, cost)) in columns.iter().enumerate() {
            let own = entries[at * m..(at + 1) * m].to_vec();
            self.columns.push(Quantity::new(id, cost, Place::Kink(0), 0.0));
            self.norms.push(dot(&own, &own).sqrt());
            self.entries.push(own);
        }
        Ok(())
    }

    /// Rows join with the values that the columns give them. `entries` has one number a new row, column after
    /// column.
    ///
    /// # Errors
    /// Nothing joins then: [`Error::ShapeMismatch`] for another number of entries,
    /// [`Error::InvalidParameter`] for a cost that is not convex.
    pub fn add_rows(&mut self, rows: &[(usize, Cost)], entries: &[f64]) -> Result<(), Error> {
        let expected = rows.len().saturating_mul(self.columns.len());
        same_size("entries of the new rows", expected, entries.len())?;
        rows.iter().try_for_each(|(_, cost)| cost.check())?;
        let mut values = vec![0.0; rows.len()];
        for (j, new) in entries.chunks_exact(rows.len().max(1)).enumerate() {
            add_scaled(&mut values, self.columns[j].value, new);
            self.entries[j].extend_from_slice(new);
            self.norms[j] = self.norms[j].hypot(dot(new, new).sqrt());
        }
        for (&(id, cost), value) in rows.iter().zip(values) {
            self.rows.push(Quantity::new(id, cost, Place::Segment(cost.segment(value)), value));
            self.duals.push(0.0);
        }
        Ok(())
    }

    /// Goes to a vertex that no step improves, or to where `control` ends it, at most
    /// [`max_iterations`](Control::max_iterations) steps away.
    ///
    /// [`Status::Stalled`] where rounding does, or where no point keeps all bounds.
    ///
    /// # Errors
    /// [`Error::Numerical`] for entries or slopes that are no numbers, or where the objective has no lower
    /// bound.
    pub fn minimise(&mut self, control: &Control<'_>) -> Result<Status, Error> {
        self.minimise_until(self.last_step(control), control)
    }

    /// The number of steps at which a computation that begins now reaches the limit of `control`.
    pub(crate) fn last_step(&self, control: &Control<'_>) -> u64 {
        self.n_steps.saturating_add(control.max_iterations)
    }

    /// [`minimise`](Self::minimise), with at most `last_step` steps since the beginning.
    pub(crate) fn minimise_until(&mut self, last_step: u64, control: &Control<'_>) -> Result<Status, Error> {
        self.check()?;
        let ended = self.go(last_step, control);
        // However it ended: the vertex that is left is one of the program.
        self.restore();
        ended
    }

    /// Steps until one of the ends of [`minimise`](Self::minimise); kinks may be moved there.
    fn go(&mut self, last_step: u64, control: &Control<'_>) -> Result<Status, Error> {
        let quantities = || self.columns.iter().chain(&self.rows);
        let steepest = quantities().map(|quantity| quantity.cost.steepness()).fold(0.0, f64::max);
        let base = WALL * if steepest > 0.0 { steepest } else { 1.0 };
        self.wall = self.wall.max(base);
        self.times_apart = 0;
        let (mut on_the_spot, mut since_check) = (0, 0);
        let (mut lowest, mut idle) = (f64::INFINITY, 0);
        let mut terms = self.terms();
        loop {
            if let Some(status) = control.stopped() {
                return Ok(status);
            }
            if self.n_steps >= last_step {
                return Ok(Status::MaxIterations);
            }
            if since_check >= CHECKED_AFTER {
                since_check = 0;
                if !self.recompute() {
                    return Ok(Status::Stalled);
                }
                terms = self.terms();
                let objective = self.objective();
                if objective < lowest - ROUNDING * terms {
                    (lowest, idle) = (objective, 0);
                } else {
                    idle += 1;
                }
            }
            let careful = self.times_apart > MOST_TIMES_APART;
            if idle > MOST_IDLE {
                if careful {
                    return Ok(Status::Stalled);
                }
                on_the_spot = 0;
                (lowest, idle) = (f64::INFINITY, 0);
                self.move_apart();
                continue;
            }
            self.price_rows();
            let Some((entering, gain)) = self.entering(careful) else {
                // Rounding of the steps so far must not decide.
                if since_check > 0 {
                    since_check = CHECKED_AFTER;
                    continue;
                }
                if self.restore() {
                    (lowest, idle) = (f64::INFINITY, 0);
                    continue;
                }
                if !self.breaks_a_bound() {
                    return Ok(Status::Converged);
                }
                self.wall *= WALL;
                (lowest, idle) = (f64::INFINITY, 0);
                if self.wall > HIGHEST_WALL * base {
                    return Ok(Status::Stalled);
                }
                continue;
            };
            let length = self.step(entering, gain, careful)?;
            self.n_steps += 1;
            since_check += 1;
            on_the_spot = if length * gain.0 > NO_PROGRESS * terms { 0 } else { on_the_spot + 1 };
            if careful && on_the_spot > MOST_CAREFUL {
                return Ok(Status::Stalled);
            }
            if on_the_spot > MOST_ON_THE_SPOT && !careful {
                on_the_spot = 0;
                (lowest, idle) = (f64::INFINITY, 0);
                self.move_apart();
            }
        }
    }

    /// The objective, up to a constant.
    fn objective(&self) -> f64 {
        let cost = |quantity: &Quantity| quantity.cost.value(quantity.value - quantity.shift, self.wall);
        self.columns.iter().chain(&self.rows).map(cost).sum()
    }

    /// The size of the terms that make the objective.
    fn terms(&self) -> f64 {
        let size = |quantity: &Quantity| quantity.value.abs() * quantity.cost.steepness();
        self.columns.iter().chain(&self.rows).map(size).sum()
    }

    fn check(&self) -> Result<(), Error> {
        let finite = |quantity: &Quantity| quantity.cost.has_slopes() && quantity.value.is_finite();
        if self.columns.iter().chain(&self.rows).all(finite) && self.norms.iter().all(|n| n.is_finite()) {
            return Ok(());
        }
        Err(Error::Numerical {
            what: "the linear program",
            hint: "the features or their costs differ too much in size".to_owned(),
        })
    }

    /// The slope of a cost, with walls for bounds.
    fn slope(&self, quantity: &Quantity, segment: usize) -> f64 {
        quantity.cost.slope(segment).clamp(-self.wall, self.wall)
    }

    /// The multipliers at the vertex. Those of tight rows are corrected by what the conditions of the free
    /// columns lack, so that errors of the inverse do not add up.
    fn price_rows(&mut self) {
        for at in 0..self.rows.len() {
            match self.rows[at].place {
                Place::Segment(segment) => self.duals[at] = self.slope(&self.rows[at], segment),
                Place::Kink(_) => {}
            }
        }
        let lacking: Vec<f64> = self
            .free
            .iter()
            .map(|&j| {
                let Place::Segment(segment) = self.columns[j].place else { return 0.0 };
                -self.slope(&self.columns[j], segment) - self.product(j)
            })
            .collect();
        for (&i, change) in self.tight.iter().zip(self.inverse.transposed_times(&lacking)) {
            self.duals[i] += change;
        }
    }

    /// `(Aᵀ y)_j`.
    fn product(&self, j: usize) -> f64 {
        dot(&self.entries[j], &self.duals)
    }

    /// How a column or a row at kink `at` improves the objective, whose slope without its own cost is
    /// `slope`; `terms` is the size of the terms of that.
    fn gain(&self, quantity: &Quantity, at: usize, slope: f64, terms: f64) -> Option<Gain> {
        let (left, right) = (self.slope(quantity, at), self.slope(quantity, at + 1));
        let rounding = ROUNDING * (terms + quantity.cost.steepness());
        let (up, down) = (-(right + slope), left + slope);
        let (most, direction) = if up >= down { (up, 1.0) } else { (down, -1.0) };
        (most > rounding).then_some((most, direction))
    }

    /// What leaves its kink next: that with the largest gain for its length, or, with care, the first.
    fn entering(&self, careful: bool) -> Option<(Variable, Gain)> {
        let size = dot(&self.duals, &self.duals).sqrt();
        let columns = self.columns.iter().enumerate().filter_map(|(j, column)| {
            let Place::Kink(at) = column.place else { return None };
            let gain = self.gain(column, at, self.product(j), self.norms[j] * size)?;
            Some((gain.0 / (1.0 + self.norms[j]), Variable::Column(j), gain))
        });
        let rows = self.rows.iter().zip(&self.duals).enumerate().filter_map(|(i, (row, y))| {
            let Place::Kink(at) = row.place else { return None };
            let gain = self.gain(row, at, -y, size)?;
            Some((gain.0, Variable::Row(i), gain))
        });
        let mut candidates = columns.chain(rows);
        let first = candidates.next()?;
        let best = match careful {
            true => first,
            false => candidates.fold(first, |best, other| if other.0 > best.0 { other } else { best }),
        };
        Some((best.1, best.2))
    }

    /// Moves `entering` off its kink until the objective falls no longer; returns how far.
    fn step(&mut self, entering: Variable, (gain, direction): Gain, careful: bool) -> Result<f64, Error> {
        // What the free columns do to keep the tight rows where they are.
        let m = self.rows.len();
        let mut moves = vec![0.0; m];
        let changes = match entering {
            Variable::Column(j) => {
                let column: Vec<f64> = self.tight.iter().map(|&i| self.entries[j][i]).collect();
                add_scaled(&mut moves, direction, &self.entries[j]);
                self.inverse.times(&column).into_iter().map(|u| -direction * u).collect()
            }
            Variable::Row(i) => {
                let mut column = self.inverse.column(self.rows[i].position);
                column.iter_mut().for_each(|value| *value *= direction);
                column
            }
        };
        for (&j, change) in self.free.iter().zip(&changes) {
            add_scaled(&mut moves, *change, &self.entries[j]);
        }
        let mut step = Step::new(gain);
        step.enter(self.quantity(entering), entering, direction);
        for (&j, &change) in self.free.iter().zip(&changes) {
            step.pass(&self.columns[j], Variable::Column(j), change);
        }
        for (i, row) in self.rows.iter().enumerate() {
            if matches!(row.place, Place::Segment(_)) {
                step.pass(row, Variable::Row(i), moves[i]);
            }
        }
        let Some((length, passed, last)) = step.end(self.wall, careful) else {
            return Err(Error::Numerical {
                what: "the linear program",
                hint: "its objective has no lower bound".to_owned(),
            });
        };
        for (&j, change) in self.free.iter().zip(&changes) {
            self.columns[j].value += length * change;
        }
        for (row, change) in self.rows.iter_mut().zip(&moves) {
            if matches!(row.place, Place::Segment(_)) {
                row.value += length * change;
            }
        }
        let quantity = self.quantity_mut(entering);
        quantity.value += length * direction;
        if let Place::Kink(at) = quantity.place {
            quantity.place = Place::Segment(if direction > 0.0 { at + 1 } else { at });
        }
        for Passed { variable, forward, .. } in passed {
            if let Place::Segment(segment) = &mut self.quantity_mut(variable).place {
                *segment = if forward { *segment + 1 } else { *segment - 1 };
            }
        }
        self.exchange(entering, &last, &changes, direction);
        let quantity = self.quantity_mut(last.variable);
        quantity.place = Place::Kink(last.kink);
        quantity.value = quantity.kink(last.kink);
        Ok(length)
    }

    fn quantity(&self, variable: Variable) -> &Quantity {
        match variable {
            Variable::Column(j) => &self.columns[j],
            Variable::Row(i) => &self.rows[i],
        }
    }

    fn quantity_mut(&mut self, variable: Variable) -> &mut Quantity {
        match variable {
            Variable::Column(j) => &mut self.columns[j],
            Variable::Row(i) => &mut self.rows[i],
        }
    }

    /// `entering` leaves its kink, and the last one that was passed stays at its own.
    fn exchange(&mut self, entering: Variable, last: &Passed, changes: &[f64], direction: f64) {
        let times = |changes: &[f64]| -> Vec<f64> { changes.iter().map(|u| -direction * u).collect() };
        match (entering, last.variable) {
            _ if entering == last.variable => {}
            (Variable::Column(j), Variable::Column(left)) => {
                let at = self.columns[left].position;
                self.inverse.replace_column(at, &times(changes));
                self.free[at] = j;
                self.columns[j].position = at;
            }
            (Variable::Column(j), Variable::Row(i)) => {
                let v = self.inverse.transposed_times(&self.free_entries(i));
                self.inverse.grow(&times(changes), &v, last.velocity * direction);
                (self.columns[j].position, self.rows[i].position) = (self.free.len(), self.tight.len());
                self.free.push(j);
                self.tight.push(i);
            }
            (Variable::Row(i), Variable::Column(left)) => {
                let (row, column) = (self.rows[i].position, self.columns[left].position);
                self.inverse.shrink(row, column);
                self.tight.swap_remove(row);
                self.free.swap_remove(column);
                if let Some(&moved) = self.tight.get(row) {
                    self.rows[moved].position = row;
                }
                if let Some(&moved) = self.free.get(column) {
                    self.columns[moved].position = column;
                }
            }
            (Variable::Row(i), Variable::Row(left)) => {
                let at = self.rows[i].position;
                let v = self.inverse.transposed_times(&self.free_entries(left));
                self.inverse.replace_row(at, &v);
                self.tight[at] = left;
                self.rows[left].position = at;
            }
        }
    }

    /// The entries of row `i` in the free columns.
    fn free_entries(&self, i: usize) -> Vec<f64> {
        self.free.iter().map(|&j| self.entries[j][i]).collect()
    }

    /// The values at the vertex, from the entries: `false` where the free columns and the tight rows no
    /// longer make one.
    fn recompute(&mut self) -> bool {
        let moved = self.correct();
        let largest = self.columns.iter().map(|column| column.value.abs()).fold(0.0, f64::max);
        if moved <= DRIFT * largest {
            return true;
        }
        let k = self.free.len();
        let square: Vec<f64> = self
            .free
            .iter()
            .flat_map(|&j| self.tight.iter().map(move |&i| (j, i)))
            .map(|(j, i)| self.entries[j][i])
            .collect();
        match Inverse::of(&square, k) {
            Some(inverse) => self.inverse = inverse,
            None => return false,
        }
        self.correct();
        self.correct();
        self.columns.iter().all(|column| column.value.is_finite())
    }

    /// Moves the free columns by what the tight rows are off their kinks, and all other rows with them;
    /// returns the largest move.
    fn correct(&mut self) -> f64 {
        for column in &mut self.columns {
            if let Place::Kink(at) = column.place {
                column.value = column.kink(at);
            }
        }
        let fitted = self.fitted();
        let off: Vec<f64> = self
            .tight
            .iter()
            .map(|&i| {
                let Place::Kink(at) = self.rows[i].place else { return 0.0 };
                self.rows[i].kink(at) - fitted[i]
            })
            .collect();
        let mut largest = 0.0_f64;
        for (&j, change) in self.free.iter().zip(self.inverse.times(&off)) {
            self.columns[j].value += change;
            largest = largest.max(change.abs());
        }
        let fitted = self.fitted();
        for (row, value) in self.rows.iter_mut().zip(fitted) {
            match row.place {
                Place::Kink(at) => row.value = row.kink(at),
                Place::Segment(_) => row.value = value,
            }
        }
        largest
    }

    /// `A x`.
    fn fitted(&self) -> Vec<f64> {
        let mut fitted = vec![0.0; self.rows.len()];
        for (column, entries) in self.columns.iter().zip(&self.entries).filter(|(c, _)| c.value != 0.0) {
            add_scaled(&mut fitted, column.value, entries);
        }
        fitted
    }

    /// Whether a column or a row is beyond a bound.
    fn breaks_a_bound(&self) -> bool {
        let beyond = |quantity: &Quantity| match quantity.place {
            Place::Segment(segment) => {
                let (least, most) = quantity.segments(NEAR);
                // At a bound nothing is broken, on whichever side of it.
                quantity.cost.slope(segment).is_infinite() && least == most
            }
            Place::Kink(_) => false,
        };
        self.columns.iter().chain(&self.rows).any(beyond)
    }

    /// Moves the kinks of rows a little, each by another amount, so that no two are reached at once.
    fn move_apart(&mut self) {
        self.times_apart += 1;
        if self.times_apart > MOST_TIMES_APART {
            self.restore();
            return;
        }
        let seed = derive_seed(self.times_apart, 0);
        for (at, row) in self.rows.iter_mut().enumerate() {
            let share = 0.5 + 0.5 * (derive_seed(seed, at as u64) as f64 / u64::MAX as f64);
            let size = row.cost.kinks.iter().fold(1.0_f64, |most, kink| most.max(kink.abs()));
            row.shift = APART * share * size;
        }
        self.correct();
        self.settle(0.0);
    }

    /// Moves the kinks back to where they belong; `false` where they are there.
    fn restore(&mut self) -> bool {
        let moved = self.rows.iter().any(|row| row.shift != 0.0);
        if moved {
            self.rows.iter_mut().for_each(|row| row.shift = 0.0);
            self.correct();
            // What is at a kink now stays on the segment on which it was: of many that tie, these segments
            // make an optimum.
            self.settle(NEAR);
        }
        moved
    }

    /// What is free goes onto the segment where it is, unless it is within `near` of its own.
    fn settle(&mut self, near: f64) {
        self.columns.iter_mut().chain(&mut self.rows).for_each(|quantity| quantity.settle(near));
    }
}

#[cfg(test)]
mod tests {
    use fewest_solver::{Control, Error, Status};

    use super::Simplex;
    use crate::Cost;

    /// The middle of a program that is being solved: its column is free, its row is tight, and moved.
    fn moved() -> Result<Simplex, Error> {
        let mut simplex = Simplex::default();
        simplex.add_rows(&[(0, Cost::hinge(2.0, -1.0, 1.0))], &[])?;
        simplex.add_columns(&[(0, Cost::free())], &[1.0])?;
        assert_eq!(simplex.minimise(&Control::default())?, Status::Converged);
        simplex.rows[0].shift = 1e-6;
        simplex.correct();
        Ok(simplex)
    }

    /// A matrix without an inverse, or an objective without a bound: kinks return to where they belong.
    #[test]
    fn no_end_leaves_kinks_moved() -> Result<(), Error> {
        let mut singular = moved()?;
        // A step is needed, or values are not checked.
        singular.add_columns(&[(1, Cost::within(0.0, 1.0).tilted(-1.0))], &[0.0])?;
        singular.entries[0][0] = 0.0;
        assert_eq!(singular.minimise(&Control::default())?, Status::Stalled);
        assert_eq!(singular.rows[0].shift, 0.0);
        let mut falling = moved()?;
        falling.add_columns(&[(1, Cost::free().tilted(-1.0))], &[0.0])?;
        assert!(falling.minimise(&Control::default()).is_err());
        assert_eq!(falling.rows[0].shift, 0.0);
        assert_eq!(falling.values().collect::<Vec<_>>(), [(0, 2.0)]);
        Ok(())
    }
}
