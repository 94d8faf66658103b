//! Views: which features come from which source.

use std::collections::HashSet;

use crate::Error;

/// The sources of the features: every feature belongs to one view.
///
/// ```
/// use fewest_core::Views;
/// let views = Views::new(5, vec![("image".to_owned(), vec![0, 3]), ("text".to_owned(), vec![1, 2, 4])])?;
/// assert_eq!((views.n_views(), views.names()[1].as_str()), (2, "text"));
/// assert_eq!(views.of_feature(), [0, 1, 1, 0, 1]);
/// assert_eq!(views.sets(), [vec![0, 3], vec![1, 2, 4]]);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Views {
    names: Vec<String>,
    of_feature: Vec<usize>,
}

impl Views {
    /// From the name and the features of every view: each of the features `0 .. n_features` in one view.
    ///
    /// # Errors
    /// [`Error::InvalidPart`] names the first view that has no name, the name of an earlier one, no
    /// feature, a feature that does not exist, or a feature of an earlier view or twice; else the first
    /// feature in no view. [`Error::TooFew`] for no view.
    pub fn new(n_features: usize, views: Vec<(String, Vec<usize>)>) -> Result<Self, Error> {
        if views.is_empty() {
            return Err(Error::TooFew { what: "views", minimum: 1, found: 0 });
        }
        let mut of_feature: Vec<Option<usize>> = vec![None; n_features];
        let mut known = HashSet::new();
        for (number, (name, features)) in views.iter().enumerate() {
            let wrong = |problem: String| Err(Error::InvalidPart { part: "view", number, problem });
            if name.is_empty() {
                return wrong("has no name: give it one".to_owned());
            }
            if !known.insert(name) {
                return wrong(format!("has the name `{name}` of an earlier one: rename one"));
            }
            if features.is_empty() {
                return wrong(format!("(`{name}`) has no feature: leave it out"));
            }
            for &j in features {
                match of_feature.get_mut(j) {
                    None => {
                        let there_are = format!("there are {n_features}, counted from 0");
                        return wrong(format!("(`{name}`) names feature {j}, but {there_are}"));
                    }
                    Some(Some(view)) if *view == number => {
                        return wrong(format!("(`{name}`) has feature {j} twice: name it once"));
                    }
                    Some(Some(view)) => {
                        let earlier = &views[*view].0;
                        return wrong(format!(
                            "(`{name}`) shares feature {j} with `{earlier}`: a feature belongs to one view"
                        ));
                    }
                    Some(view) => *view = Some(number),
                }
            }
        }
        if let Some(number) = of_feature.iter().position(Option::is_none) {
            let problem = "is in no view: every feature belongs to one".to_owned();
            return Err(Error::InvalidPart { part: "feature", number, problem });
        }
        let names = views.into_iter().map(|(name, _)| name).collect();
        Ok(Self { names, of_feature: of_feature.into_iter().flatten().collect() })
    }

    /// The name of every view.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The view of every feature.
    pub fn of_feature(&self) -> &[usize] {
        &self.of_feature
    }

    /// Number of views.
    pub fn n_views(&self) -> usize {
        self.names.len()
    }

    /// The features of every view, increasing.
    pub fn sets(&self) -> Vec<Vec<usize>> {
        let mut sets = vec![Vec::new(); self.n_views()];
        self.of_feature.iter().enumerate().for_each(|(j, &view)| sets[view].push(j));
        sets
    }

    /// The views of the features `features`, which are numbered in that order. A view without a feature left
    /// is left out; the others keep their order.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when a feature does not exist.
    ///
    /// ```
    /// use fewest_core::Views;
    /// let views = |sets: &[(&str, Vec<usize>)]| -> Vec<(String, Vec<usize>)> {
    ///     sets.iter().map(|(name, features)| (name.to_string(), features.clone())).collect()
    /// };
    /// let all = Views::new(4, views(&[("a", vec![0]), ("b", vec![1, 3]), ("c", vec![2])]))?;
    /// assert_eq!(all.subset(&[2, 3, 1])?, Views::new(3, views(&[("b", vec![1, 2]), ("c", vec![0])]))?);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    pub fn subset(&self, features: &[usize]) -> Result<Self, Error> {
        let old = |&j: &usize| {
            let expected = || format!("below the number of features, {}", self.of_feature.len());
            self.of_feature.get(j).copied().ok_or_else(|| Error::parameter("features", j, expected()))
        };
        let of_feature = features.iter().map(old).collect::<Result<Vec<usize>, _>>()?;
        let mut new: Vec<Option<usize>> = vec![None; self.n_views()];
        of_feature.iter().for_each(|&view| new[view] = Some(0));
        new.iter_mut().flatten().enumerate().for_each(|(number, view)| *view = number);
        let is_left = |(name, new): (&String, &Option<usize>)| new.map(|_| name.clone());
        Ok(Self {
            names: self.names.iter().zip(&new).filter_map(is_left).collect(),
            of_feature: of_feature.into_iter().filter_map(|view| new[view]).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn views(n_features: usize, sets: &[(&str, &[usize])]) -> Result<Views, Error> {
        Views::new(n_features, sets.iter().map(|(name, set)| ((*name).to_owned(), set.to_vec())).collect())
    }

    #[test]
    fn views_that_cannot_be_are_named() {
        assert_eq!(views(3, &[("b", &[2, 0]), ("a", &[1])]).unwrap().of_feature(), [0, 1, 0]);
        for (sets, wrong, number, told) in [
            (&[("a", &[0, 1][..]), ("b", &[2, 1])][..], "view", 1, "shares feature 1 with `a`"),
            (&[("a", &[0, 1, 0]), ("b", &[2])], "view", 0, "has feature 0 twice"),
            (&[("a", &[0, 1, 2]), ("b", &[])], "view", 1, "has no feature"),
            (&[("a", &[0, 1]), ("b", &[2, 3])], "view", 1, "there are 3"),
            (&[("a", &[0, 1]), ("a", &[2])], "view", 1, "the name `a`"),
            (&[("a", &[0, 1]), ("", &[2])], "view", 1, "no name"),
            (&[("a", &[0]), ("b", &[2])], "feature", 1, "in no view"),
        ] {
            match views(3, sets) {
                Err(Error::InvalidPart { part, number: found, problem }) => {
                    assert_eq!((part, found), (wrong, number), "{sets:?}");
                    assert!(problem.contains(told), "{problem}");
                }
                other => panic!("{sets:?}: {other:?}"),
            }
        }
        assert!(matches!(views(3, &[]), Err(Error::TooFew { what: "views", .. })));
    }

    /// Of any features in any order, each keeps the name of its view.
    #[test]
    fn features_keep_their_view() {
        let all = views(5, &[("c", &[4, 1]), ("a", &[0]), ("b", &[2, 3])]).unwrap();
        for features in [vec![0], vec![3, 0, 2], vec![4, 3, 2, 1, 0], vec![1, 1, 3]] {
            let some = all.subset(&features).unwrap();
            let name = |views: &Views, j: usize| views.names()[views.of_feature()[j]].clone();
            for (new, &old) in features.iter().enumerate() {
                assert_eq!(name(&some, new), name(&all, old), "{features:?}");
            }
            assert!(some.sets().iter().all(|set| !set.is_empty()), "{features:?}");
        }
        assert_eq!(all.subset(&[0, 1, 2, 3, 4]).unwrap(), all);
        assert!(matches!(all.subset(&[5]), Err(Error::InvalidParameter { .. })));
    }
}
