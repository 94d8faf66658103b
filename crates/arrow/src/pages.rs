//! Pages of a column of a Parquet file.

use parquet::basic::{Encoding, PageType};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

/// Pages among which one that refers to a dictionary comes after it: in a damaged file it may not, for which
/// the decoder of `parquet` 59 has a panic.
pub(crate) struct InOrder<P> {
    pages: P,
    has_dictionary: bool,
}

impl<P: PageReader> InOrder<P> {
    pub(crate) fn new(pages: P) -> Self {
        Self { pages, has_dictionary: false }
    }
}

impl<P: PageReader> Iterator for InOrder<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for InOrder<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            let refers = matches!(page.encoding(), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
            match page.page_type() {
                PageType::DICTIONARY_PAGE => self.has_dictionary = true,
                _ if refers && !self.has_dictionary => {
                    return Err(ParquetError::General(
                        "a page refers to a dictionary that is missing".into(),
                    ));
                }
                _ => {}
            }
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some pages, one after the other.
    struct Listed(std::vec::IntoIter<Page>);

    impl Iterator for Listed {
        type Item = Result<Page>;

        fn next(&mut self) -> Option<Self::Item> {
            self.0.next().map(Ok)
        }
    }

    impl PageReader for Listed {
        fn get_next_page(&mut self) -> Result<Option<Page>> {
            Ok(self.0.next())
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
            Ok(None)
        }

        fn skip_next_page(&mut self) -> Result<()> {
            Ok(())
        }
    }

    fn data(encoding: Encoding) -> Page {
        Page::DataPage {
            buf: Vec::new().into(),
            num_values: 0,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        }
    }

    #[test]
    fn a_dictionary_comes_before_what_refers_to_it() {
        let dictionary = || Page::DictionaryPage {
            buf: Vec::new().into(),
            num_values: 0,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        for encoding in [Encoding::RLE_DICTIONARY, Encoding::PLAIN_DICTIONARY] {
            let read = |pages: Vec<Page>| InOrder::new(Listed(pages.into_iter())).collect::<Result<Vec<_>>>();
            assert_eq!(read(vec![data(Encoding::PLAIN), dictionary(), data(encoding)]).unwrap().len(), 3);
            let error = read(vec![data(Encoding::PLAIN), data(encoding), dictionary()]).unwrap_err();
            assert!(error.to_string().contains("dictionary that is missing"), "{error}");
        }
    }
}
