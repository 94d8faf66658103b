//! The cases of the filter benchmark.

use std::path::Path;

use fewest::core::{OnDemand, derive_seed};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

use crate::bench::cases::Files;
use crate::{Result, npy};

/// Relevant features, the first ones.
const INFORMATIVE: usize = 50;
/// The stream of the classes, which no feature has.
const CLASSES: u64 = u64::MAX;
/// The seed of all data.
const SEED: u64 = 0;

/// The kind of values in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bench) enum Values {
    /// Whole numbers from 0 to 4; an informative feature is a function of the class for a third of the
    /// samples.
    Levels,
    /// Standard normal; the mean of an informative feature rises by ½ from class to class.
    Normal,
}

/// A table with classes, drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bench) struct Source {
    /// The values.
    pub values: Values,
    /// Samples.
    pub n: usize,
    /// Features.
    pub d: usize,
    /// Classes of about equal size.
    pub classes: u32,
}

/// A program to measure against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bench) struct Peer {
    /// Its name in `experiments/peers/filters.py`.
    pub id: &'static str,
    /// Its name in the document.
    pub name: &'static str,
}

/// A figure that was measured elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::bench) struct Recorded {
    /// The package.
    pub name: &'static str,
    /// Its processor time.
    pub cpu_seconds: f64,
}

/// One method on one table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::bench) struct Case {
    /// A short name.
    pub name: &'static str,
    /// Our method.
    pub method: &'static str,
    /// Its parameters.
    pub params: &'static [&'static str],
    /// The data.
    pub source: Source,
    /// The programs run on the same data.
    pub peers: &'static [Peer],
    /// A package that is not run.
    pub recorded: Option<Recorded>,
}

/// Features to select, and those of scores that are compared.
pub(in crate::bench) const K: usize = 50;

const LEVELS: Source = Source { values: Values::Levels, n: 1000, d: 5000, classes: 3 };
const SQUARE: Source = normal(1000, 1000, 2);
const LONG: Source = normal(100_000, 500, 2);

/// Cases with the same table follow each other: the table is drawn once for them.
pub(in crate::bench) const CASES: &[Case] = &[
    Case {
        recorded: Some(Recorded { name: "praznik, JMI", cpu_seconds: 1.37 }),
        ..alone("jmi-n1000-d5000", "jmi", LEVELS)
    },
    Case {
        peers: &[Peer { id: "fast-select-mrmr", name: "fast-select, mRMR" }],
        recorded: Some(Recorded { name: "praznik, MRMR", cpu_seconds: 0.96 }),
        ..alone("mrmr-n1000-d5000", "mrmr", LEVELS)
    },
    Case {
        recorded: Some(Recorded { name: "praznik, CMIM", cpu_seconds: 0.68 }),
        ..alone("cmim-n1000-d5000", "cmim", LEVELS)
    },
    Case {
        peers: &[Peer { id: "mrmrs-fcq", name: "mrmrs" }],
        ..alone("fcq-n1000-d50000", "fcq", normal(1000, 50_000, 2))
    },
    Case {
        peers: &[Peer { id: "fast-select-relieff", name: "fast-select, ReliefF" }],
        ..alone("relieff-n1000-d1000", "relieff", SQUARE)
    },
    Case {
        peers: &[Peer { id: "fast-select-multisurf", name: "fast-select, MultiSURF" }],
        ..alone("multisurf-n1000-d1000", "multisurf", SQUARE)
    },
    Case {
        peers: &[Peer { id: "fast-select-relieff", name: "fast-select, ReliefF" }],
        ..alone("relieff-n10000-d500", "relieff", normal(10_000, 500, 2))
    },
    Case {
        peers: &[
            Peer { id: "scikit-learn-f-classif-rows", name: "scikit-learn, f_classif, row by row" },
            Peer { id: "scikit-learn-f-classif-columns", name: "scikit-learn, f_classif, column by column" },
        ],
        ..alone("f-score-n10000-d10000", "f-score", normal(10_000, 10_000, 3))
    },
    alone("mrmr-n100000-d500", "mrmr", LONG),
    alone("jmi-n100000-d500", "jmi", LONG),
    alone("f-score-n100000-d500", "f-score", LONG),
    alone("fisher-n100000-d500", "fisher", LONG),
];

const fn normal(n: usize, d: usize, classes: u32) -> Source {
    Source { values: Values::Normal, n, d, classes }
}

/// A case without another program.
const fn alone(name: &'static str, method: &'static str, source: Source) -> Case {
    let params: &[&str] = match source.values {
        Values::Levels => &["integers=levels"],
        Values::Normal => &[],
    };
    Case { name, method, params, source, peers: &[], recorded: None }
}

impl Source {
    /// The bytes of the values, 8 each.
    pub(super) fn bytes(self) -> f64 {
        8.0 * self.n as f64 * self.d as f64
    }

    /// The table and the classes, written to `scratch`.
    pub(in crate::bench) fn files(self, scratch: &Path) -> Result<Files> {
        let classes = self.draw_classes();
        let table = OnDemand::new(self.n, self.d, |j, out: &mut [f64]| {
            self.draw_feature(j, &classes, out);
            Ok(())
        });
        let (x, y) = (scratch.join("filters-x.npy"), scratch.join("filters-y.npy"));
        npy::write_table(&x, &table)?;
        npy::write_vector(&y, &classes.iter().map(|&class| f64::from(class)).collect::<Vec<_>>())?;
        Ok(Files { x, y: Some(y) })
    }

    fn draw_classes(self) -> Vec<u32> {
        let mut rng = ChaCha8Rng::seed_from_u64(derive_seed(SEED, CLASSES));
        (0..self.n).map(|_| rng.random_range(0..self.classes)).collect()
    }

    fn draw_feature(self, j: usize, classes: &[u32], out: &mut [f64]) {
        let mut rng = ChaCha8Rng::seed_from_u64(derive_seed(SEED, j as u64));
        let is_informative = j < INFORMATIVE;
        for (value, &class) in out.iter_mut().zip(classes) {
            *value = match self.values {
                Values::Levels => {
                    let (level, follows) = (rng.random_range(0..5_u32), rng.random_bool(1.0 / 3.0));
                    f64::from(if is_informative && follows { (class + j as u32) % 5 } else { level })
                }
                Values::Normal => {
                    let noise: f64 = StandardNormal.sample(&mut rng);
                    if is_informative { 0.5 * f64::from(class) + noise } else { noise }
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn tables_are_the_same_at_every_draw_and_have_the_levels_they_promise() {
        let source = Source { n: 200, d: 60, ..LEVELS };
        let classes = source.draw_classes();
        assert_eq!(classes, source.draw_classes());
        assert_eq!(classes.iter().collect::<BTreeSet<_>>().len(), 3);
        let draw = |j: usize| {
            let mut out = vec![0.0; 200];
            source.draw_feature(j, &classes, &mut out);
            out
        };
        assert_eq!(draw(3), draw(3));
        let levels: BTreeSet<u64> = draw(55).iter().map(|value| *value as u64).collect();
        assert_eq!(levels, BTreeSet::from([0, 1, 2, 3, 4]));
    }

    #[test]
    fn names_are_unique_and_methods_exist() {
        assert_eq!(CASES.iter().map(|case| case.name).collect::<BTreeSet<_>>().len(), CASES.len());
        for case in CASES {
            let method = fewest::registry::Registry::standard().find(case.method).unwrap();
            fewest::registry::Parameters::parse(method, case.params).unwrap();
        }
    }
}
