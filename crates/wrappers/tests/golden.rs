//! The scores of every round of the reference eliminations; their rankings are compared with those of all
//! methods.

use fewest_core::Context;
use fewest_core::method::KernelWidth;
use fewest_data::{Missing, ReadOptions, Table, Task};
use fewest_testkit::{datasets, golden};
use fewest_wrappers::{Kernel, Permutation, RecursiveElimination, Sensitivity, SensitivityNoise, Training};

#[test]
fn scores_of_every_round_are_those_of_the_reference() {
    let options = ReadOptions { task: Task::Regression, ..ReadOptions::with_target("target") };
    let table = Table::read(datasets::path("auto_mpg.csv"), &options).unwrap();
    let data = table.complete(Missing::DropRows).unwrap().dataset;
    let mut n_rounds = 0;
    for case in golden::load(&golden::committed(), "sd_").unwrap() {
        let Some(rounds) = case.extra.get("scores_at_each_step").and_then(|rounds| rounds.as_array()) else {
            continue;
        };
        let real = |name: &str| case.params[name].as_f64().unwrap();
        let noise =
            if case.method == "sd_l_rfe" { SensitivityNoise::Laplace } else { SensitivityNoise::Gaussian };
        let elimination = RecursiveElimination {
            training: Training {
                kernel: Kernel::Gaussian { sigma: KernelWidth::Value((0.5 / real("kappa")).sqrt()) },
                c: real("C"),
                epsilon: real("epsilon"),
                standardise_target: false,
                ..Training::default()
            },
            ..RecursiveElimination::new(Sensitivity {
                permutation: Permutation::Shift,
                ..Sensitivity::new(noise)
            })
        };
        let outcome = elimination.run(&data, 1, &Context::default()).unwrap();
        assert_eq!(outcome.ranking, case.ranking, "{}", case.name);
        let tolerance = case.tolerance.others["scores_at_each_step"].as_f64().unwrap();
        for (ours, theirs) in outcome.rounds.iter().zip(rounds) {
            n_rounds += 1;
            for (j, score) in ours.features.iter().zip(&ours.importances) {
                let expected = theirs[j.to_string()].as_f64().unwrap();
                assert!(
                    (score - expected).abs() < tolerance * expected,
                    "{} {j}: {score} {expected}",
                    case.name
                );
            }
        }
    }
    assert_eq!(n_rounds, 12);
}
