//! What takes the place of object stores where they are not compiled.

use std::path::Path;

use fewest::data::{Error, Folder};

use crate::objects::{Object, StoreFault, bucket_and_key};

/// No store.
#[derive(Debug, Default)]
pub(crate) struct Stores {}

impl Stores {
    pub(crate) fn list(&self, address: &Path) -> Result<Vec<Object>, StoreFault> {
        bucket_and_key(address)?;
        Err(StoreFault::NotBuilt)
    }

    pub(crate) fn folder(&self, address: &Path, _: &[Object]) -> Result<Folder, Error> {
        Err(StoreFault::NotBuilt.reading(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_compiled_is_told() {
        let told = Stores::default().list(Path::new("s3://bucket/key")).unwrap_err().to_string();
        assert!(told.contains("without the feature `s3`"), "{told}");
    }
}
