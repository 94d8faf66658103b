//! A batch that was looked at, and comes again.

use super::{RowSums, SampleStream};
use crate::{Dataset, Error};

/// A stream to which its first batch was returned.
pub struct Returned<'a> {
    /// The batch, until it comes again.
    pub first: Option<Dataset>,
    /// The others.
    pub stream: &'a mut dyn SampleStream,
}

impl SampleStream for Returned<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.stream.next_batch(),
        }
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.first = None;
        self.stream.rewind()
    }

    fn instruct(&mut self, instructions: Vec<u8>) {
        self.stream.instruct(instructions);
    }

    fn instructions(&self) -> Option<&[u8]> {
        self.stream.instructions()
    }

    fn sum_elsewhere(&mut self, sums: &dyn RowSums) -> Result<Option<Vec<u8>>, Error> {
        let found = self.stream.sum_elsewhere(sums)?;
        if found.is_some() {
            self.first = None;
        }
        Ok(found)
    }
}
