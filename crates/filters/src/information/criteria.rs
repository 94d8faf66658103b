//! Forward selection by the criteria, each a few lines over joint counts.

use fewest_core::method::{Choice, Field, Options, Parameter, Parameters};
use fewest_core::{Budget, Context, Dataset, Error, PassSelector, Selection, Selector};
use fewest_counts::{
    Coded, Scratch, SideBySide, Sums, Variable, joint_conditional_entropies, joint_sum, sums,
};

use super::continuous::{Estimated, Pairs, Parzen};
use super::criterion::{Alone, ForwardCriterion, Samples};
use super::estimators::{ESTIMATOR, Estimator, Search};
use super::forward::{self, NO_OTHERS, add_notes, few_microseconds, forward};

/// Forward selection by a [`ForwardCriterion`] over plug-in estimates from joint counts, natural logarithms.
///
/// The selection's order is that of the picks, its scores are the criterion at the moment of the pick;
/// candidates within 1e-11 of the best tie, and the lowest index is taken. Features with one level are never
/// taken. `Budget::Auto` stops when no candidate is above 0; of the criteria that never fall to 0 (JMI, DISR,
/// JMIM, NJMIM, JMI3 and the quotient of mRMR) it ranks every feature.
///
/// A real target is discretised by the rule of the features. Cost: `O(n)` a candidate and step (`O(n |S|)`
/// for JMI3, many selected features at a time where few samples share levels), and
/// 64 samples an operation where features have few levels; memory below that of the data. Where further terms
/// can only lower the criterion (MIFS, mRMR, CMIM, ICAP, JMIM, NJMIM) a candidate that its terms so far rule
/// out is left out.
///
/// # Errors
/// For a target that is neither classes nor one real output, or that has one value only; a weight or a number
/// of bins out of range.
///
/// ```
/// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
/// use fewest_filters::information::{ForwardCriterion, Forward};
///
/// // The target is told by features 0 and 2 together; feature 1 repeats feature 0.
/// let bit = |shift: usize| (0..64).map(move |i| (i >> shift & 1) as f64).collect::<Vec<_>>();
/// let x = DenseColumns::from_columns(&[bit(0), bit(0), bit(1), bit(2)])?;
/// let labels: Vec<usize> = (0..64).map(|i| (i & 1) * 2 + (i >> 1 & 1)).collect();
/// let data = Dataset::new(x, Target::from_labels(&labels))?;
/// let selection = Forward::new(ForwardCriterion::Jmi).select(&data, Budget::Count(2), &Context::default())?;
/// assert_eq!(selection.order, [0, 2]);
/// # Ok::<(), fewest_filters::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forward {
    /// What candidates are judged by.
    pub criterion: ForwardCriterion,
    /// How mutual information is estimated. MIFS and mRMR know every estimator, the others need levels.
    pub estimator: Estimator,
}

/// Those of the criterion, and of the estimators it knows.
impl Options for Forward {
    fn parameters(&self) -> Vec<Parameter> {
        let mut list = self.criterion.own_parameters();
        list.extend(match self.criterion {
            ForwardCriterion::Mrmr { .. } => self.estimator.field_parameters(&ESTIMATOR),
            _ => self.estimator.own_parameters(),
        });
        list
    }

    fn set(&mut self, parameters: &Parameters) -> Result<(), Error> {
        self.criterion.set_own(parameters)?;
        match self.criterion {
            ForwardCriterion::Mrmr { .. } => self.estimator.set_field(&ESTIMATOR, parameters),
            _ => self.estimator.set_own(parameters),
        }
    }

    fn check(&self) -> Result<(), Error> {
        self.criterion.check_own()?;
        self.estimator.check_own()
    }
}

impl Forward {
    /// With five bins of equal width.
    pub fn new(criterion: ForwardCriterion) -> Self {
        Self { criterion, estimator: Estimator::default() }
    }

    /// Selection by estimates that need no levels.
    fn select_continuous(
        &self,
        pairs: &impl Pairs,
        data: &Dataset,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        let id = self.criterion.word();
        if !matches!(self.criterion, ForwardCriterion::Mifs { .. } | ForwardCriterion::Mrmr { .. }) {
            let what = "an estimator without levels".to_owned();
            let instead =
                "it compares three variables; use the discrete estimator, or mifs or mrmr".to_owned();
            return Err(Error::Unsupported { method: id, what, instead });
        }
        let estimated = Estimated::new(data, self.criterion, pairs, id, true, context)?;
        let candidates = estimated.candidates();
        let n_constant = data.n_features() - candidates.len();
        let mut selection = forward(&estimated, candidates, data.n_features(), budget, context)?;
        add_notes(&mut selection, budget, n_constant, NO_OTHERS);
        Ok(selection)
    }
}

impl Selector for Forward {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        data.refuse_sample_weights(self.criterion.word())?;
        budget.check(data.n_features())?;
        self.check()?;
        self.estimator.check_samples(data.n_samples())?;
        let rule = match self.estimator {
            Estimator::Discrete(rule) => rule,
            Estimator::Parzen { bandwidth_factor } => {
                return self.select_continuous(&Parzen(bandwidth_factor), data, budget, context);
            }
            Estimator::Kraskov { neighbours } => {
                let search = Search::new(data.n_samples(), neighbours);
                return self.select_continuous(&search, data, budget, context);
            }
        };
        let coded = Coded::new(data, &rule, self.criterion.word(), context)?;
        let candidates: Vec<usize> =
            (0..data.n_features()).filter(|&k| !coded.features[k].is_constant()).collect();
        let n_constant = data.n_features() - candidates.len();
        let samples = Samples::new(data.n_samples() as u64, coded.rows.target_sum);
        let plug_in = PlugIn { criterion: self.criterion, coded, samples };
        let mut selection = forward(&plug_in, candidates, data.n_features(), budget, context)?;
        add_notes(&mut selection, budget, n_constant, NO_OTHERS);
        Ok(selection)
    }

    fn in_passes(&self) -> Option<&dyn PassSelector> {
        Some(self)
    }
}

struct PlugIn {
    criterion: ForwardCriterion,
    coded: Coded,
    samples: Samples,
}

/// What a candidate is judged with.
enum Partner {
    /// A selected feature.
    Feature(usize),
    /// The last selected feature with each of those before.
    Triples(Triples),
}

struct Triples {
    last: usize,
    /// The features before side by side, where their levels allow.
    before: Option<SideBySide>,
    /// Each of them with the last as one variable.
    joint: Vec<Variable>,
}

impl PlugIn {
    /// The term of candidate `k` with `partner`: for pairs the sum of all.
    fn term(&self, k: usize, partner: &Partner, scratch: &mut Scratch) -> f64 {
        let Coded { rows, features } = &self.coded;
        let k = &features[k];
        let triples = match partner {
            Partner::Feature(j) => return self.term_with(k, &features[*j], scratch),
            Partner::Triples(triples) => triples,
        };
        let beside = triples.before.as_ref();
        match beside
            .and_then(|before| joint_conditional_entropies(rows, k, &features[triples.last], before, scratch))
        {
            Some(entropies) => self.samples.all_jointly(triples.joint.len(), entropies),
            None => triples.joint.iter().map(|pair| self.term_with(k, pair, scratch)).sum(),
        }
    }

    fn term_with(&self, k: &Variable, j: &Variable, scratch: &mut Scratch) -> f64 {
        let Coded { rows, .. } = &self.coded;
        let alone = |of: &Variable| Alone { sum: of.sum, with_target: of.target_sum };
        let pair = if self.criterion.knows_pairs_only() {
            Sums { joint: joint_sum(rows, k, j, scratch), with_target: 0.0 }
        } else {
            sums(rows, k, j, scratch)
        };
        self.criterion.term(&self.samples, alone(k), alone(j), pair)
    }
}

impl forward::Criterion for PlugIn {
    type Partner = Partner;
    type Scratch = Scratch;

    fn relevance(&self, k: usize) -> f64 {
        self.coded.relevance(k)
    }

    fn restarts(&self, n_selected: usize) -> bool {
        self.criterion.restarts(n_selected)
    }

    fn start(&self, k: usize) -> f64 {
        self.criterion.start(self.relevance(k))
    }

    fn partners(&self, selected: &[usize]) -> Result<Vec<Partner>, Error> {
        let Some((&last, before)) = selected.split_last() else { return Ok(Vec::new()) };
        if self.criterion != ForwardCriterion::Jmi3 || before.is_empty() {
            return Ok(vec![Partner::Feature(last)]);
        }
        let Coded { rows, features } = &self.coded;
        let joint = |&i: &usize| Variable::joint(&features[i], &features[last], rows);
        let variables: Vec<&Variable> = before.iter().map(|&i| &features[i]).collect();
        let before_last = SideBySide::new(&variables, rows);
        Ok(vec![Partner::Triples(Triples {
            last,
            before: before_last,
            joint: before.iter().map(joint).collect(),
        })])
    }

    fn fold(&self, k: usize, fold: f64, partners: &[Partner], scratch: &mut Scratch) -> Result<f64, Error> {
        Ok(self.criterion.fold(fold, partners.iter().map(|partner| self.term(k, partner, scratch))))
    }

    fn value(&self, k: usize, fold: f64, n_selected: usize) -> f64 {
        self.criterion.value(self.relevance(k), fold, n_selected)
    }

    fn candidates_per_task(&self) -> usize {
        few_microseconds(self.samples.n as usize)
    }

    fn folds_bound(&self) -> bool {
        self.criterion.folds_bound()
    }
}
