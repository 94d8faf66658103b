//! The authors of samples, and who follows whom.

use std::path::Path;

use fewest_core::{Authors, Graph};

use super::links::is_header;
use super::{Lines, LinkOptions, Nodes, at, read_links, wrong};
use crate::levels::Interner;
use crate::{Error, Place};

/// Reads the author of every sample, under one of two headers: `author`, a line for each sample in the order
/// of the table, or `sample,author`, in any order. `user` may stand for `author`. `follows` is a list of
/// links from follower to followed ([`read_links`]); who follows or is followed without a sample of their own
/// counts, too.
///
/// # Errors
/// [`Error::Unknown`] for a sample that does not exist; [`Error::Malformed`] for another header, a line with
/// another number of cells, an author without a name, and a sample with two authors or none; what
/// [`read_links`] returns.
///
/// ```
/// use fewest_data::{Nodes, ReadOptions, Table, read_authors};
/// # let folder = std::env::temp_dir().join(format!("fewest-authors-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let (posts, follows) = (folder.join("posts.csv"), folder.join("follows.csv"));
/// let table = Table::read_bytes("table.csv", b"x\n1\n2\n3\n".as_slice().into(), &ReadOptions::default())?;
/// std::fs::write(&posts, "author\nada\nbob\nada\n")?;
/// std::fs::write(&follows, "from,to\nbob,ada\neve,ada\n")?;
/// let authors = read_authors(&posts, &Nodes::samples(&table)?, Some(&follows))?;
/// assert_eq!((authors.of_sample(), authors.n_authors()), (&[0, 1, 0][..], 3));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_authors(
    path: impl AsRef<Path>,
    samples: &Nodes,
    follows: Option<&Path>,
) -> Result<Authors, Error> {
    let path = path.as_ref();
    let mut names = Interner::default();
    let of_sample = authors(path, samples, &mut names)?;
    let Some(follows) = follows else {
        return Ok(Authors::new(of_sample, Graph::directed(names.names().len(), &[])?)?);
    };
    let mut file = Lines::open(follows, None)?;
    let mut is_first = true;
    while let Some((_, cells)) = file.next()? {
        if !(std::mem::take(&mut is_first) && is_header(&cells)) {
            cells.iter().take(2).for_each(|name| {
                names.code(name);
            });
        }
    }
    let nodes = Nodes::new("author", names.names().len(), names.names(), false);
    let links = read_links(follows, &nodes, &LinkOptions::directed())?;
    Ok(Authors::new(of_sample, links.graph)?)
}

/// The code of the author of every sample.
fn authors(path: &Path, samples: &Nodes, names: &mut Interner) -> Result<Vec<usize>, Error> {
    let is_author = |cell: &str| ["author", "user"].iter().any(|word| cell.eq_ignore_ascii_case(word));
    let mut file = Lines::open(path, None)?;
    let named = match file.next()? {
        Some((_, cells)) if matches!(cells[..], [author] if is_author(author)) => false,
        Some((_, cells)) if matches!(cells[..], [sample, author] if sample.eq_ignore_ascii_case("sample") && is_author(author)) => {
            true
        }
        other => {
            let place = other.map_or(Place::File, |(line, _)| Place::Line(line));
            let problem = "the columns are not `author`, nor `sample` and `author`";
            let advice =
                "start the file with `author`, and give a line for each sample, or with `sample,author`";
            return Err(Error::malformed(path, place, problem, advice));
        }
    };
    let mut found: Vec<Option<usize>> = vec![None; samples.len()];
    let mut n_lines = 0;
    while let Some((line, cells)) = file.next()? {
        let fault = at(path, line);
        let (sample, author) = match cells[..] {
            [author] if !named => (n_lines, author),
            [sample, author] if named => (samples.get(sample).map_err(&fault)?, author),
            _ => {
                let expected = if named { "a sample and its author" } else { "an author" };
                return Err(fault(wrong(format!("{} cells", cells.len()), format!("give {expected}"))));
            }
        };
        n_lines += 1;
        if author.is_empty() {
            return Err(fault(wrong("the author has no name", "give one")));
        }
        match found.get_mut(sample) {
            Some(place @ None) => *place = Some(names.code(author) as usize),
            Some(Some(_)) => {
                return Err(fault(wrong(
                    "the sample has an author in an earlier line",
                    "remove one of the lines",
                )));
            }
            None => {
                let problem = format!("there are more authors than samples ({})", found.len());
                return Err(fault(wrong(problem, "give a line for each sample")));
            }
        }
    }
    let known: Option<Vec<usize>> = found.iter().copied().collect();
    known.ok_or_else(|| {
        let missing = found.iter().position(Option::is_none).unwrap_or(0);
        let problem = format!("sample {missing}, counted from 0, has no author");
        Error::malformed(path, Place::File, problem, "give the author of each sample")
    })
}
