use tempfile::TempDir;

use super::*;

/// What is written is read back as it was: numbers, gaps, categories, classes, ids.
#[test]
fn a_written_table_reads_back_as_it_was() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("out.parquet");
    for target in ["outcome", "pressure", "ward"] {
        for name in ["mixed.csv", "row_names.parquet"] {
            let table = read(name, &with_target(target)).unwrap();
            let names = table.target_names();
            let complete = table.with_gaps(Missing::Mean).unwrap();
            let features: Vec<usize> = (0..complete.dataset.n_features()).rev().collect();
            PARQUET.write(&path, &complete.dataset, &features, &names).unwrap();
            let back = Table::read(&path, &with_target(target)).unwrap();
            let again = back.with_gaps(Missing::Mean).unwrap().dataset;
            assert_eq!(again.target(), complete.dataset.target());
            assert_eq!(again.sample_ids(), complete.dataset.sample_ids());
            for (at, &j) in features.iter().enumerate() {
                assert_eq!(again.feature_name(at), complete.dataset.feature_name(j));
                assert_eq!(again.feature_kind(at), complete.dataset.feature_kind(j));
                let values = |data: &fewest_core::Dataset, j: usize| -> Vec<Option<u64>> {
                    let values = data.x().column(j, &mut Vec::new()).unwrap().to_vec(data.n_samples());
                    values.iter().map(|value| (!value.is_nan()).then_some(value.to_bits())).collect()
                };
                assert_eq!(values(&again, at), values(&complete.dataset, j));
            }
        }
    }
}

#[test]
fn an_extension_chooses_the_format_that_is_written() {
    let formats = options().formats;
    for (name, format) in [("a.parquet", "parquet"), ("a.PQ", "parquet"), ("a.csv", "csv"), ("a", "csv")] {
        assert_eq!(formats.to_write(Path::new(name)).unwrap().name(), format);
    }
    let message = formats.to_write(Path::new("a.arrow")).unwrap_err().to_string();
    assert!(message.contains(".arrow are not written"), "{message}");
}
