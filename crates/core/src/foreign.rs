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
    use ndarray::{ArrayBase, Axis, Data, Ix2, RawData};

    use crate::{Column, Columns, Error};

    /// A two-dimensional array of ndarray, whose rows are samples, of `f64` or `f32`; make others so by
    /// `mapv`. Columns that lie in one piece, as those of an array in Fortran order do, are not copied. The
    /// columns of an array in C order, which is ndarray's default, are spread over all of it, and are
    /// gathered at each read: `x.t().as_standard_layout().into_owned().reversed_axes()` is the same array in
    /// Fortran order.
    ///
    /// ```
    /// use fewest_core::{Column, Columns, Dataset, NdarrayColumns, Target};
    /// use ndarray::{array, s};
    ///
    /// // The last column is the target.
    /// let table = array![[1.0, 5.0, 0.5], [2.0, 7.0, 1.5], [4.0, 6.0, 3.5]];
    /// let target = Target::real(table.column(2).to_vec())?;
    /// let x = NdarrayColumns(table.slice_move(s![.., ..2]));
    /// assert_eq!(x.column(1, &mut Vec::new())?, Column::Dense(&[5.0, 7.0, 6.0]));
    /// let names = ["dose", "age"].map(str::to_owned).to_vec();
    /// let data = Dataset::new(x, target)?.with_feature_names(names)?;
    /// assert_eq!((data.n_samples(), data.n_features()), (3, 2));
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug)]
    pub struct NdarrayColumns<S: Data<Elem = A>, A = <S as RawData>::Elem>(pub ArrayBase<S, Ix2, A>);

    impl<S: Data<Elem = f64> + Send + Sync> Columns for NdarrayColumns<S, f64> {
        fn n_samples(&self) -> usize {
            self.0.nrows()
        }

        fn n_features(&self) -> usize {
            self.0.ncols()
        }

        fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
            let column = self.0.index_axis(Axis(1), j);
            if let Some(values) = column.to_slice() {
                return Ok(Column::Dense(values));
            }
            scratch.clear();
            scratch.extend(column);
            Ok(Column::Dense(scratch))
        }
    }

    impl<S: Data<Elem = f32> + Send + Sync> Columns for NdarrayColumns<S, f32> {
        fn n_samples(&self) -> usize {
            self.0.nrows()
        }

        fn n_features(&self) -> usize {
            self.0.ncols()
        }

        fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
            scratch.clear();
            scratch.extend(self.0.index_axis(Axis(1), j).iter().map(|&value| f64::from(value)));
            Ok(Column::Dense(scratch))
        }
    }

    #[cfg(test)]
    mod tests {
        use ndarray::{Array2, ShapeBuilder, array, s};

        use super::*;
        use crate::{Dataset, Target};

        fn columns(x: &dyn Columns) -> Vec<Vec<f64>> {
            let n = x.n_samples();
            (0..x.n_features()).map(|j| x.column(j, &mut Vec::new()).unwrap().to_vec(n)).collect()
        }

        #[test]
        fn every_order_and_stride_has_the_same_columns() {
            let expected = [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]];
            let by_row = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
            assert_eq!(columns(&NdarrayColumns(by_row.view())), expected);
            assert_eq!(columns(&NdarrayColumns(by_row.to_shared())), expected);
            assert_eq!(columns(&NdarrayColumns(by_row.mapv(|value| value as f32))), expected);
            let by_column = Array2::from_shape_vec((2, 3).f(), vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]).unwrap();
            assert_eq!(columns(&NdarrayColumns(by_column)), expected);
            let turned = NdarrayColumns(by_row.t().as_standard_layout().into_owned().reversed_axes());
            assert_eq!(columns(&turned), expected);
            // In place.
            let mut scratch = Vec::new();
            let Ok(Column::Dense(found)) = turned.column(1, &mut scratch) else { panic!() };
            assert!(std::ptr::eq(found.as_ptr(), &turned.0[(0, 1)]));
            // Every other row, the last first.
            let mut part = array![[4.0, 5.0, 6.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]];
            part.slice_collapse(s![..;-2, ..]);
            assert_eq!(columns(&NdarrayColumns(part)), expected);
        }

        #[test]
        fn arrays_without_rows_are_refused_by_a_data_set() {
            let empty = NdarrayColumns(Array2::<f64>::zeros((0, 2)));
            assert_eq!(columns(&empty), [[0.0; 0]; 2]);
            assert!(matches!(Dataset::new(empty, Target::None), Err(Error::TooFew { .. })));
        }
    }
}

#[cfg(feature = "polars")]
mod polars {
    use polars_core::prelude::{DataFrame, DataType, Series};

    use crate::{Column, Columns, Error};

    /// Columns of a frame of polars that hold numbers: those of type `f64` in one chunk as they lie in
    /// memory (`frame.rechunk_mut()` makes one of several), others copied at each read. Whole numbers above
    /// 2⁵³ are rounded; NaN is no missing value here, and methods refuse it. Text, categories and missing
    /// values are for a `Table` of `fewest-data`, which reads the bytes of an Arrow file (`fewest-arrow`).
    ///
    /// ```
    /// use fewest_core::{Columns, Dataset, PolarsColumns, Target};
    /// use polars_core::df;
    ///
    /// let frame = df!("dose" => [0.5, 1.5, 1.0], "age" => [61, 47, 55], "ill" => ["no", "yes", "no"])?;
    /// let labels: Option<Vec<&str>> = frame.column("ill")?.str()?.iter().collect();
    /// let target = Target::from_labels(&labels.ok_or("an outcome is missing")?);
    /// let x = PolarsColumns::new(&frame, ["age", "dose"])?;
    /// let names = x.names().map(str::to_owned).collect();
    /// let data = Dataset::new(x, target)?.with_feature_names(names)?;
    /// assert_eq!(data.x().column(0, &mut Vec::new())?.to_vec(3), [61.0, 47.0, 55.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A target of numbers is a column as well: it is checked as features are.
    ///
    /// ```
    /// # use fewest_core::{Columns, PolarsColumns, Target};
    /// # let frame = polars_core::df!("weight" => [61, 47, 55])?;
    /// let weight = PolarsColumns::new(&frame, ["weight"])?;
    /// let target = Target::real(weight.column(0, &mut Vec::new())?.to_vec(frame.height()))?;
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
        pub fn new<N: AsRef<str>>(
            frame: &DataFrame,
            names: impl IntoIterator<Item = N>,
        ) -> Result<Self, Error> {
            let column = |name: N| {
                let name = name.as_ref();
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
            let columns = names.into_iter().map(column).collect::<Result<_, Error>>()?;
            Ok(Self { n_samples: frame.height(), columns })
        }

        /// The names of the columns.
        pub fn names(&self) -> impl Iterator<Item = &str> {
            self.columns.iter().map(|series| series.name().as_str())
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
            scratch.reserve(self.n_samples);
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
        use crate::{Dataset, Target};

        fn values(x: &PolarsColumns, j: usize) -> Vec<f64> {
            x.column(j, &mut Vec::new()).unwrap().to_vec(x.n_samples())
        }

        #[test]
        fn numbers_of_all_types_and_chunks_are_read() {
            let mut frame = df!(
                "f64" => [1.0, 2.5], "f32" => [0.1_f32, 2.0], "i64" => [i64::MAX, -1], "u32" => [u32::MAX, 0]
            )
            .unwrap();
            let x = PolarsColumns::new(&frame, ["u32", "f64", "i64", "f32"]).unwrap();
            assert_eq!((x.n_samples(), x.n_features()), (2, 4));
            assert!(x.names().eq(["u32", "f64", "i64", "f32"]));
            assert_eq!(values(&x, 0), [f64::from(u32::MAX), 0.0]);
            assert_eq!(values(&x, 2), [i64::MAX as f64, -1.0]);
            assert_eq!(values(&x, 3), [f64::from(0.1_f32), 2.0]);
            // In place.
            let place = frame.column("f64").unwrap().f64().unwrap().cont_slice().unwrap().as_ptr();
            let mut scratch = Vec::new();
            let Ok(Column::Dense(found)) = x.column(1, &mut scratch) else { panic!() };
            assert!(std::ptr::eq(found.as_ptr(), place));
            frame.vstack_mut(&frame.clone()).unwrap();
            let x = PolarsColumns::new(&frame, ["f64"]).unwrap();
            assert_eq!(values(&x, 0), [1.0, 2.5, 1.0, 2.5]);
            let x = PolarsColumns::new(&frame.slice(1, 2), frame.get_column_names()).unwrap();
            assert_eq!((values(&x, 0), values(&x, 3)), (vec![2.5, 1.0], vec![0.0, f64::from(u32::MAX)]));
            let empty = PolarsColumns::new(&frame.slice(0, 0), ["f64"]).unwrap();
            assert!(matches!(Dataset::new(empty, Target::None), Err(Error::TooFew { .. })));
        }

        #[test]
        fn the_rest_is_refused() {
            let frame = df!(
                "gap" => [None, Some(1.0)], "text" => ["a", "b"], "is" => [true, false],
                "void" => [None::<f64>, None]
            )
            .unwrap();
            for (name, words) in [
                ("gap", "missing values"),
                ("void", "missing values"),
                ("text", "numbers"),
                ("is", "numbers"),
                ("none", "of the frame"),
            ] {
                let message = PolarsColumns::new(&frame, [name]).unwrap_err().to_string();
                assert!(message.contains(words) && message.contains(name), "{message}");
            }
        }
    }
}

#[cfg(feature = "ndarray")]
pub use ndarray::NdarrayColumns;
#[cfg(feature = "polars")]
pub use polars::PolarsColumns;
