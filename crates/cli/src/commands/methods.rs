//! `fewest methods`.

use fewest::registry::{Kind, Method, Registry};

use crate::args::MethodsArgs;
use crate::failure::Failure;
use crate::output;
use crate::text::{Align, columns};

/// Lists the methods, or shows one.
pub(crate) fn methods(registry: &Registry, args: &MethodsArgs) -> Result<(), Failure> {
    match &args.id {
        Some(id) => output::print(&details(registry.find(id)?)),
        None => output::print(&list(registry)),
    }
}

fn list(registry: &Registry) -> String {
    let mut rows = vec![["method", "gives", "formula"].map(str::to_owned).to_vec()];
    rows.extend(
        registry.methods().iter().map(|method| {
            vec![method.id.to_owned(), method.kind.name().to_owned(), method.formula.to_owned()]
        }),
    );
    let table = columns(&rows, &[Align::Left, Align::Left, Align::Left]);
    format!("{table}\n`fewest methods ID` shows a method's parameters.\n")
}

fn details(method: &Method) -> String {
    let gives = match method.kind {
        Kind::Score => "a score for every feature separately (`fewest score`, `fewest select`)",
        Kind::Select => "features chosen together (`fewest select`)",
        Kind::Sequence => "features chosen one after the other (`fewest select`)",
        _ => "features (`fewest select`)",
    };
    let targets: Vec<&str> = method.targets.iter().map(|target| target.name()).collect();
    let mut text = format!(
        "{}: {}\n\n{}\n\ngives:  {gives}\ntarget: {}\n",
        method.id,
        method.title,
        method.formula,
        targets.join(", ")
    );
    let mut rows = Vec::new();
    for parameter in method.parameters() {
        let default = parameter.default.as_ref().map_or(String::new(), |default| format!(" [{default}]"));
        let condition =
            parameter.condition().map_or(String::new(), |condition| format!(", where {condition}"));
        rows.push(vec![format!("  {}", parameter.name), format!("{}{default}{condition}", parameter.range)]);
        rows.push(vec![String::new(), parameter.description()]);
    }
    if !rows.is_empty() {
        text.push_str("\nparameters (--param NAME=VALUE), values allowed [default]:\n");
        text.push_str(&columns(&rows, &[Align::Left, Align::Left]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_listed_and_shown_with_its_parameters() {
        let registry = Registry::standard();
        let list = list(registry);
        for method in registry.methods() {
            assert!(list.contains(method.id) && list.contains(method.formula));
            let details = details(method);
            for parameter in method.parameters() {
                assert!(details.contains(parameter.name) && details.contains(&parameter.description()));
            }
        }
    }
}
