//! NumPy files, for handing the same data to programs of any language.

use std::io::{BufWriter, Write};
use std::path::Path;

use fewest::core::Columns;

use crate::Result;

/// Writes `table` as an n × d array of float64, column by column, without holding it in memory.
pub(crate) fn write_table(path: &Path, table: &dyn Columns) -> Result<()> {
    let (n, d) = (table.n_samples(), table.n_features());
    let mut file = create(path, &format!("({n}, {d})"))?;
    let mut column = vec![0.0; n];
    for j in 0..d {
        table.copy_column(j, &mut column)?;
        write_values(&mut file, &column)?;
    }
    Ok(file.flush()?)
}

/// Writes `values` as a vector of float64.
pub(crate) fn write_vector(path: &Path, values: &[f64]) -> Result<()> {
    let mut file = create(path, &format!("({},)", values.len()))?;
    write_values(&mut file, values)?;
    Ok(file.flush()?)
}

fn create(path: &Path, shape: &str) -> Result<BufWriter<std::fs::File>> {
    let mut file =
        BufWriter::new(std::fs::File::create(path).map_err(|error| format!("{}: {error}", path.display()))?);
    file.write_all(&header(shape))?;
    Ok(file)
}

/// Format version 1.0: magic string, version, length of the description, the description padded so that the
/// data start at a multiple of 64.
fn header(shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': {shape}, }}");
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    [b"\x93NUMPY\x01\x00".as_slice(), &length.to_le_bytes(), text.as_bytes()].concat()
}

fn write_values(file: &mut impl Write, values: &[f64]) -> std::io::Result<()> {
    values.iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))
}

#[cfg(test)]
mod tests {
    use fewest::core::{DenseColumns, Target};
    use fewest::data::{Missing, ReadOptions, Table, Task};

    use super::*;

    #[test]
    fn our_reader_reads_it_back() {
        let folder = std::env::temp_dir().join(format!("experiments-npy-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (x, y) = (folder.join("x.npy"), folder.join("y.npy"));
        let columns = DenseColumns::from_columns(&[vec![1.5, -2.0, 3.0], vec![4.0, 5.0, 6.25]]).unwrap();
        write_table(&x, &columns).unwrap();
        write_vector(&y, &[0.5, 1.5, -1.0]).unwrap();
        assert_eq!(header("(3, 2)").len() % 64, 0);
        let options = ReadOptions { task: Task::Regression, ..ReadOptions::with_target(y.to_str().unwrap()) };
        let data = Table::read(&x, &options).unwrap().complete(Missing::Error).unwrap().dataset;
        assert_eq!(data.x().column(1, &mut Vec::new()).unwrap().to_vec(3), [4.0, 5.0, 6.25]);
        let Target::Real(outputs) = data.target() else { panic!("{}", data.target().describe()) };
        assert_eq!(outputs.output(0), [0.5, 1.5, -1.0]);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
