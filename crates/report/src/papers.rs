//! The papers that methods are from, as their pages in `docs/methods` list them: a package has no pages, so
//! that it takes the lists along. A test holds the two together.

const PAPERS: &str = include_str!("papers.txt");

/// The papers of the method `id`; none for a method that is not ours.
pub(crate) fn of(id: &str) -> impl Iterator<Item = &'static str> {
    let of_id = |part: &&str| part.split_once('\n').is_some_and(|(first, _)| first == id);
    let lines = PAPERS.split("\n\n").find(of_id).map(str::lines).into_iter().flatten();
    lines.filter_map(|line| line.strip_prefix("- "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list on a page, each paper on one line.
    fn on_page(page: &str) -> Option<String> {
        let (_, list) = page.split_once("\n## Reference")?;
        let list = list.split("\n## ").next()?.trim_start_matches('s').trim();
        Some(list.replace("\n  ", " "))
    }

    #[test]
    fn the_lists_are_those_of_the_pages() -> std::io::Result<()> {
        let pages = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/methods");
        let mut expected = Vec::new();
        for entry in std::fs::read_dir(pages)? {
            let path = entry?.path();
            let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if let Some(list) = on_page(&std::fs::read_to_string(&path)?) {
                expected.push(format!("{id}\n{list}\n"));
            }
        }
        expected.sort();
        let expected = expected.join("\n");
        assert!(PAPERS == expected, "crates/report/src/papers.txt must be\n\n{expected}");
        Ok(())
    }

    #[test]
    fn papers_are_found_by_the_whole_id() {
        assert!(of("mim").next().is_some_and(|paper| paper.starts_with("Li et al.")));
        assert_eq!(of("hsic-lasso").count(), 3);
        assert_eq!(of("lass").count() + of("").count() + of("distinct").count(), 0);
    }
}
