//! A statistic as an aggregate function.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{Result, ScalarValue, not_impl_err, plan_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use fewest_core::{Error as CoreError, State};

use crate::arguments::{Target, coerced};
use crate::error::{Error, corrupt};
use crate::statistics::{Answer, Statistic};
use crate::sums::Sums;

/// One of the [statistics](crate::statistics), as DataFusion sees it.
#[derive(Debug)]
pub(crate) struct Function {
    statistic: &'static Statistic,
    signature: Signature,
}

impl Function {
    pub(crate) fn new(statistic: &'static Statistic) -> Self {
        Self { statistic, signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// No two statistics have one name.
impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.statistic.name == other.statistic.name
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.statistic.name.hash(state);
    }
}

impl AggregateUDFImpl for Function {
    fn name(&self) -> &str {
        self.statistic.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let Statistic { name, feature, target, .. } = *self.statistic;
        coerced(name, feature, target, types)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = format_state_name(arguments.name, "sums");
        Ok(vec![Arc::new(Field::new(name, DataType::Binary, false))])
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let name = self.statistic.name;
        if arguments.is_distinct {
            return not_impl_err!("{name}(DISTINCT …): every row counts; select distinct rows first");
        }
        let types: Vec<DataType> =
            arguments.expr_fields.iter().map(|field| field.data_type().clone()).collect();
        // Those of a plan that was made elsewhere are checked here, too.
        let needed = self.coerce_types(&types)?;
        match types.as_slice() {
            [x, y @ ..] if needed == types => {
                let sums = Sums::new(x, y.first());
                Ok(Box::new(Running { statistic: self.statistic, sums }))
            }
            _ => plan_err!("{name}: the plan gives {types:?}, but must cast them to {needed:?}"),
        }
    }
}

/// The sums of one group, while its rows come.
#[derive(Debug)]
struct Running {
    statistic: &'static Statistic,
    sums: Sums,
}

impl Accumulator for Running {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        match columns {
            [x, y @ ..] => self.sums.add(self.statistic.name, x, y.first()),
            [] => Ok(()),
        }
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let function = self.statistic.name;
        let failed = |error| Error::Score { function, error };
        let states = states.first().and_then(|states| states.as_binary_opt::<i32>());
        for mut from in states.ok_or_else(|| failed(corrupt("no column of bytes")))?.iter().flatten() {
            let sums = Sums::load(&mut from).map_err(failed)?;
            if !from.is_empty() {
                Err(failed(corrupt("more bytes than sums have")))?;
            }
            self.sums.merge(&sums).map_err(failed)?;
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut bytes = Vec::new();
        self.sums.save(&mut bytes);
        Ok(vec![ScalarValue::Binary(Some(bytes))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let Statistic { name: function, target, scorer, answer, .. } = *self.statistic;
        let sums = self.sums.unordered(function)?;
        if target != Target::Nothing && !sums.target_varies() {
            return Ok(ScalarValue::Float64(None));
        }
        let scores = match scorer().score_unordered(&sums) {
            // As of an empty table: there are not the rows that define it.
            Err(CoreError::TooFew { .. }) => return Ok(ScalarValue::Float64(None)),
            scores => scores.map_err(|error| Error::Score { function, error })?,
        };
        let values = match answer {
            Answer::Value => Some(scores.values),
            Answer::PValue => scores.p_values,
        };
        let value = values.and_then(|values| values.first().copied()).filter(|value| !value.is_nan());
        Ok(ScalarValue::Float64(value))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.sums.heap_bytes()
    }
}
