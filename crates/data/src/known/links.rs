//! Edge lists.

use std::path::Path;

use fewest_core::Graph;

use super::{Fault, Lines, Nodes, at, placed, wrong};
use crate::Error;
use crate::error::quoted;

/// How an edge list is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LinkOptions {
    /// Whether a link goes from the first of its ends to the second only.
    pub directed: bool,
    /// The character between cells; `None` detects it, as for tables.
    pub delimiter: Option<char>,
}

impl LinkOptions {
    /// Links with a direction.
    pub fn directed() -> Self {
        Self { directed: true, ..Self::default() }
    }
}

/// The content of an edge list.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Links {
    /// The links.
    pub graph: Graph,
    /// Number of lines that link a node to itself; they are left out.
    pub self_links: usize,
    /// Number of lines that repeat an earlier link; such a link counts once.
    pub repeated: usize,
}

/// Reads an edge list: one link per line, with its two ends by their names in `nodes`, and optionally its
/// weight (default 1).
///
/// The first line may be a header: `from`, `source`, `src` or `i`; `to`, `target`, `dst` or `j`; and `weight`
/// or `w`. Links of a node to itself are left out, and a link that occurs twice with the same weight counts
/// once; [`Links`] has the number of both.
///
/// # Errors
/// [`Error::Unknown`] for an end that does not exist; [`Error::Malformed`] names the line with a weight that
/// is not finite or not above 0, a weight that differs from that of the same link in an earlier line, or
/// another number of cells.
///
/// # Memory
/// Proportional to the links and nodes: at most about 80 bytes per link while reading (measured with 10⁶
/// links).
///
/// ```
/// use fewest_data::{LinkOptions, Nodes, ReadOptions, Table, read_links};
/// # let folder = std::env::temp_dir().join(format!("fewest-links-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("links.csv");
/// let samples = ",x\nada,1\nbob,2\neve,3\n";
/// let table = Table::read_bytes("samples.csv", samples.as_bytes().into(), &ReadOptions::default())?;
/// std::fs::write(&path, "ada,eve,0.5\nbob,ada,2\n")?;
/// let links = read_links(&path, &Nodes::samples(&table)?, &LinkOptions::default())?;
/// assert_eq!(links.graph.neighbours(0), [1, 2]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_links(path: impl AsRef<Path>, nodes: &Nodes, options: &LinkOptions) -> Result<Links, Error> {
    let path = path.as_ref();
    let mut file = Lines::open(path, options.delimiter)?;
    let mut links: Vec<(usize, usize, f64)> = Vec::new();
    let mut lines: Vec<u64> = Vec::new();
    let mut n_cells = None;
    let mut self_links = 0;
    while let Some((line, cells)) = file.next()? {
        if n_cells.is_none() && is_header(&cells) {
            n_cells = Some(cells.len());
            continue;
        }
        let (from, to, weight) = link(&cells, nodes, n_cells).map_err(at(path, line))?;
        n_cells = Some(cells.len());
        if from == to {
            self_links += 1;
            continue;
        }
        // The lower end first, so that `a,b` and `b,a` are the same link.
        let swap = !options.directed && from > to;
        links.push(if swap { (to, from, weight) } else { (from, to, weight) });
        lines.push(line);
    }
    let before = links.len();
    let (links, lines) = once(links, lines).map_err(|(line, fault)| at(path, line)(fault))?;
    let graph = if options.directed {
        Graph::directed(nodes.len(), &links)
    } else {
        Graph::undirected(nodes.len(), &links)
    };
    let graph = graph.map_err(|error| placed(path, &lines, error))?;
    Ok(Links { graph, self_links, repeated: before - links.len() })
}

pub(super) fn is_header(cells: &[&str]) -> bool {
    let is = |cell: &str, words: &[&str]| words.iter().any(|word| cell.eq_ignore_ascii_case(word));
    match cells {
        [from, to, rest @ ..] => {
            is(from, &["from", "source", "src", "follower", "i"])
                && is(to, &["to", "target", "dst", "followed", "j"])
                && rest.iter().all(|cell| is(cell, &["weight", "w"]))
        }
        _ => false,
    }
}

fn link(cells: &[&str], nodes: &Nodes, n_cells: Option<usize>) -> Result<(usize, usize, f64), Fault> {
    let (from, to, weight) = match *cells {
        [from, to] => (from, to, None),
        [from, to, weight] => (from, to, Some(weight)),
        _ => {
            let problem = format!("{} cells", cells.len());
            return Err(wrong(problem, "give each link its two ends and optionally its weight"));
        }
    };
    if let Some(before) = n_cells.filter(|before| *before != cells.len()) {
        let problem = format!("{} cells, but the lines before have {before}", cells.len());
        return Err(wrong(problem, "give all links a weight, or none"));
    }
    let value = match weight {
        None => 1.0,
        Some(text) => match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value > 0.0 => value,
            _ => {
                let problem = format!("the weight is {}", quoted(text));
                return Err(wrong(
                    problem,
                    "give a finite number above 0, or remove the line; names in a first line are `from,to,weight`",
                ));
            }
        },
    };
    Ok((nodes.get(from)?, nodes.get(to)?, value))
}

type Numbered = (Vec<(usize, usize, f64)>, Vec<u64>);

/// Every link once, ordered by its ends. The error is a line whose weight differs from that of the same link
/// in an earlier line.
fn once(links: Vec<(usize, usize, f64)>, lines: Vec<u64>) -> Result<Numbered, (u64, Fault)> {
    let mut all: Vec<((usize, usize, f64), u64)> = links.into_iter().zip(lines).collect();
    all.sort_unstable_by_key(|&((from, to, _), line)| (from, to, line));
    for pair in all.windows(2) {
        let ((a, first), (b, second)) = (pair[0], pair[1]);
        if (a.0, a.1) == (b.0, b.1) && a.2 != b.2 {
            let problem =
                format!("the link of line {first} again, with the weight {} instead of {}", b.2, a.2);
            return Err((second, wrong(problem, "keep one of the two")));
        }
    }
    all.dedup_by_key(|((from, to, _), _)| (*from, *to));
    Ok(all.into_iter().unzip())
}
