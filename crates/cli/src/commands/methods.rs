//! `fewest methods`.

use fewest::registry::{Family, Kind, Method, Registry, TargetKind, nearest};

use crate::args::MethodsArgs;
use crate::failure::Failure;
use crate::output;
use crate::text::{Align, columns};

/// Lists the methods, or shows one.
pub(crate) fn methods(registry: &Registry, args: &MethodsArgs) -> Result<(), Failure> {
    match &args.id {
        Some(id) => output::print(&details(registry, registry.find(id)?)),
        None => output::print(&list(registry, args)?),
    }
}

/// The methods asked for, by family.
fn list(registry: &Registry, args: &MethodsArgs) -> Result<String, Failure> {
    let wanted = args.family.as_deref().map(family).transpose()?;
    let fits = |method: &&Method| {
        args.targets.is_none_or(|target| method.targets.contains(&target))
            && (!args.streams || method.arrives.is_some())
    };
    let families = Family::ALL.iter().map(Some).chain([None]);
    let mut out = String::new();
    for family in
        families.filter(|family| wanted.is_none_or(|wanted| family.is_some_and(|f| f.id == wanted.id)))
    {
        let own = |method: &&Method| registry.family(method).map(|f| f.id) == family.map(|f| f.id);
        let methods: Vec<&Method> = registry.methods().iter().filter(own).filter(fits).collect();
        if methods.is_empty() {
            continue;
        }
        let (id, title) =
            family.map_or(("other", "methods of this program"), |family| (family.id, family.title));
        out.push_str(&format!("{id}: {title}\n\n"));
        let mut rows = vec![["method", "gives", "for", "what it is", "formula"].map(str::to_owned).to_vec()];
        rows.extend(methods.into_iter().map(|method| {
            [method.id, method.kind.name(), &targets(method), method.title, method.formula]
                .map(str::to_owned)
                .to_vec()
        }));
        out.push_str(&columns(&rows, &[Align::Left; 5]));
        out.push('\n');
    }
    if out.is_empty() {
        return Err(Failure::new(
            "--for, --streams: no method of this family is such a one: leave out --family",
        ));
    }
    out.push_str("`fewest methods ID` shows a method's parameters; docs/which-method.md helps to choose.\n");
    Ok(out)
}

fn family(id: &str) -> Result<&'static Family, Failure> {
    Family::ALL.iter().find(|family| family.id == id).ok_or_else(|| {
        let ids: Vec<&str> = Family::ALL.iter().map(|family| family.id).collect();
        let near = nearest(id, &ids);
        let hint = near.first().map_or(String::new(), |near| format!(": did you mean `{near}`?"));
        Failure::new(format!("--family: there is no family `{id}`, but {}{hint}", ids.join(", ")))
    })
}

/// The targets in few words.
fn targets(method: &Method) -> String {
    let word = |target: &TargetKind| match target {
        TargetKind::None => "no target",
        TargetKind::Classes => "classes",
        TargetKind::Real | TargetKind::Outputs => "numbers",
        TargetKind::Survival => "survival",
        _ => "affinities",
    };
    let mut words: Vec<&str> = method.targets.iter().map(word).collect();
    words.dedup();
    if words.len() > 3 { "any".to_owned() } else { words.join(", ") }
}

fn details(registry: &Registry, method: &Method) -> String {
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
    if let Some(arrives) = method.arrives {
        text.push_str(&format!("stream: {} may arrive (`fewest stream`)\n", arrives.name()));
    }
    if method.needs_views {
        text.push_str("needs:  which features come from which source (--views)\n");
    }
    let names: Vec<&str> = registry.aliases(method).collect();
    if !names.is_empty() {
        text.push_str(&format!("also:   {}\n", names.join(", ")));
    }
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
        let all = MethodsArgs { id: None, targets: None, family: None, streams: false };
        let Ok(list) = list(registry, &all) else { panic!("there are methods") };
        for method in registry.methods() {
            assert!(list.contains(method.id) && list.contains(method.formula));
            let details = details(registry, method);
            assert!(registry.aliases(method).all(|alias| details.contains(alias)), "{details}");
            for parameter in method.parameters() {
                assert!(details.contains(parameter.name) && details.contains(&parameter.description()));
            }
        }
    }
}
