//! Who wrote the samples, and who follows whom.

use crate::{Error, Graph};

/// The authors of the samples, such as the users who wrote the posts of a table, and the links between them.
///
/// ```
/// use fewest_core::{Authors, Graph};
/// // Users 0 and 1 follow user 2; user 0 wrote the first two posts.
/// let authors = Authors::new(vec![0, 0, 1, 2], Graph::directed(3, &[(0, 2, 1.0), (1, 2, 1.0)])?)?;
/// assert_eq!(authors.of_sample(), [0, 0, 1, 2]);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Authors {
    of_sample: Vec<usize>,
    follows: Graph,
}

impl Authors {
    /// From the author of each sample, a node of `follows`; a link leads from the follower to the followed.
    ///
    /// # Errors
    /// [`Error::InvalidPart`] names the first sample whose author is no node.
    pub fn new(of_sample: Vec<usize>, follows: Graph) -> Result<Self, Error> {
        let n = follows.n_nodes();
        if let Some(number) = of_sample.iter().position(|author| *author >= n) {
            let author = of_sample[number];
            let problem = format!("has author {author}, but there are {n}, counted from 0");
            return Err(Error::InvalidPart { part: "sample", number, problem });
        }
        Ok(Self { of_sample, follows })
    }

    /// The author of each sample.
    pub fn of_sample(&self) -> &[usize] {
        &self.of_sample
    }

    /// The links between authors, from the follower to the followed.
    pub fn follows(&self) -> &Graph {
        &self.follows
    }

    /// Number of authors, those without a sample included.
    pub fn n_authors(&self) -> usize {
        self.follows.n_nodes()
    }

    /// For the samples `rows`, in that order.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when a row is out of range.
    pub fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        let author = |&row: &usize| {
            let expected = || format!("below {}", self.of_sample.len());
            self.of_sample.get(row).copied().ok_or_else(|| Error::parameter("rows", row, expected()))
        };
        let of_sample = rows.iter().map(author).collect::<Result<_, _>>()?;
        Ok(Self { of_sample, follows: self.follows.clone() })
    }
}
