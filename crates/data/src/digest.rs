//! SHA-256 of data sets and of stored lines.

use std::fmt::{self, Debug, Write};
use std::io::{self, Read};

use fewest_core::{Column, Dataset, Error};
use sha2::{Digest, Sha256};

/// Bytes that are given to the hash at once.
const BATCH: usize = 1 << 16;

/// The hash of some bytes, in 64 hexadecimal digits.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    let mut hash = Hash::default();
    hash.bytes(bytes);
    hash.finish()
}

/// The hash of all that is left to read.
pub(crate) fn of_reader(reader: &mut dyn Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; BATCH];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hexadecimal(hash)),
            Ok(count) => hash.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256, in hexadecimal digits, of all that a method may depend on: the features' names, kinds and
/// values, groups, links, authors and views, the target and the weights of the samples. Names of samples do
/// not count; sparse columns count by their stored values.
///
/// # Errors
/// Those of reading a column.
///
/// ```
/// use fewest_core::{Dataset, DenseColumns, Target};
/// let table = |values| Dataset::new(DenseColumns::from_columns(&[values])?, Target::from_labels(&[true, false]));
/// let digest = fewest_data::digest(&table(vec![1.0, 2.0])?)?;
/// assert_eq!(digest, fewest_data::digest(&table(vec![1.0, 2.0])?)?);
/// assert_ne!(digest, fewest_data::digest(&table(vec![-1.0, -2.0])?)?);
/// # Ok::<(), fewest_core::Error>(())
/// ```
pub fn digest(data: &Dataset) -> Result<String, Error> {
    // Each part starts with its length or is closed, so that no two tables give the same bytes.
    let x = data.x();
    let mut hash = Hash::default();
    hash.words([x.n_samples() as u64, x.n_features() as u64]);
    let mut scratch = Vec::new();
    for j in 0..x.n_features() {
        let name = data.feature_name(j);
        hash.words([name.len() as u64]);
        hash.bytes(name.as_bytes());
        hash.debug(data.feature_kind(j));
        match x.column(j, &mut scratch)? {
            Column::Dense(values) => {
                hash.words([0]);
                hash.words(values.iter().map(|value| bits(*value)));
            }
            Column::Sparse { rows, values } => {
                hash.words([1, values.len() as u64]);
                hash.words(rows.iter().map(|row| *row as u64));
                hash.words(values.iter().map(|value| bits(*value)));
            }
        }
    }
    hash.debug(data.target());
    hash.debug(&data.sample_weights());
    hash.debug(&data.feature_groups());
    hash.debug(&data.feature_graph());
    hash.debug(&data.sample_graph());
    hash.debug(&data.views());
    // Only where there are any: what was stored without authors keeps its digest.
    if let Some(authors) = data.authors() {
        hash.debug(authors);
    }
    Ok(hash.finish())
}

/// All NaN are one: they mark a missing value, whatever their bits.
fn bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }
}

/// Collects bytes before it gives them to the hash, which is slow for a few at a time.
#[derive(Default)]
struct Hash {
    hash: Sha256,
    waiting: Vec<u8>,
}

impl Hash {
    fn bytes(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= BATCH {
            self.hash.update(&self.waiting);
            self.waiting.clear();
        }
    }

    fn words(&mut self, words: impl IntoIterator<Item = u64>) {
        words.into_iter().for_each(|word| self.bytes(&word.to_le_bytes()));
    }

    /// A value as it is written for programmers: every number in full, every text in quotes.
    fn debug(&mut self, value: &dyn Debug) {
        // Writing into a hash cannot fail.
        let _ = write!(self, "{value:?};");
    }

    fn finish(mut self) -> String {
        self.hash.update(&self.waiting);
        hexadecimal(self.hash)
    }
}

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{Authors, DenseColumns, FeatureKind, Graph, Target};

    use super::*;

    fn table(values: &[Vec<f64>]) -> Dataset {
        let labels: Vec<bool> = (0..values[0].len()).map(|i| i % 3 == 0).collect();
        Dataset::new(DenseColumns::from_columns(values).unwrap(), Target::from_labels(&labels)).unwrap()
    }

    fn authors(of_sample: [usize; 4], weight: f64) -> Authors {
        Authors::new(of_sample.to_vec(), Graph::directed(2, &[(0, 1, weight)]).unwrap()).unwrap()
    }

    fn hashed(data: &Dataset) -> String {
        digest(data).unwrap()
    }

    #[test]
    fn it_is_sha_256() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(of_bytes(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn every_change_of_the_data_changes_it() {
        let columns = vec![vec![1.0, -2.0, 3.0, 0.0], vec![0.0, 1.0, 1.0, 0.0]];
        let data = table(&columns);
        let mut all = vec![hashed(&data)];
        let mut changed = |columns: &[Vec<f64>]| all.push(hashed(&table(columns)));
        // Two cells negated, all made positive, two exchanged, columns exchanged, one bit.
        changed(&[vec![-1.0, 2.0, 3.0, 0.0], columns[1].clone()]);
        changed(&[vec![1.0, 2.0, 3.0, 0.0], columns[1].clone()]);
        changed(&[columns[0].clone(), vec![1.0, 0.0, 1.0, 0.0]]);
        changed(&[columns[1].clone(), columns[0].clone()]);
        changed(&[vec![1.0_f64.next_up(), -2.0, 3.0, 0.0], columns[1].clone()]);
        changed(&[vec![1.0, -2.0, 3.0, f64::NAN], columns[1].clone()]);
        changed(&columns[..1]);
        let levels = vec!["no".to_owned(), "yes".to_owned()];
        let kinds = |levels: Vec<String>| vec![FeatureKind::Numeric, FeatureKind::Categorical { levels }];
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        for other in [
            data.clone().with_feature_kinds(kinds(levels.clone())),
            data.clone().with_feature_kinds(kinds(vec!["no".to_owned(), "sure".to_owned()])),
            data.clone().with_feature_names(names(["a", "b"])),
            data.clone().with_feature_names(names(["a", "c"])),
            data.clone().with_target(Target::from_labels(&[false, true, true, false])),
            data.clone().with_target(Target::real(vec![1.0, 2.0, 3.0, 4.0]).unwrap()),
            data.clone().with_target(Target::real(vec![-1.0, -2.0, 3.0, 4.0]).unwrap()),
            data.clone().with_sample_weights(vec![1.0, 1.0, 2.0, 1.0]),
            data.clone().with_sample_graph(Graph::undirected(4, &[(0, 1, 1.0)]).unwrap()),
            data.clone().with_authors(authors([0, 0, 1, 1], 1.0)),
            data.clone().with_authors(authors([0, 1, 1, 1], 1.0)),
            data.clone().with_authors(authors([0, 0, 1, 1], 2.0)),
        ] {
            all.push(hashed(&other.unwrap()));
        }
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
        assert_eq!(hashed(&table(&columns)), hashed(&data), "the same data, the same hash");
    }
}
