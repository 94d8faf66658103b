//! Selection with the relations of users and posts.

use fewest_core::method::{Options, Regularization};
use fewest_core::{Authors, Budget, Context, Dataset, Error, Selection, Selector, options};

use super::Relation;
use crate::rows::LeastSquares;

/// What is said where nothing is known of the samples.
const NOTE: &str = "the authors of the samples are not known (--authors): the answer is that of l21";

options! {
    /// Linked feature selection (Tang and Liu 2012; Section 4.1.2 of Li et al. 2016, Eq. 99): samples that
    /// are related through their authors get similar predictions.
    ///
    /// ```text
    /// minimise over W   1/(2n) [ ‖Y − X W‖²_F + Σ_relations β R(W) ] + λ Σⱼ ‖Wⱼ‖₂,     score(k) = ‖W_k‖₂
    ///
    /// copost:        R = Σ ‖xᵢ W − xⱼ W‖²   over the pairs of samples of one author
    /// cofollowing:   R = Σ ‖tᵤ W − tᵥ W‖²   over the pairs of authors who follow a common author
    /// cofollowed:    the same               over the pairs of authors whom a common author follows
    /// following:     the same               over the links from author to author, with their weights
    /// ```
    ///
    /// `tᵤ` is the mean of the samples of author `u`; authors without samples are left out, and a pair counts
    /// once, however many authors it shares. The relations may be combined. As printed, without the factor
    /// `1/(2n)`, the penalty is `2n λ`.
    ///
    /// Features are standardised; a category of more than two levels enters by its level indicators, which
    /// are one row together. Real outputs are standardised; of classes `Y` has a centred indicator each.
    ///
    /// Cost: as of [`L21`](crate::L21) with a further sample for every pair.
    ///
    /// # Errors
    /// As of [`L21`](crate::L21); more than `2²²` differences in all relations, times the number of outputs.
    ///
    /// ```
    /// use fewest_core::method::Regularization;
    /// use fewest_core::{Authors, Budget, Context, Dataset, DenseColumns, Graph, Selector, Target};
    /// use fewest_linear::LinkedFs;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b) = (wave(1), wave(17));
    /// // Feature 2 is the same for all posts of a user, and as good as feature 0 otherwise.
    /// let users: Vec<usize> = (0..60).map(|i| i / 6).collect();
    /// let of_user = users.iter().map(|&user| a[6 * user + 3]).collect();
    /// let classes: Vec<u8> = a.iter().map(|a| u8::from(*a > 0.0)).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, of_user])?, Target::from_labels(&classes))?
    ///     .with_authors(Authors::new(users, Graph::directed(10, &[])?)?)?;
    /// let linked = LinkedFs { regularization: Regularization::Ratio(0.1), ..LinkedFs::default() };
    /// assert_eq!(linked.select(&data, Budget::Auto, &Context::default())?.order[0], 2);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct LinkedFs {
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Value, Ratio);
        /// Weight `β` of the pairs of samples of one author.
        pub copost: f64 = 0.5, NonNegative;
        /// Weight of the pairs of authors who follow a common author.
        pub cofollowing: f64 = 0.0, NonNegative;
        /// Weight of the pairs of authors whom a common author follows.
        pub cofollowed: f64 = 0.0, NonNegative;
        /// Weight of the links from author to author.
        pub following: f64 = 0.0, NonNegative;
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

impl LinkedFs {
    /// The relations that have a weight, and the names of those that relate nobody.
    fn relations(
        &self,
        authors: &Authors,
        context: &Context<'_>,
    ) -> Result<(Vec<Relation>, Vec<&'static str>), Error> {
        let (mut relations, mut empty) = (Vec::new(), Vec::new());
        let mut add = |name, relation: Relation| match relation.n_rows() {
            0 => empty.push(name),
            _ => relations.push(relation),
        };
        if self.copost > 0.0 {
            add("copost", Relation::same_author(self.copost, authors));
        }
        if self.cofollowing > 0.0 {
            add("cofollowing", Relation::co_following(self.cofollowing, authors, context)?);
        }
        if self.cofollowed > 0.0 {
            add("cofollowed", Relation::co_followed(self.cofollowed, authors, context)?);
        }
        if self.following > 0.0 {
            add("following", Relation::following(self.following, authors));
        }
        Ok((relations, empty))
    }
}

impl Selector for LinkedFs {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// Columns are standardised once for all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        let around = data.surroundings();
        let authors = around.map_or(data, |(all, _)| all).authors();
        let none = || Ok((Vec::new(), Vec::new()));
        let (relations, empty) = authors.map_or_else(none, |authors| self.relations(authors, context))?;
        let Self { regularization, tolerance, .. } = *self;
        let mut selections = LeastSquares {
            method: "linkedfs",
            relations: &relations,
            around,
            ridge: 0.0,
            regularization,
            tolerance,
        }
        .select_many(data, budgets, context)?;
        let mut notes: Vec<String> = authors.is_none().then(|| NOTE.to_owned()).into_iter().collect();
        notes.extend(empty.iter().map(|name| {
            format!("{name} has no effect: no two authors with samples are related so (--follows)")
        }));
        selections.iter_mut().for_each(|selection| selection.notes.extend(notes.iter().cloned()));
        Ok(selections)
    }
}
