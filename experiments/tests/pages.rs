//! What is documented and what there is.

use std::path::Path;

#[test]
fn every_method_has_its_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/methods");
    let has_no_page = |id: &&str| !folder.join(format!("{id}.md")).is_file();
    let ids: Vec<&str> = fewest::registry::methods().map(|method| method.id).collect();
    assert!(!ids.is_empty());
    let missing: Vec<&str> = ids.into_iter().filter(has_no_page).collect();
    assert!(missing.is_empty(), "docs/methods has no ID.md for {missing:?}");
}
