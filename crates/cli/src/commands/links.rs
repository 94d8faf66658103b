//! Tables of links between samples: those that no method uses, and weights that have nothing to weigh.

use fewest::registry::{LinkTable, Method, Parameters, Registry};

use super::useless;
use crate::args::NetworkArgs;
use crate::failure::Failure;

/// Refuses a table of links that no method uses or weighs, and a weight that is given without its table.
pub(super) fn check(
    registry: &Registry,
    files: &NetworkArgs,
    methods: &[(&Method, &Parameters)],
) -> Result<(), Failure> {
    let Some((first, _)) = methods.first() else { return Ok(()) };
    // Links between authors before these: their weights are some of the authors', and the table of them is
    // the one to name.
    for (table, option, what, is_there) in [
        (LinkTable::Samples, "--links", "links between samples", files.links.is_some()),
        (LinkTable::Follows, "--follows", "links between authors", files.follows.is_some()),
        (LinkTable::Authors, "--authors", "authors of the samples", files.authors.is_some()),
    ] {
        let users: Vec<_> = methods
            .iter()
            .filter_map(|(method, parameters)| Some((method, parameters, method.weights_of(table)?)))
            .collect();
        let weighs = |parameters: &Parameters, name: &&&str| parameters.real(name).is_ok_and(|own| own > 0.0);
        if is_there {
            let is_weighed = |names: &[&str], parameters| {
                names.is_empty() || names.iter().any(|name| weighs(parameters, &name))
            };
            match users.first() {
                None => {
                    return Err(useless(registry, option, first, |other| other.weights_of(table).is_some()));
                }
                Some((method, _, names)) if !users.iter().any(|(_, own, names)| is_weighed(names, own)) => {
                    return Err(Failure::new(format!(
                        "{option}: {} gives them no weight: add --param {}=WEIGHT, or leave out {option}",
                        method.id,
                        names.join("=WEIGHT or ")
                    )));
                }
                Some(_) => {}
            }
        } else {
            for (method, parameters, names) in users {
                let given = names.iter().find(|name| parameters.is_given(name) && weighs(parameters, name));
                if let Some(name) = given {
                    return Err(Failure::new(format!(
                        "--param {name}: there are no {what}, so that it has no effect in {}: name a table of \
                         them with {option}, or leave out {name}",
                        method.id
                    )));
                }
            }
        }
    }
    Ok(())
}
