//! Links, groups and views from files: what they mean, and what is wrong by line.

use std::collections::HashSet;

use crate::support::{Folder, assert_says, format, gzip};
use fewest_core::{Error as CoreError, Graph, Groups, Views};
use fewest_data::{
    Cells, Error, Format, Formats, LinkOptions, Links, Missing, Nodes, ReadOptions, Sniff, Source, Table,
    parse_views, read_groups, read_links, read_views,
};
use proptest::prelude::*;

/// Four samples called `ada`, `b b`, `7` and `0`.
fn samples() -> Table {
    let text = ",x\nada,1\nb b,2\n7,3\n0,4\n";
    Table::read_bytes("samples.csv", text.as_bytes().into(), &ReadOptions::default()).unwrap()
}

fn features() -> Nodes {
    Nodes::features(&["red", "green", "blue", "a:b"].map(str::to_owned))
}

fn links(content: impl AsRef<[u8]>, options: &LinkOptions) -> Result<Links, Error> {
    read_links(Folder::new().write("links.csv", content), &Nodes::samples(&samples())?, options)
}

fn groups(content: impl AsRef<[u8]>) -> Result<Groups, Error> {
    read_groups(Folder::new().write("groups.csv", content), &features())
}

fn views(content: impl AsRef<[u8]>) -> Result<Views, Error> {
    read_views(Folder::new().write("views.csv", content), &features())
}

/// The message of the error: one line.
fn said<T>(result: Result<T, Error>) -> String {
    let Err(error) = result else { panic!("the file was read, although it should not") };
    let message = error.to_string();
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

#[test]
fn ends_are_ids_and_weights_are_one_or_given() {
    let plain = LinkOptions::default();
    let expected = Graph::undirected(4, &[(0, 3, 1.0), (1, 2, 1.0)]).unwrap();
    for content in [
        "ada,0\n7,b b\n",
        "from,to\r\nada,0\r\n\r\n 7 , b b",
        "Source;Target\n0;ada\nb b;7\n",
        "\u{feff}ada\t0\n7\tb b\n",
    ] {
        assert_eq!(links(content, &plain).unwrap().graph, expected, "{content}");
    }
    assert_eq!(links(gzip("ada,0\n7,b b\n"), &plain).unwrap().graph, expected);
    let found = links("from,to,weight\nada,0,.5\n0,ada,2\n", &LinkOptions::directed()).unwrap();
    assert_eq!(found.graph, Graph::directed(4, &[(0, 3, 0.5), (3, 0, 2.0)]).unwrap());
}

#[test]
fn without_ids_rows_have_numbers() {
    let table =
        Table::read_bytes("t.csv", b"x\n1\n2\n3\n".as_slice().into(), &ReadOptions::default()).unwrap();
    let nodes = Nodes::samples(&table).unwrap();
    let file = Folder::new();
    let found = read_links(file.write("l.csv", "0,2\n"), &nodes, &LinkOptions::default()).unwrap();
    assert_eq!(found.graph, Graph::undirected(3, &[(0, 2, 1.0)]).unwrap());
    let message = said(read_links(file.write("l.csv", "0,3\n"), &nodes, &LinkOptions::default()));
    assert_says(&message, &["line 1", "no sample `3`", "0 to 2"]);
}

#[test]
fn links_to_itself_and_again_are_counted() {
    let found = links("ada,ada\nada,0\n0,ada\nada,0\n7,7\n", &LinkOptions::default()).unwrap();
    assert_eq!((found.graph.n_links(), found.self_links, found.repeated), (1, 2, 2));
    let found = links("ada,0\n0,ada\nada,0\n", &LinkOptions::directed()).unwrap();
    assert_eq!((found.graph.n_links(), found.self_links, found.repeated), (2, 0, 1));
    let none = links("from,to\n", &LinkOptions::default()).unwrap();
    assert_eq!((none.graph.n_nodes(), none.graph.n_links()), (4, 0));
}

#[test]
fn errors_in_links_name_the_line() {
    let plain = LinkOptions::default();
    for (content, fragments) in [
        ("ada,0\nada,nobody\n", ["line 2", "no sample `nobody`", "use its id"]),
        // Where there are ids, row numbers are none.
        ("ada,1\n", ["line 1", "no sample `1`", "use its id"]),
        ("ada,0,x\n", ["line 1", "weight is `x`", "above 0"]),
        ("ada,0,\n", ["line 1", "weight is ``", "above 0"]),
        ("ada,0,1\n\n7,0,0\n", ["line 3", "weight is `0`", "above 0"]),
        ("ada,0,-1\n", ["line 1", "weight is `-1`", "above 0"]),
        ("ada,0,inf\n", ["line 1", "weight is `inf`", "above 0"]),
        ("ada,0,NaN\n", ["line 1", "weight is `NaN`", "above 0"]),
        ("ada,0,1\n7,0\n", ["line 2", "2 cells", "weight, or none"]),
        ("ada,0,1,2\n", ["line 1", "4 cells", "two ends"]),
        ("ada\n", ["line 1", "1 cells", "two ends"]),
        ("ada,0,1\n7,0,3\n0,ada,2\n", ["line 3", "link of line 1 again", "2 instead of 1"]),
        ("ada,\"0\n", ["line 1", "double quote", "close it"]),
        ("", ["links.csv", "empty", "check"]),
    ] {
        assert_says(&said(links(content, &plain)), &fragments);
    }
    assert_says(&said(links(b"ada,\xFF\n", &plain)), &["line 1", "UTF-8"]);
    assert_says(&said(links(b"ada,0\0\n", &plain)), &["zero byte"]);
    let twice = Table::read_bytes("t.csv", b",x\na,1\nb,2\na,3\n".as_slice().into(), &ReadOptions::default())
        .unwrap();
    assert_says(&said(Nodes::samples(&twice)), &["t.csv", "`a`", "different id"]);
}

#[test]
fn samples_that_are_dropped_take_their_links_along() {
    let text = ",x\na,1\nb,\nc,3\nd,4\n";
    let table = Table::read_bytes("t.csv", text.as_bytes().into(), &ReadOptions::default()).unwrap();
    let graph = Graph::undirected(4, &[(0, 1, 1.0), (0, 3, 2.0), (2, 3, 3.0)]).unwrap();
    assert!(table.clone().with_sample_graph(Graph::undirected(3, &[]).unwrap()).is_err());
    let table = table.with_sample_graph(graph.clone()).unwrap();
    let kept = table.clone().complete(Missing::DropRows).unwrap().dataset;
    let expected = Graph::undirected(3, &[(0, 2, 2.0), (1, 2, 3.0)]).unwrap();
    assert_eq!(kept.sample_graph(), Some(&expected));
    assert_eq!(table.complete(Missing::Mean).unwrap().dataset.sample_graph(), Some(&graph));
}

#[test]
fn groups_are_a_partition_unless_they_overlap() {
    let Groups::Partition(found) = groups("Feature,Group\nblue,x\nred,x\n1,y\n").unwrap() else { panic!() };
    assert!(found[0] == found[2] && HashSet::from([found[0], found[1], found[3]]).len() == 3, "{found:?}");
    assert_eq!(
        groups("feature,group\nred,x\nblue,x\nred,y\n").unwrap(),
        Groups::overlapping(4, vec![vec![0, 2], vec![0], vec![1], vec![3]]).unwrap()
    );
    // Without lines every feature stands alone.
    assert_eq!(groups("feature,group\n").unwrap().sets().len(), 4);
}

#[test]
fn groups_within_groups_are_a_tree() {
    let found = groups("node,parent\nred,warm\nwarm,all\nblue,all\nall,\na:b,warm\n").unwrap();
    assert!(matches!(found, Groups::Tree(_)));
    assert_eq!(found.sets(), [vec![0, 3], vec![0, 2, 3]]);
}

/// No group has a line of its own: a search of the lines for each would compare 200 million names.
#[test]
fn many_groups_are_a_tree() {
    let n = 20_000;
    let names: Vec<String> = (0..n).map(|j| format!("f{j}")).collect();
    let text: String = (0..n).map(|j| format!("f{j},g{j}\n")).collect();
    let folder = Folder::new();
    let file = folder.write("groups.csv", format!("node,parent\n{text}"));
    let Groups::Tree(found) = read_groups(file, &Nodes::features(&names)).unwrap() else { panic!() };
    assert_eq!((found.n_groups(), found.group_of(n - 1), found.parent(n - 1)), (n, Some(n - 1), None));
}

#[test]
fn errors_in_groups_name_the_line() {
    for (content, fragments) in [
        ("red,x\nblue,x\n", ["line 1", "`feature` and `group`", "start the file"]),
        ("feature,group\nrde,x\n", ["line 2", "no feature `rde`", "0 to 3"]),
        ("feature,group\nred,x\n4,x\n", ["line 3", "no feature `4`", "0 to 3"]),
        ("feature,group\nred,x\nblue,y\n0,x\n", ["line 4", "already in group", "line 2"]),
        ("feature,group\nred,\n", ["line 2", "no name", "give it one"]),
        ("feature,group\nred,x,y\n", ["line 2", "3 cells", "two cells"]),
        ("node,parent\nred,a\na,b\nb,c\nc,a\n", ["line 3", "contains itself", "remove a group"]),
        ("node,parent\nred,b\na,a\nb,\n", ["line 3", "contains itself", "remove a group"]),
        ("node,parent\nred,a\nb,a\n", ["line 3", "no feature `b`", "use its name"]),
        ("node,parent\nred,a\n\nred,b\n", ["line 4", "line 2 gives", "one parent"]),
        ("node,parent\nred,a\nblue,red\n", ["line 2", "both a feature and a group", "rename"]),
    ] {
        assert_says(&said(groups(content)), &fragments);
    }
}

#[test]
fn views_are_lists_of_columns() {
    let features = features();
    let views = |texts: &[&str]| parse_views(texts, &features);
    for (texts, expected) in [
        (&["v=green:blue", "w=red,a:b"][..], vec![vec![1, 2], vec![0, 3]]),
        (&["v=1:3", "w=0"], vec![vec![1, 2, 3], vec![0]]),
        (&["v=blue:a:b", "w=red:green"], vec![vec![2, 3], vec![0, 1]]),
        (&["v=*e*", " w = a:b "], vec![vec![0, 1, 2], vec![3]]),
        (&["v=3, red ,2", "w=gr?en"], vec![vec![0, 2, 3], vec![1]]),
        (&["all=*"], vec![vec![0, 1, 2, 3]]),
    ] {
        assert_eq!(views(texts).unwrap().sets(), expected, "{texts:?}");
    }
    assert_eq!(views(&["v=green:blue", " w = 0,a:b"]).unwrap().names(), ["v", "w"]);
    for (texts, told) in [
        (&[""][..], "NAME=COLUMNS"),
        (&["v"], "NAME=COLUMNS"),
        (&["=red"], "no name"),
        (&["v="], "not named"),
        (&["v=red,,blue"], "not named"),
        (&["v=blue:red"], "comes after"),
        (&["v=red:pink"], "no feature `pink`"),
        (&["v=0:4"], "no feature `4`"),
        (&["v=:"], "no feature ``"),
        (&["v=x*"], "no feature `x*`"),
        (&["v=red:blue", "w=green,3"], "`green` is in the view `v` already (view 1 of the list)"),
        (&["v=red,red"], "`red` is in the view `v` already"),
        (&["v=red", "v=green:3"], "the name is that of an earlier one"),
        (&["v=red"], "feature `green` and 2 others in no view"),
        (&["v=red:blue"], "feature `a:b` in no view"),
    ] {
        let error = views(texts).unwrap_err();
        assert!(matches!(error, CoreError::InvalidParameter { name: "view", .. }), "{texts:?}");
        assert!(error.to_string().contains(told), "{texts:?}: {error}");
    }
}

#[test]
fn views_are_read_by_feature_or_by_range() {
    let expected =
        Views::new(4, vec![("left".to_owned(), vec![0, 1, 3]), ("right".to_owned(), vec![2])]).unwrap();
    assert_eq!(views("feature,view\na:b,left\nblue,right\n0,left\ngreen,left\n").unwrap(), expected);
    assert_eq!(views("View,First,Last\nleft,red,green\nright,2,blue\nleft,3,a:b\n").unwrap(), expected);
    for (content, fragments) in [
        ("", ["views.csv", "the file is empty", "check how it was made"]),
        ("left,red,green\n", ["line 1", "`view`", "start the file"]),
        ("view,first,last\nleft,red\n", ["line 2", "2 cells", "give a view"]),
        ("view,first,last\nleft,red,pink\n", ["line 2", "no feature `pink`", "0 to 3"]),
        ("view,first,last\nleft,blue,red\n", ["line 2", "comes after", "first column"]),
        ("view,first,last\na,red,green\nb,green,blue\n", ["line 3", "`green` is in the view `a`", "line 2"]),
        ("feature,view\nred,a,b\n", ["line 2", "3 cells", "a feature and its view"]),
        ("feature,view\nred,\n", ["line 2", "no name", "give it one"]),
        ("feature,view\nred,a\npink,a\n", ["line 3", "no feature `pink`", "0 to 3"]),
        ("feature,view\nred,a\ngreen,a\n0,b\n", ["line 4", "`red` is in the view `a`", "line 2"]),
        ("feature,view\nred,a\n", ["views.csv", "`green` and 2 others in no view", "ignore its column"]),
        ("feature,view\n", ["views.csv", "`red` and 3 others in no view", "ignore its column"]),
    ] {
        assert_says(&said(views(content)), &fragments);
    }
}

proptest! {
    /// What is written is read back, in any order of lines and with either end first.
    #[test]
    fn links_read_back(
        pairs in prop::collection::hash_map((0_usize..30, 0_usize..30), 0.01_f64..10.0, 0..80),
        directed in any::<bool>(),
    ) {
        let mut ends = HashSet::new();
        let kept: Vec<(usize, usize, f64)> = pairs
            .into_iter()
            .filter(|((a, b), _)| {
                a != b && ends.insert(if directed { (*a, *b) } else { (*a.min(b), *a.max(b)) })
            })
            .map(|((a, b), weight)| (a, b, weight))
            .collect();
        let names: Vec<String> = (0..30).map(|i| format!("node, {i}")).collect();
        let text: String = kept.iter().map(|(a, b, weight)| format!("\"{}\",\"{}\",{weight}\n", names[*a], names[*b])).collect();
        let options = if directed { LinkOptions::directed() } else { LinkOptions::default() };
        let file = Folder::new();
        let found = read_links(file.write("l.csv", format!("from,to,weight\n{text}")), &Nodes::features(&names), &options).unwrap();
        let expected = if directed { Graph::directed(30, &kept) } else { Graph::undirected(30, &kept) }.unwrap();
        prop_assert_eq!(found.graph, expected);
    }

    #[test]
    fn text_of_any_kind_is_read_or_refused(text in "(from,to|feature,group|node,parent|view,first,last|feature,view)?[\n]?[a-c0-9,;\"\n\r\t .:-]{0,120}") {
        let features = Nodes::features(&["a", "b", "c"].map(str::to_owned));
        let file = Folder::new();
        let path = file.write("any.csv", &text);
        if let Ok(found) = read_links(&path, &features, &LinkOptions::default()) {
            prop_assert_eq!(found.graph.n_nodes(), 3);
        }
        if let Ok(found) = read_groups(&path, &features) {
            prop_assert_eq!(found.n_features(), 3);
        }
        if let Ok(found) = read_views(&path, &features) {
            prop_assert_eq!(found.of_feature().len(), 3);
        }
        let _ = parse_views(&[text], &features);
    }
}

/// Samples as lines of `#` marks: their number is the one feature.
fn marks(source: Source, options: &ReadOptions) -> Result<Table, Error> {
    let path = source.path().to_owned();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut source.into_reader(), &mut text)
        .map_err(|error| Error::reading(&path, error))?;
    let numbers = text.lines().map(|line| line.len() as f64).collect();
    let ids = text.lines().map(|line| Some(format!("s{}", line.len()))).collect();
    let colours = text.lines().map(|line| (line.len() > 1).then(|| "many".to_owned())).collect();
    let columns = vec![
        (Some("n".to_owned()), Cells::Numbers(numbers)),
        (Some("id".to_owned()), Cells::Texts(ids)),
        (Some("colour".to_owned()), Cells::Texts(colours)),
    ];
    Table::from_columns(&path, MARKS, columns, options)
}

const MARKS: Format = Format::new(
    "marks",
    &["marks"],
    |start| {
        if start.starts_with(b"#") { Sniff::Likely } else { Sniff::No }
    },
    marks,
);

#[test]
fn a_format_from_elsewhere_is_read_like_any_other() {
    let formats = Formats::standard().with(MARKS);
    let options =
        ReadOptions { formats: formats.clone(), id: Some("id".to_owned()), ..ReadOptions::default() };
    let read = |name: &str, options: &ReadOptions| {
        Table::read_bytes(name, b"##\n#\n####\n".as_slice().into(), options)
    };
    for name in ["a.marks", "a"] {
        let table = read(name, &options).unwrap();
        assert_eq!((table.format(), table.n_samples(), table.n_features()), (MARKS, 3, 2));
        assert_eq!(table.features().column(0, &mut Vec::new()).unwrap().to_vec(3), [2.0, 1.0, 4.0]);
        let dataset = table.complete(Missing::DropRows).unwrap().dataset;
        assert_eq!(dataset.sample_ids(), Some(["s2".to_owned(), "s4".to_owned()].as_slice()));
    }
    // The name of a file counts for more than what it looks like.
    assert_eq!(read("a.csv", &ReadOptions { id: None, ..options.clone() }).unwrap().format(), format("csv"));
    assert_eq!(formats.named("marks").unwrap(), MARKS);
    assert_says(&formats.named("x").unwrap_err().to_string(), &["csv, mat, svmlight, npy, marks"]);
    assert_says(&said(formats.to_write("a.marks".as_ref())), &["a.marks", ".marks are not written", ".csv"]);
    // One of a name that is there takes its place.
    let other = Format::new("csv", &[], |_| Sniff::Possible, marks);
    let replaced = ReadOptions { formats: Formats::standard().with(other), ..options };
    let table = read("a", &replaced).unwrap();
    assert_eq!((table.format(), table.n_features()), (other, 2));
}

#[test]
fn the_format_added_last_is_read_and_written() {
    let of_csv =
        |name| Format::new(name, &["csv"], |_| Sniff::No, marks).written_by(&["csv", "marks"], |_, _| Ok(()));
    let formats = Formats::standard().with(of_csv("first")).with(of_csv("last"));
    for name in ["a.csv", "a.marks"] {
        assert_eq!(formats.to_write(name.as_ref()).unwrap().name(), "last", "{name}");
    }
    let options = ReadOptions { formats: formats.clone(), ..ReadOptions::default() };
    let table = Table::read_bytes("a.csv", b"##\n#\n".as_slice().into(), &options).unwrap();
    assert_eq!((table.n_samples(), table.n_features()), (2, 3));
    // Without an extension it is CSV, also where that has been replaced and so comes last.
    assert_eq!(formats.to_write("a".as_ref()).unwrap().name(), "csv");
    let replaced = formats.with(of_csv("csv"));
    assert_eq!(replaced.to_write("a".as_ref()).unwrap().name(), "csv");
}

#[test]
fn columns_that_do_not_fit_together_are_refused() {
    let numbers = |values: &[f64]| (None, Cells::Numbers(values.to_vec()));
    let table = |columns| Table::from_columns("x.marks".as_ref(), MARKS, columns, &ReadOptions::default());
    assert_says(&said(table(vec![numbers(&[1.0]), numbers(&[1.0, 2.0])])), &["column 1", "2 values"]);
    assert_says(&said(table(vec![numbers(&[])])), &["no sample"]);
    assert_says(&said(table(vec![])), &["no column"]);
    assert_says(&said(table(vec![numbers(&[1.0, f64::INFINITY])])), &["row 1", "inf"]);
}

/// A matrix of all pairs of these nodes would take 80 GB.
#[test]
fn memory_is_that_of_links_and_nodes() {
    let n = 100_000;
    let names: Vec<String> = (0..n).map(|i| format!("n{i}")).collect();
    let text: String = (0..n).map(|i| format!("n{i},n{}\n", (7 * i + 1) % n)).collect();
    let file = Folder::new();
    let found =
        read_links(file.write("l.csv", text), &Nodes::features(&names), &LinkOptions::directed()).unwrap();
    assert_eq!(found.graph.n_links() + found.self_links, n);
    let half: Vec<usize> = (0..n).step_by(2).collect();
    let part = found.graph.subset(&half).unwrap().symmetrised();
    assert!(part.n_links() <= found.graph.n_links() && part.components().len() == half.len());
}
