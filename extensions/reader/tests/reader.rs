//! A file of the format, read with the formats of a registry.

use example_reader::ARFF;
use fewest::data::{ReadOptions, Table, TargetChoice};
use fewest::registry::Registry;

const FILE: &[u8] =
    b"% weather\n@RELATION weather\n@attribute warmth numeric\n@attribute sky {clear, grey}\n\
    @attribute play {yes, no}\n@data\n20.5, clear, yes\n?, grey, no\n12, grey, no\n";

#[test]
fn it_is_known_by_its_first_line_and_read() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::standard().clone().with_format(ARFF)?;
    let options = ReadOptions {
        formats: registry.formats().clone(),
        target: TargetChoice::Columns(vec!["play".to_owned()]),
        ..ReadOptions::default()
    };
    let table = Table::read_bytes("weather.txt", FILE.into(), &options)?;
    assert_eq!((table.format().name(), table.n_features()), ("arff", 2));
    assert_eq!(table.target_names(), ["play"]);
    let warmth = table.features().column(0, &mut Vec::new())?.to_vec(3);
    assert!(warmth[0] == 20.5 && warmth[1].is_nan() && warmth[2] == 12.0, "{warmth:?}");

    let broken = Table::read_bytes(
        "weather.arff",
        b"@relation w\n@attribute a numeric\n@data\n1,2\n".as_slice().into(),
        &options,
    );
    assert!(broken.is_err_and(|error| error.to_string().contains("line 4")));
    Ok(())
}
