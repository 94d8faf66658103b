//! Tables of groups.

use std::collections::HashMap;
use std::path::Path;

use fewest_core::Groups;

use super::{Lines, Nodes, at, placed, wrong};
use crate::error::quoted;
use crate::levels::Interner;
use crate::{Error, Place};

/// Reads groups of features, a line for each feature in a group, under one of two headers.
///
/// `feature,group`: a feature and the name of its group. The groups are a partition if no feature is in two
/// of them, otherwise overlapping sets. Each feature that is not listed is a group of its own.
///
/// `node,parent`: a tree of groups. Every name in the column `parent` is a group; a node is a feature or a
/// group. A node with an empty parent has none. A feature that is not listed is in no group.
///
/// # Errors
/// [`Error::Unknown`] for a feature that does not exist; [`Error::Malformed`] names the line that repeats an
/// earlier one, gives a second parent, makes a group contain itself, or has another number of cells.
///
/// ```
/// use fewest_core::Groups;
/// use fewest_data::{Nodes, read_groups};
/// # let folder = std::env::temp_dir().join(format!("fewest-groups-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("groups.csv");
/// let features = Nodes::features(&["height", "weight", "age"].map(str::to_owned));
/// std::fs::write(&path, "feature,group\nheight,body\nweight,body\nweight,diet\n")?;
/// let groups = read_groups(&path, &features)?;
/// assert_eq!(groups, Groups::overlapping(3, vec![vec![0, 1], vec![1], vec![2]])?);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_groups(path: impl AsRef<Path>, features: &Nodes) -> Result<Groups, Error> {
    let path = path.as_ref();
    let (is_tree, pairs) = pairs(path)?;
    if is_tree { tree(path, features, &pairs) } else { sets(path, features, &pairs) }
}

/// Groups of features that arrive: which feature is in which, before any of them is known.
///
/// ```
/// use fewest_data::GroupTable;
/// # let folder = std::env::temp_dir().join(format!("fewest-table-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("groups.csv");
/// std::fs::write(&path, "feature,group\nheight,body\nweight,body\n")?;
/// let groups = GroupTable::read(&path)?;
/// let body = groups.group_of("weight").ok_or("it is listed")?;
/// assert_eq!((groups.name(body), groups.members(body)), ("body", &["height", "weight"].map(str::to_owned)[..]));
/// assert_eq!(groups.group_of("age"), None);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GroupTable {
    group_of: HashMap<String, usize>,
    names: Vec<String>,
    members: Vec<Vec<String>>,
}

impl GroupTable {
    /// Reads `feature,group`, as [`read_groups`] does. Each feature that is not listed is a group of its own.
    ///
    /// # Errors
    /// As [`read_groups`], but for names that do not exist; [`Error::Malformed`] for a tree, and for a
    /// feature in two groups.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let (is_tree, pairs) = pairs(path)?;
        if is_tree {
            let problem = "a tree of groups, but features that arrive are in one group each";
            return Err(Error::malformed(
                path,
                Place::File,
                problem,
                "give the columns `feature` and `group`",
            ));
        }
        let mut names = Interner::default();
        let mut group_of: HashMap<String, usize> = HashMap::new();
        let mut members: Vec<Vec<String>> = Vec::new();
        for Pair { line, first, second } in pairs {
            let fault = at(path, line);
            if first.is_empty() || second.is_empty() {
                return Err(fault(wrong("a feature or a group has no name", "give it one")));
            }
            let group = names.code(&second) as usize;
            members.resize_with(names.names().len(), Vec::new);
            if let Some(&earlier) = group_of.get(&first) {
                let problem = format!(
                    "feature {} is already in group {}",
                    quoted(&first),
                    quoted(names.names().get(earlier).map_or("", String::as_str))
                );
                let advice = "list each feature once: features that arrive are in one group each";
                return Err(fault(wrong(problem, advice)));
            }
            members[group].push(first.clone());
            group_of.insert(first, group);
        }
        Ok(Self { group_of, names: names.names().to_vec(), members })
    }

    /// The group of a feature; `None` where it is not listed.
    pub fn group_of(&self, feature: &str) -> Option<usize> {
        self.group_of.get(feature).copied()
    }

    /// How many features the largest group has.
    pub fn largest(&self) -> usize {
        self.members.iter().map(Vec::len).max().unwrap_or(1)
    }

    /// The name of a group.
    pub fn name(&self, group: usize) -> &str {
        self.names.get(group).map_or("", String::as_str)
    }

    /// The features of a group.
    pub fn members(&self, group: usize) -> &[String] {
        self.members.get(group).map_or(&[], Vec::as_slice)
    }
}

/// The lines of a table of groups, and whether it is a tree.
fn pairs(path: &Path) -> Result<(bool, Vec<Pair>), Error> {
    let mut file = Lines::open(path, None)?;
    let header = file.next()?.map(|(line, cells)| (line, cells.join(",").to_ascii_lowercase()));
    let is_tree = match header.as_ref().map(|(line, header)| (*line, header.as_str())) {
        Some((_, "feature,group")) => false,
        Some((_, "node,parent")) => true,
        other => {
            let place = other.map_or(Place::File, |(line, _)| Place::Line(line));
            let problem = "the columns are not `feature` and `group`, nor `node` and `parent`";
            return Err(Error::malformed(
                path,
                place,
                problem,
                "start the file with `feature,group` or `node,parent`",
            ));
        }
    };
    let mut pairs = Vec::new();
    while let Some((line, cells)) = file.next()? {
        let [first, second] = cells[..] else {
            let problem = format!("{} cells", cells.len());
            return Err(Error::malformed(path, Place::Line(line), problem, "give two cells in each line"));
        };
        pairs.push(Pair { line, first: first.to_owned(), second: second.to_owned() });
    }
    Ok((is_tree, pairs))
}

/// A line of the table.
struct Pair {
    line: u64,
    first: String,
    second: String,
}

fn sets(path: &Path, features: &Nodes, pairs: &[Pair]) -> Result<Groups, Error> {
    let mut names = Interner::default();
    let mut seen: HashMap<(usize, usize), u64> = HashMap::new();
    let mut members: Vec<(usize, usize)> = Vec::with_capacity(pairs.len());
    for Pair { line, first, second } in pairs {
        let fault = at(path, *line);
        let feature = features.get(first).map_err(&fault)?;
        if second.is_empty() {
            return Err(fault(wrong("the group has no name", "give it one")));
        }
        let group = names.code(second) as usize;
        if let Some(earlier) = seen.insert((feature, group), *line) {
            let problem =
                format!("feature {} is already in group {} (line {earlier})", quoted(first), quoted(second));
            return Err(fault(wrong(problem, "remove one of the lines")));
        }
        members.push((feature, group));
    }
    let n_groups = names.names().len();
    // After the named groups come those of the features that are not listed.
    let mut group_of: Vec<usize> = (0..features.len()).map(|j| n_groups + j).collect();
    let mut listed = vec![0_usize; features.len()];
    for &(feature, group) in &members {
        group_of[feature] = group;
        listed[feature] += 1;
    }
    if listed.iter().all(|times| *times <= 1) {
        return Ok(Groups::partition(group_of));
    }
    let mut sets = vec![Vec::new(); n_groups];
    members.iter().for_each(|&(feature, group)| sets[group].push(feature));
    sets.extend((0..features.len()).filter(|&j| listed[j] == 0).map(|j| vec![j]));
    Ok(Groups::overlapping(features.len(), sets)?)
}

fn tree(path: &Path, features: &Nodes, pairs: &[Pair]) -> Result<Groups, Error> {
    // Groups are numbered in the order of first occurrence.
    let mut groups = Interner::default();
    // For each group, the first line with it as a parent.
    let mut first_lines: Vec<u64> = Vec::new();
    for pair in pairs.iter().filter(|pair| !pair.second.is_empty()) {
        if groups.code(&pair.second) as usize == first_lines.len() {
            first_lines.push(pair.line);
        }
    }
    let numbers: HashMap<&str, usize> =
        groups.names().iter().enumerate().map(|(number, name)| (name.as_str(), number)).collect();
    let d = features.len();
    let mut parents: Vec<Option<usize>> = vec![None; d + numbers.len()];
    // For each node, the line that gives its parent.
    let mut lines: Vec<Option<u64>> = vec![None; parents.len()];
    for Pair { line, first, second } in pairs {
        let fault = at(path, *line);
        let as_group = numbers.get(first.as_str()).copied();
        let node = match (as_group, features.by_name.get(first)) {
            (Some(_), Some(_)) => {
                let problem = format!("{} is both a feature and a group", quoted(first));
                return Err(fault(wrong(problem, "rename the group")));
            }
            (Some(group), None) => d + group,
            (None, _) => features.get(first).map_err(&fault)?,
        };
        if let Some(earlier) = lines[node].replace(*line) {
            let problem = format!("line {earlier} gives {} a parent already", quoted(first));
            return Err(fault(wrong(problem, "give each node one parent")));
        }
        parents[node] = numbers.get(second.as_str()).copied();
    }
    // The line of a group without a line of its own is the first with it as a parent.
    let lines: Vec<u64> =
        lines[d..].iter().zip(first_lines).map(|(own, first)| own.unwrap_or(first)).collect();
    Groups::tree(d, parents).map_err(|error| placed(path, &lines, error))
}
