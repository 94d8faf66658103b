//! Tables that are read where Python holds them.

use std::sync::Arc;

use bytemuck::{AnyBitPattern, try_cast_slice};
use fewest::core::{Column, Columns, Error, FeatureKind};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3_bytes::PyBytes;

use crate::errors::wrong;

/// Numbers in memory that Python owns; they stay there as long as this lives.
pub(crate) struct Values {
    bytes: PyBytes,
    /// Whether they are float32; else they are float64.
    single: bool,
}

impl Values {
    /// The bytes of aligned numbers in a row.
    fn new(bytes: PyBytes, single: bool) -> PyResult<Self> {
        let values = Self { bytes, single };
        let fits = if single { values.fits::<f32>() } else { values.fits::<f64>() };
        if fits { Ok(values) } else { Err(wrong("the array is not aligned: give a copy of it")) }
    }

    fn fits<T: AnyBitPattern>(&self) -> bool {
        try_cast_slice::<u8, T>(self.bytes.as_ref()).is_ok()
    }

    /// The numbers; `new` has checked that they are some.
    fn numbers<T: AnyBitPattern>(&self) -> &[T] {
        try_cast_slice(self.bytes.as_ref()).unwrap_or_default()
    }

    fn len(&self) -> usize {
        if self.single { self.numbers::<f32>().len() } else { self.numbers::<f64>().len() }
    }

    /// The values at `first`, `first + step`, …, before `end`: where they lie if they are doubles in a
    /// row, else in `scratch`.
    fn every<'a>(
        &'a self,
        (first, end, step): (usize, usize, usize),
        scratch: &'a mut Vec<f64>,
    ) -> &'a [f64] {
        scratch.clear();
        match (self.single, step) {
            (false, 1) => return &self.numbers()[first..end],
            (false, _) => scratch.extend(self.numbers::<f64>()[first..end].iter().step_by(step)),
            (true, _) => {
                let singles = self.numbers::<f32>()[first..end].iter().step_by(step);
                scratch.extend(singles.map(|&value| f64::from(value)));
            }
        }
        scratch
    }
}

/// A dense array in one piece.
struct Dense {
    values: Values,
    n_samples: usize,
    n_features: usize,
    /// Column after column, as Fortran orders them; else row after row.
    by_column: bool,
}

impl Columns for Dense {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        let (n, d) = (self.n_samples, self.n_features);
        let stretch = if self.by_column { (j * n, (j + 1) * n, 1) } else { (j, n * d, d) };
        Ok(Column::Dense(self.values.every(stretch, scratch)))
    }
}

/// SciPy's CSC matrix.
struct Sparse {
    /// Where each column starts and the last one ends.
    starts: Vec<usize>,
    rows: Vec<usize>,
    values: Values,
    n_samples: usize,
}

impl Columns for Sparse {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.starts.len() - 1
    }

    fn column<'a>(&'a self, j: usize, _scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        let range = self.starts[j]..self.starts[j + 1];
        Ok(Column::Sparse { rows: &self.rows[range.clone()], values: &self.values.numbers()[range] })
    }
}

/// Columns of a data frame, one by one.
struct Frame {
    columns: Vec<Values>,
    n_samples: usize,
}

impl Columns for Frame {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.columns.len()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        Ok(Column::Dense(self.columns[j].every((0, self.n_samples, 1), scratch)))
    }
}

/// A table of features.
#[pyclass(frozen, module = "fewest._fewest")]
pub(crate) struct Table {
    pub(crate) x: Arc<dyn Columns>,
    pub(crate) names: Option<Vec<String>>,
    pub(crate) kinds: Option<Vec<FeatureKind>>,
    in_place: usize,
}

#[pymethods]
impl Table {
    /// A contiguous array of `n_samples` × `n_features` numbers, as its bytes.
    #[staticmethod]
    fn dense(
        bytes: PyBytes,
        single: bool,
        n_samples: usize,
        n_features: usize,
        by_column: bool,
    ) -> PyResult<Self> {
        let values = Values::new(bytes, single)?;
        if Some(values.len()) != n_samples.checked_mul(n_features) {
            return Err(wrong(format!(
                "{} values for {n_samples} samples of {n_features} features",
                values.len()
            )));
        }
        let in_place = if by_column && !single { n_features } else { 0 };
        let x = Arc::new(Dense { values, n_samples, n_features, by_column });
        Ok(Self { x, names: None, kinds: None, in_place })
    }

    /// The parts of a CSC matrix whose row numbers increase within every column; the values as their bytes.
    #[staticmethod]
    fn sparse(
        starts: PyReadonlyArray1<'_, i64>,
        rows: PyReadonlyArray1<'_, i64>,
        values: PyBytes,
        n_samples: usize,
    ) -> PyResult<Self> {
        let values = Values::new(values, false)?;
        let indices = |given: &PyReadonlyArray1<'_, i64>| -> PyResult<Vec<usize>> {
            let index = |&index: &i64| {
                usize::try_from(index).map_err(|_| wrong("an index of the sparse matrix is below 0"))
            };
            given.as_array().iter().map(index).collect()
        };
        let (starts, rows) = (indices(&starts)?, indices(&rows)?);
        let ends = starts.first() == Some(&0) && starts.last() == Some(&rows.len());
        if !ends || !starts.is_sorted() || values.len() != rows.len() {
            return Err(wrong("the parts of the sparse matrix do not belong together"));
        }
        let increasing = |range: &[usize]| {
            let column = &rows[range[0]..range[1]];
            column.is_sorted_by(|a, b| a < b) && column.last().is_none_or(|row| *row < n_samples)
        };
        if !starts.windows(2).all(increasing) {
            return Err(wrong(
                "row numbers of the sparse matrix must increase within a column: sum_duplicates()",
            ));
        }
        let in_place = starts.len() - 1;
        Ok(Self {
            x: Arc::new(Sparse { starts, rows, values, n_samples }),
            names: None,
            kinds: None,
            in_place,
        })
    }

    /// One float64 array for each column as its bytes, with its name, and the names of its codes if it has
    /// categories.
    #[staticmethod]
    fn columns(given: Vec<(String, PyBytes, Option<Vec<String>>)>, n_samples: usize) -> PyResult<Self> {
        let (mut columns, mut names, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
        for (name, bytes, levels) in given {
            let values = Values::new(bytes, false)?;
            if values.len() != n_samples {
                let found = values.len();
                return Err(wrong(format!(
                    "column `{name}` has {found} values, but there are {n_samples} samples"
                )));
            }
            columns.push(values);
            names.push(name);
            kinds.push(levels.map_or(FeatureKind::Numeric, |levels| FeatureKind::Categorical { levels }));
        }
        let in_place = columns.len();
        Ok(Self {
            x: Arc::new(Frame { columns, n_samples }),
            names: Some(names),
            kinds: Some(kinds),
            in_place,
        })
    }

    /// The same table, with names of its features.
    fn named(&self, names: Vec<String>) -> Self {
        Self { x: self.x.clone(), names: Some(names), kinds: self.kinds.clone(), in_place: self.in_place }
    }

    /// Samples and features.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.x.n_samples(), self.x.n_features())
    }

    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.names.clone()
    }

    /// The names of the codes of every column with categories; nothing where all are numbers.
    #[getter]
    fn levels(&self) -> Option<Vec<(usize, Vec<String>)>> {
        let coded = self.kinds.iter().flatten().enumerate().filter_map(|(j, kind)| match kind {
            FeatureKind::Categorical { levels } => Some((j, levels.clone())),
            _ => None,
        });
        let coded: Vec<_> = coded.collect();
        (!coded.is_empty()).then_some(coded)
    }

    /// How many columns need no buffer to be read: they lie as the library reads them.
    #[getter]
    fn in_place(&self) -> usize {
        self.in_place
    }

    /// The values of a column, for tests.
    fn column(&self, j: usize) -> PyResult<Vec<f64>> {
        if j >= self.x.n_features() {
            return Err(wrong(format!("there is no feature {j}")));
        }
        Ok(self.x.column(j, &mut Vec::new()).map_err(wrong)?.to_vec(self.x.n_samples()))
    }
}
