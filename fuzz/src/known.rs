//! Tables beside a table: links, groups, views, authors.

use std::fs;

use fewest::data::{
    Error, GroupTable, LinkOptions, Nodes, ReadOptions, Table, read_authors, read_groups, read_links,
    read_views,
};

use crate::targets::one_line;

/// What is linked and grouped: names, one of them a number, and one quoted.
const NAMES: [&str; 6] = ["a", "b", "c", "0", "d e", "f,g"];

/// Every table beside a table that the bytes may be: read, with links between nodes that are there and
/// weights above 0, and an author for each sample; or one line.
pub(crate) fn tables(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("table.csv");
    fs::write(&path, bytes).expect("a file");
    let features = Nodes::features(&NAMES.map(str::to_owned));
    for directed in [LinkOptions::directed(), LinkOptions::default()] {
        if let Some(links) = read(read_links(&path, &features, &directed)) {
            let graph = &links.graph;
            assert_eq!(graph.n_nodes(), NAMES.len());
            for (from, to, weight) in graph.links() {
                assert!(from < NAMES.len() && to < NAMES.len() && from != to);
                assert!(weight > 0.0 && weight.is_finite());
            }
        }
    }
    read(read_groups(&path, &features));
    read(read_views(&path, &features));
    read(GroupTable::read(&path));
    let samples = b"id,x\na,1\nb,2\nc,3\n".as_slice();
    let options = ReadOptions { id: Some("id".to_owned()), ..ReadOptions::default() };
    let samples = Table::read_bytes("samples", samples.into(), &options).expect("it is a table");
    let samples = Nodes::samples(&samples).expect("their names differ");
    for follows in [None, Some(path.as_path())] {
        if let Some(authors) = read(read_authors(&path, &samples, follows)) {
            assert_eq!(authors.of_sample().len(), 3);
            assert!(authors.of_sample().iter().all(|author| *author < authors.n_authors()));
        }
    }
}

fn read<T>(found: Result<T, Error>) -> Option<T> {
    found.map_err(|error| one_line(&error.to_string())).ok()
}
