//! Tables of other crates, each behind the feature of its name.

#[cfg(feature = "nalgebra")]
mod nalgebra {
    use nalgebra::DMatrix;

    use crate::{Column, Columns, Error};

    impl Columns for DMatrix<f64> {
        fn n_samples(&self) -> usize {
            self.nrows()
        }

        fn n_features(&self) -> usize {
            self.ncols()
        }

        fn column<'a>(&'a self, j: usize, _scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
            let n = self.nrows();
            Ok(Column::Dense(&self.as_slice()[j * n..(j + 1) * n]))
        }
    }

    impl Columns for DMatrix<f32> {
        fn n_samples(&self) -> usize {
            self.nrows()
        }

        fn n_features(&self) -> usize {
            self.ncols()
        }

        fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
            let n = self.nrows();
            scratch.clear();
            scratch.extend(self.as_slice()[j * n..(j + 1) * n].iter().map(|&value| f64::from(value)));
            Ok(Column::Dense(scratch))
        }
    }
}

#[cfg(feature = "nalgebra-sparse")]
mod nalgebra_sparse {
    use nalgebra_sparse::CscMatrix;

    use crate::{Column, Columns, Error};

    impl Columns for CscMatrix<f64> {
        fn n_samples(&self) -> usize {
            self.nrows()
        }

        fn n_features(&self) -> usize {
            self.ncols()
        }

        fn column<'a>(&'a self, j: usize, _scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
            let (offsets, rows, values) = self.csc_data();
            let range = offsets[j]..offsets[j + 1];
            Ok(Column::Sparse { rows: &rows[range.clone()], values: &values[range] })
        }
    }
}

#[cfg(feature = "ndarray")]
mod ndarray {
    use ndarray::{Array2, Axis};

    use crate::{Column, Columns, Error};

    /// Samples are rows. A column that lies in one piece, as those of an array in Fortran order do, is not
    /// copied.
    ///
    /// ```
    /// use fewest_core::{Column, Columns, Dataset, Target};
    /// use ndarray::array;
    ///
    /// let x = array![[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]];
    /// assert_eq!(x.column(1, &mut Vec::new())?, Column::Dense(&[5.0, 7.0, 6.0]));
    /// let y = array![0.5, 1.5, 3.5];
    /// let data = Dataset::new(x, Target::real(y.to_vec())?)?;
    /// assert_eq!((data.n_samples(), data.n_features()), (3, 2));
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    impl Columns for Array2<f64> {
        fn n_samples(&self) -> usize {
            self.nrows()
        }

        fn n_features(&self) -> usize {
            self.ncols()
        }

        fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
            let column = self.index_axis(Axis(1), j);
            if let Some(values) = column.to_slice() {
                return Ok(Column::Dense(values));
            }
            scratch.clear();
            scratch.extend(column);
            Ok(Column::Dense(scratch))
        }
    }

    impl Columns for Array2<f32> {
        fn n_samples(&self) -> usize {
            self.nrows()
        }

        fn n_features(&self) -> usize {
            self.ncols()
        }

        fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
            scratch.clear();
            scratch.extend(self.index_axis(Axis(1), j).iter().map(|&value| f64::from(value)));
            Ok(Column::Dense(scratch))
        }
    }

    #[cfg(test)]
    mod tests {
        use ndarray::{Array2, ShapeBuilder, array, s};

        use super::*;

        fn columns(x: &dyn Columns) -> Vec<Vec<f64>> {
            let n = x.n_samples();
            (0..x.n_features()).map(|j| x.column(j, &mut Vec::new()).unwrap().to_vec(n)).collect()
        }

        #[test]
        fn every_order_and_stride_has_the_same_columns() {
            let expected = [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]];
            let by_row = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
            assert_eq!(columns(&by_row), expected);
            let by_column = Array2::from_shape_vec((2, 3).f(), vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]).unwrap();
            assert_eq!(columns(&by_column), expected);
            // In place.
            let mut scratch = Vec::new();
            let Ok(Column::Dense(found)) = by_column.column(1, &mut scratch) else { panic!() };
            assert!(std::ptr::eq(found.as_ptr(), &by_column[(0, 1)]));
            // Every other row, the last first.
            let mut part = array![[4.0, 5.0, 6.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]];
            part.slice_collapse(s![..;-2, ..]);
            assert_eq!(columns(&part), expected);
            assert_eq!(columns(&by_row.mapv(|value| value as f32)), expected);
            let empty = Array2::<f64>::zeros((0, 2));
            assert_eq!(columns(&empty), [[0.0; 0]; 2]);
        }
    }
}

#[cfg(feature = "polars")]
mod polars {
    use polars_core::prelude::{DataFrame, DataType, Series};

    use crate::{Column, Columns, Error};

    /// Columns of a frame of polars that hold numbers: those of type `f64` in one chunk as they lie in
    /// memory, others copied when they are read. Text, categories and missing values are for a `Table` of
    /// `fewest-data`, which reads the bytes of an Arrow file.
    ///
    /// ```
    /// use fewest_core::{Dataset, PolarsColumns, Target};
    /// use polars_core::df;
    ///
    /// let frame = df!("dose" => [0.5, 1.5, 1.0], "age" => [61, 47, 55], "ill" => [2.5, 1.0, 2.0])?;
    /// let y = frame.column("ill")?.f64()?.into_no_null_iter().collect();
    /// let names = ["age", "dose"];
    /// let data = Dataset::new(PolarsColumns::new(&frame, &names)?, Target::real(y)?)?
    ///     .with_feature_names(names.map(str::to_owned).to_vec())?;
    /// assert_eq!(data.x().column(0, &mut Vec::new())?.to_vec(3), [61.0, 47.0, 55.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct PolarsColumns {
        n_samples: usize,
        columns: Vec<Series>,
    }

    impl PolarsColumns {
        /// The columns of these names, in this order.
        ///
        /// # Errors
        /// [`Error::InvalidParameter`] where the frame lacks a column, or it has missing values or holds no
        /// numbers.
        pub fn new(frame: &DataFrame, names: &[&str]) -> Result<Self, Error> {
            let column = |name: &&str| {
                let wrong = |expected: &str| Error::parameter("column", format!("`{name}`"), expected);
                let column = frame.column(name).map_err(|_| wrong("a column of the frame"))?;
                if !column.dtype().is_primitive_numeric() {
                    return Err(wrong("a column of whole numbers or floats: read others with a Table"));
                }
                if column.null_count() > 0 {
                    return Err(wrong("without missing values: fill them in, or read it with a Table"));
                }
                Ok(column.as_materialized_series().clone())
            };
            let columns = names.iter().map(column).collect::<Result<_, Error>>()?;
            Ok(Self { n_samples: frame.height(), columns })
        }
    }

    impl Columns for PolarsColumns {
        fn n_samples(&self) -> usize {
            self.n_samples
        }

        fn n_features(&self) -> usize {
            self.columns.len()
        }

        fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
            let series = &self.columns[j];
            if let Ok(values) = series.f64().and_then(|column| column.cont_slice()) {
                return Ok(Column::Dense(values));
            }
            let unreadable = |error: polars_core::error::PolarsError| Error::unreadable(j, error.to_string());
            let series = series.cast(&DataType::Float64).map_err(unreadable)?;
            scratch.clear();
            for chunk in series.f64().map_err(unreadable)?.downcast_iter() {
                scratch.extend_from_slice(chunk.values());
            }
            Ok(Column::Dense(scratch))
        }
    }

    #[cfg(test)]
    mod tests {
        use polars_core::df;

        use super::*;

        fn values(x: &PolarsColumns, j: usize) -> Vec<f64> {
            x.column(j, &mut Vec::new()).unwrap().to_vec(x.n_samples())
        }

        #[test]
        fn numbers_of_all_types_and_chunks_are_read() {
            let mut frame = df!(
                "f64" => [1.0, 2.5], "f32" => [0.1_f32, 2.0], "i64" => [i64::MAX, -1], "u32" => [u32::MAX, 0]
            )
            .unwrap();
            let x = PolarsColumns::new(&frame, &["u32", "f64", "i64", "f32"]).unwrap();
            assert_eq!((x.n_samples(), x.n_features()), (2, 4));
            assert_eq!(values(&x, 0), [f64::from(u32::MAX), 0.0]);
            assert_eq!(values(&x, 2), [i64::MAX as f64, -1.0]);
            assert_eq!(values(&x, 3), [f64::from(0.1_f32), 2.0]);
            // In place.
            let place = frame.column("f64").unwrap().f64().unwrap().cont_slice().unwrap().as_ptr();
            let mut scratch = Vec::new();
            let Ok(Column::Dense(found)) = x.column(1, &mut scratch) else { panic!() };
            assert!(std::ptr::eq(found.as_ptr(), place));
            frame.vstack_mut(&frame.clone()).unwrap();
            let x = PolarsColumns::new(&frame, &["f64"]).unwrap();
            assert_eq!(values(&x, 0), [1.0, 2.5, 1.0, 2.5]);
        }

        #[test]
        fn the_rest_is_refused() {
            let frame = df!("gap" => [None, Some(1.0)], "text" => ["a", "b"], "is" => [true, false]).unwrap();
            for (name, words) in
                [("gap", "missing values"), ("text", "numbers"), ("is", "numbers"), ("none", "of the frame")]
            {
                let message = PolarsColumns::new(&frame, &[name]).unwrap_err().to_string();
                assert!(message.contains(words) && message.contains(name), "{message}");
            }
        }
    }
}

#[cfg(feature = "polars")]
pub use polars::PolarsColumns;
