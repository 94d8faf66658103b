//! Methods whose parameters stand in a table here, until they stand at their options.

use fewest_core::Error;
use fewest_core::method::{self, Built, Kind, Parameters, Range, TargetKind};

/// A method with a table of parameters.
pub(super) struct Method {
    pub id: &'static str,
    pub title: &'static str,
    pub formula: &'static str,
    pub kind: Kind,
    pub targets: &'static [TargetKind],
    pub parameters: &'static [&'static [Parameter]],
    pub build: fn(&Parameters) -> Result<Built, Error>,
}

/// A parameter in a table.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub name: &'static str,
    pub default: Option<&'static str>,
    pub range: Range,
    pub meaning: &'static str,
}

impl Method {
    pub(super) fn registered(&'static self) -> method::Method {
        let parameters = self.parameters.iter().flat_map(|table| table.iter());
        method::Method::custom(
            self.kind,
            self.id,
            self.title,
            self.formula,
            self.targets,
            parameters.map(Parameter::typed).collect(),
            self.build,
        )
    }
}

impl Parameter {
    pub(crate) fn typed(&self) -> method::Parameter {
        let parameter = method::Parameter::new(self.name, self.range, self.meaning);
        method::Parameter {
            default: self.default.and_then(|text| self.range.parse(text)),
            decides_count: matches!(self.name, "lambda" | "lambda_ratio"),
            group_word: self.range.words().contains(&"group").then_some("group"),
            ..parameter
        }
    }
}
