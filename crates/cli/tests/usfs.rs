//! The page of a method that is off by default. `FEWEST_WRITE_PAGES=1` writes it anew.

mod shown;

#[test]
fn the_page_of_usfs_shows_what_its_commands_print() {
    assert!(shown::check(&shown::root().join("docs/methods/usfs.md")) > 0);
}
