//! The statistics: their names, what they take, and the scores that compute them.

use fewest_filters::information::Mim;
use fewest_filters::similarity::FisherScore;
use fewest_filters::statistical::{ChiSquare, CorrelationScore, FScore, Gini, TScore, Variance};
use fewest_filters::unordered::UnorderedScorer;

use crate::arguments::{Feature, Target};

/// An aggregate function, told by what it answers.
pub(crate) struct Statistic {
    pub(crate) name: &'static str,
    pub(crate) feature: Feature,
    pub(crate) target: Target,
    /// With its defaults.
    pub(crate) scorer: fn() -> Box<dyn UnorderedScorer>,
    pub(crate) answer: Answer,
}

impl std::fmt::Debug for Statistic {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name)
    }
}

/// Which number of a score a function answers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    Value,
    PValue,
}

/// All of them.
pub(crate) static STATISTICS: &[Statistic] = &[
    Statistic {
        name: "fewest_variance",
        feature: Feature::NumbersOrLevels,
        target: Target::Nothing,
        scorer: || Box::new(Variance),
        answer: Answer::Value,
    },
    F,
    Statistic { name: "fewest_f_p_value", answer: Answer::PValue, ..F },
    T,
    Statistic { name: "fewest_t_p_value", answer: Answer::PValue, ..T },
    Statistic { name: "fewest_fisher", scorer: || Box::new(FisherScore), ..T },
    CORRELATION,
    Statistic { name: "fewest_correlation_p_value", answer: Answer::PValue, ..CORRELATION },
    CHI2,
    Statistic { name: "fewest_chi2_p_value", answer: Answer::PValue, ..CHI2 },
    Statistic { name: "fewest_mutual_information", scorer: || Box::new(Mim::default()), ..CHI2 },
    Statistic { name: "fewest_gini", scorer: || Box::new(Gini::default()), ..CHI2 },
];

const F: Statistic = Statistic {
    name: "fewest_f",
    feature: Feature::NumbersOrLevels,
    target: Target::ClassesOrReal,
    scorer: || Box::new(FScore),
    answer: Answer::Value,
};

const T: Statistic = Statistic {
    name: "fewest_t",
    feature: Feature::NumbersOrLevels,
    target: Target::Classes,
    scorer: || Box::new(TScore::default()),
    answer: Answer::Value,
};

const CORRELATION: Statistic = Statistic {
    name: "fewest_correlation",
    feature: Feature::NumbersOrLevels,
    target: Target::RealOrTwoClasses,
    scorer: || Box::new(CorrelationScore::default()),
    answer: Answer::Value,
};

const CHI2: Statistic = Statistic {
    name: "fewest_chi2",
    feature: Feature::Levels,
    target: Target::Classes,
    scorer: || Box::new(ChiSquare::default()),
    answer: Answer::Value,
};
