use fewest_core::{Dataset, SampleStream};
use fewest_data::Passes;
use tempfile::TempDir;

use super::*;

const ROWS: usize = 40_000;
const FEATURES: usize = 60;

/// Numbers that are all different, so that their dictionaries are long, and a text.
fn written(folder: &TempDir) -> PathBuf {
    let number = |i: usize, j: usize| ((i * 7919 + j * 104_729) % 1_000_003) as f64 / 7.0;
    let names = (0..FEATURES).map(|j| format!("f{j},")).collect::<String>();
    let row = |i: usize| {
        let cells: String = (0..FEATURES).map(|j| format!("{},", number(i, j))).collect();
        format!("{cells}{}\n", ["yes", "no", "perhaps"][i * i % 3])
    };
    let text = format!("{names}y\n{}", (0..ROWS).map(row).collect::<String>());
    let table = Table::read_bytes("t.csv", text.into_bytes().into(), &with_target("y")).unwrap();
    let data = table.complete(Missing::Error).unwrap().dataset;
    let features: Vec<usize> = (0..FEATURES).collect();
    let path = folder.path().join("t.parquet");
    PARQUET.write(&path, &data, &features, &["y".to_owned()]).unwrap();
    path
}

fn pieces(path: &Path, memory: u64) -> Vec<Dataset> {
    let mut rows =
        Passes::open(path, &with_target("y")).unwrap().unwrap().rows(Missing::Error, memory).unwrap();
    std::iter::from_fn(|| rows.next_batch().unwrap()).collect()
}

/// Small pieces, of whole batches, where the columns that stay open fit in the memory of a large one; large
/// ones otherwise. Both have the rows of the file.
#[test]
fn small_pieces_are_read_where_columns_may_stay_open() {
    let folder = TempDir::new().unwrap();
    let path = written(&folder);
    let whole = Table::read(&path, &with_target("y")).unwrap().complete(Missing::Error).unwrap().dataset;
    // Of those between, the first piece tells that the pages are too long.
    let cases = [(2 << 30, &[4096, 4096][..]), (240 << 20, &[4096, 35_904]), (110 << 20, &[4096, 12_288])];
    for (memory, sizes) in cases {
        let pieces = pieces(&path, memory);
        let found: Vec<usize> = pieces.iter().map(Dataset::n_samples).collect();
        assert_eq!(found[..2], *sizes);
        let mut first = 0;
        for piece in pieces {
            let rows: Vec<usize> = (first..first + piece.n_samples()).collect();
            first += rows.len();
            assert_eq!(piece.target(), &whole.target().subset(&rows));
            for j in 0..FEATURES {
                let values = |data: &Dataset| {
                    let mut scratch = Vec::new();
                    data.x().column(j, &mut scratch).unwrap().to_vec(data.n_samples())
                };
                assert_eq!(values(&piece), values(&whole)[rows[0]..first]);
            }
        }
        assert_eq!(first, ROWS);
    }
}

/// Who reads a table again reads the files that were opened, or is told.
#[test]
fn files_that_have_changed_are_not_read_again() {
    let folder = TempDir::new().unwrap();
    let parts = ["a.parquet", "b.parquet"].map(|part| folder.path().join(part));
    for part in &parts {
        std::fs::copy(file("mixed_zstd.parquet"), part).unwrap();
    }
    let open = || Passes::open(folder.path(), &with_target("dose")).unwrap().unwrap();
    let n_rows = |passes: Passes| {
        let mut rows = passes.rows(Missing::DropRows, 100 << 20)?;
        let mut n_rows = 0;
        while let Some(batch) = rows.next_batch()? {
            n_rows += batch.n_samples();
        }
        Ok::<usize, Error>(n_rows)
    };
    let passes = open();
    let (before, again) = (passes.again().unwrap(), passes.again().unwrap());
    let expected = n_rows(open()).unwrap();
    assert_eq!(n_rows(again).unwrap(), expected);
    std::fs::copy(file("mixed_none.parquet"), &parts[1]).unwrap();
    for error in [passes.again().unwrap().check().unwrap_err(), n_rows(before).unwrap_err()] {
        assert!(error.to_string().contains("the file has changed while it was read"), "{error}");
    }
    assert_eq!(n_rows(open()).unwrap(), expected);
}
