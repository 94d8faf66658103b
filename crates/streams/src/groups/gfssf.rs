//! Group feature selection with streaming features: by information, inside a group and across groups.

use fewest_core::method::Options;
use fewest_core::{
    Arrives, Budget, Context, Dataset, Error, Held, Selection, Selector, Status, StreamMethod,
    StreamSelector, Target, options, state, stream_state, words,
};
use fewest_counts::discretisation::{Discretisation, Levels, categories};

use super::cover::{Candidate, Gain, States, cover};
use super::{ArrivingGroups, ByGroups};
use crate::arrivals::{Arrivals, Arrived, Chosen, Outcome, Verdict};

const METHOD: &str = "gfssf";

words! {
    /// What a group costs.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum GroupCost {
        /// One for each of its features that are left.
        #[default]
        Features = "features",
        /// One: as when a group is measured together.
        Groups = "groups",
    }
}

options! {
    /// GFSSF, group feature selection with streaming features (Li, Wu, Li and Ding 2013; Section 5.1.4 of Li
    /// et al. 2016): features arrive in groups; in a group those stay that tell of the target what the others
    /// do not, and of the groups those that together tell most of it at the lowest cost.
    ///
    /// ```text
    /// I(x; y | Z)            mutual information of levels, in nats;  x tells of y beyond Z  if  2 n I(x; y | Z)
    ///                        has p ≤ α by chi² with  f = (r_xZ − r_Z)(r_y − 1)  degrees of freedom,  n ≥ 5 f
    /// in a group:            features x that tell of y alone; of these, greedily, the one of largest
    ///                        I(x; y | S) − f / 2n  given those taken, S, among those that tell of y beyond S;
    ///                        then those leave that tell nothing beyond the others taken
    /// across groups:         the same, of the groups kept so far and the new one: G is what is taken of a
    ///                        group, together, and  (I(G; y | S) − f / 2n) / cost(G)  decides
    /// score(j) = I(xⱼ; y | those before it):  the scores add up to I(all; y)
    /// ```
    ///
    /// `r` is the number of states that occur. This is a reconstruction after the survey, which gives neither
    /// thresholds nor costs; the paper itself was not available to us. Its tests are those of
    /// [`Osfs`](crate::Osfs) with `g2`, and `f / 2n` is what a variable that tells nothing is expected to
    /// have. A test with fewer than 5 samples for each degree of freedom shows nothing, so that a selection
    /// has no more states than the samples can tell apart.
    ///
    /// The order inside a group does not matter. A group that is left out is gone, so that the answer depends
    /// on the order of the groups. In a stream the features of one update are a group, or `width` features in
    /// a row; an answer before a group is complete is as if it ended there. Groups come in the order in which
    /// they were taken, features in that of their group.
    ///
    /// Cost: `O(n log n)` for each test, `m k` of them for a group of `m` features of which `k` are taken.
    /// Memory: the levels of those taken.
    ///
    /// # Errors
    /// A target other than classes or one real output; a NaN or an infinity, naming the cell; sample weights;
    /// groups that overlap; an arriving feature with other samples, another target, or the name of a selected
    /// one.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Groups, Selector, Target};
    /// use fewest_streams::Gfssf;
    ///
    /// let noise = |j: u64| (0..300).map(|i| fewest_core::derive_seed(j, i) as f64).collect::<Vec<f64>>();
    /// let columns: Vec<Vec<f64>> = (0..8).map(noise).collect();
    /// let labels: Vec<bool> = columns[2].iter().zip(&columns[6]).map(|(a, b)| a > b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?
    ///     .with_feature_groups(Groups::partition((0..8).map(|j| j / 4).collect()))?;
    /// let selection = Gfssf::default().select(&data, Budget::Auto, &Context::default())?;
    /// assert!(selection.order.contains(&2) && selection.order.contains(&6));
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Gfssf {
        /// Which features of a table arrive together: the groups given, or features in a row.
        pub groups: ArrivingGroups = ArrivingGroups::Given;
        /// How numbers become levels.
        pub levels: Discretisation = Discretisation::default();
        /// P-value above which a feature, or a group, tells nothing.
        pub alpha: f64 = 0.05, ProperFraction;
        /// What a group costs: the number of its features that are left, or the same for all.
        pub cost: GroupCost = GroupCost::Features;
    }
}

impl Gfssf {
    /// A selector to which groups of features arrive.
    ///
    /// # Errors
    /// For options out of range.
    pub fn stream(&self) -> Result<GfssfStream, Error> {
        self.check()?;
        Ok(GfssfStream {
            options: *self,
            arrivals: Arrivals::new(METHOD),
            target: None,
            groups: Vec::new(),
            waiting: Vec::new(),
            last: Vec::new(),
        })
    }
}

impl StreamMethod for Gfssf {
    const ARRIVES: Arrives = Arrives::Features;

    fn open(&self, _: Budget, _: u64) -> Result<Box<dyn StreamSelector>, Error> {
        Ok(Box::new(self.stream()?))
    }
}

impl Selector for Gfssf {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// One pass over the features serves all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        let by_updates = Self { groups: ArrivingGroups::Given, ..*self };
        self.groups.select(|| by_updates.stream(), data, budgets, context)
    }
}

/// [`Gfssf`] on groups of features that arrive.
#[derive(Clone)]
pub struct GfssfStream {
    options: Gfssf,
    arrivals: Arrivals,
    target: Option<Aim>,
    /// Those taken, in the order in which they were.
    groups: Vec<Group>,
    /// Features of a group that is not complete.
    waiting: Vec<Arrived>,
    last: Vec<Verdict>,
}

/// The target, as levels and as states.
#[derive(Clone)]
struct Aim {
    levels: Levels,
    states: States,
}

state!(Aim { levels, states });

/// What is taken of a group.
#[derive(Clone)]
struct Group {
    members: Vec<Member>,
    /// Of all members together.
    states: States,
}

state!(Group { members, states });

#[derive(Clone)]
struct Member {
    feature: usize,
    name: String,
    states: States,
    /// Of the test against the target alone.
    p_value: f64,
}

state!(Member { feature, name, states, p_value });

impl GfssfStream {
    /// What came of the features of the last group. The last of them says which older features left.
    pub fn last(&self) -> &[Verdict] {
        &self.last
    }

    /// The features of each group that is taken.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        self.groups.iter().map(|group| group.members.iter().map(|own| own.feature).collect()).collect()
    }

    /// What is taken of a group, if anything; also a verdict on each feature.
    fn inside(&self, arrived: &[Arrived], aim: &Aim) -> Result<(Option<Group>, Vec<Verdict>), Error> {
        let n = aim.levels.codes.len();
        let (mut verdicts, mut relevant) = (Vec::with_capacity(arrived.len()), Vec::new());
        for own in arrived {
            let levels = if own.is_category {
                categories(&own.values)
            } else {
                self.options.levels.levels(&own.values, Some(&aim.levels))?
            };
            let states = States::from(&levels);
            let gain = Gain::of(&states, &aim.states, &States::none(n));
            let p_value = gain.p_value.unwrap_or(f64::NAN);
            let is_relevant = levels.n_levels > 1 && gain.is_shown(self.options.alpha);
            let outcome = if is_relevant { Outcome::Redundant } else { Outcome::Irrelevant };
            verdicts.push(Verdict { feature: own.number, outcome, value: p_value, left: Vec::new() });
            if is_relevant {
                relevant.push(Member { feature: own.number, name: own.name.clone(), states, p_value });
            }
        }
        let candidates: Vec<Candidate<'_>> =
            relevant.iter().map(|own| Candidate { states: &own.states, cost: 1.0 }).collect();
        let taken = cover(&candidates, &aim.states, self.options.alpha);
        let mut slots: Vec<Option<Member>> = relevant.into_iter().map(Some).collect();
        let members: Vec<Member> = taken.into_iter().filter_map(|place| slots[place].take()).collect();
        let states = members.iter().fold(States::none(n), |all, own| all.with(&own.states));
        Ok(((!members.is_empty()).then_some(Group { members, states }), verdicts))
    }

    /// Takes the groups that cover most, of those kept and `new`.
    fn across(&mut self, new: Option<Group>, alpha: f64, verdicts: &mut [Verdict]) {
        let (Some(new), Some(aim)) = (new, &self.target) else { return };
        let mut groups: Vec<Group> = std::mem::take(&mut self.groups);
        groups.push(new);
        let cost = |group: &Group| match self.options.cost {
            GroupCost::Features => group.members.len() as f64,
            GroupCost::Groups => 1.0,
        };
        let candidates: Vec<Candidate<'_>> =
            groups.iter().map(|group| Candidate { states: &group.states, cost: cost(group) }).collect();
        let taken = cover(&candidates, &aim.states, alpha);
        let newest = groups.len() - 1;
        let mut slots: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
        self.groups = taken.iter().filter_map(|place| slots[*place].take()).collect();
        if taken.contains(&newest) {
            let members = self.groups.iter().flat_map(|group| &group.members);
            let kept: Vec<usize> = members.map(|own| own.feature).collect();
            for verdict in verdicts.iter_mut().filter(|verdict| kept.contains(&verdict.feature)) {
                verdict.outcome = Outcome::Admitted;
            }
        }
        let gone = slots.iter().take(newest).flatten().flat_map(|group| &group.members);
        let left = gone.map(|own| own.feature).collect();
        if let Some(last) = verdicts.last_mut() {
            last.left = left;
        }
    }
}

/// The levels of a target.
fn aim(target: &Target, levels: &Discretisation) -> Result<Aim, Error> {
    let levels = match target {
        Target::Class(classes) => Levels::of_classes(classes),
        Target::Real(outputs) if outputs.n_outputs() == 1 => levels.target_levels(outputs.output(0))?,
        other => {
            let expected = "classes or one real output";
            return Err(Error::UnsupportedTarget { method: METHOD, expected, found: other.describe() });
        }
    };
    if levels.n_levels < 2 {
        let what = "different values of the target";
        return Err(Error::TooFew { what, minimum: 2, found: levels.n_levels });
    }
    let states = States::from(&levels);
    Ok(Aim { levels, states })
}

impl ByGroups for GfssfStream {
    fn parts(&mut self) -> (ArrivingGroups, &mut Arrivals, &mut Vec<Arrived>) {
        (self.options.groups, &mut self.arrivals, &mut self.waiting)
    }

    fn learn(&mut self, group: &[Arrived], _: &Context<'_>) -> Result<(), Error> {
        let Some(aim) = &self.target else { return Ok(()) };
        let (new, mut verdicts) = self.inside(group, aim)?;
        self.across(new, self.options.alpha, &mut verdicts);
        self.last = verdicts;
        Ok(())
    }
}

impl StreamSelector for GfssfStream {
    fn update(&mut self, arrived: &Dataset, context: &Context<'_>) -> Result<(), Error> {
        let Self { arrivals, groups, target, options, waiting, .. } = self;
        let members = groups.iter().flat_map(|group| &group.members).map(|own| &own.name);
        let held = members.chain(waiting.iter().map(|own| &own.name));
        let arrived = arrivals.take(
            arrived,
            |name| held.clone().any(|own| own == name),
            |group| {
                *target = Some(aim(group.target(), &options.levels)?);
                Ok(())
            },
        )?;
        self.take(arrived, context)
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        if let Some(selection) = self.with_waiting(&self.waiting, budget)? {
            return Ok(selection);
        }
        let mut chosen = Vec::new();
        if let Some(aim) = &self.target {
            let mut known = States::none(aim.levels.codes.len());
            for own in self.groups.iter().flat_map(|group| &group.members) {
                let score = Gain::of(&own.states, &aim.states, &known).information;
                known = known.with(&own.states);
                chosen.push(Chosen { feature: own.feature, score, p_value: own.p_value });
            }
        }
        let mut selection = self.arrivals.selection(chosen, budget, Status::Converged)?;
        let left_out = "the others tell nothing that these samples show at this level; fewer bins show more";
        selection.note_missing_features(budget, left_out);
        Ok(selection)
    }

    fn held(&self) -> Held {
        let target = self.target.as_ref().map_or(0, |aim| 2 * aim.states.size());
        let of = |group: &Group| {
            group.states.size() + group.members.iter().map(|own| own.states.size()).sum::<usize>()
        };
        let n_features: usize = self.groups.iter().map(|group| group.members.len()).sum();
        let waiting: usize = self.waiting.iter().map(|own| own.values.len()).sum();
        let numbers = target + waiting + self.groups.iter().map(of).sum::<usize>();
        Held::new(n_features + self.waiting.len(), numbers)
    }

    fn name(&self, feature: usize) -> Option<&str> {
        let members = self.groups.iter().flat_map(|group| &group.members).map(|own| (own.feature, &own.name));
        let mut held = members.chain(self.waiting.iter().map(|own| (own.number, &own.name)));
        held.find(|(own, _)| *own == feature).map(|(_, name)| name.as_str())
    }

    fn group_width(&self) -> usize {
        self.options.groups.width()
    }

    stream_state!(options; arrivals.target, arrivals.n_samples, arrivals.n_arrived, target, groups, waiting,
        last);
}
