//! Indices of register arrays and constant tables.

use super::lanes::Lanes;
use super::linear::Linear;
use super::truth::Value;
use super::walk::Walk;
use super::{RegisterFault, RegisterFaultKind};
use crate::ir::{Expr, ExprKind, Handle, Local, Scalar, Scope};
use crate::span::SpanId;

impl Walk<'_> {
    /// An access to a register array.
    pub(super) fn register_access(&mut self, local: Handle<Local>, index: &[Handle<Expr>], span: SpanId) {
        let kernel = self.kernel;
        for (index, extent) in index.iter().zip(&kernel.locals[local].extents) {
            self.register_index(*index, *extent, span);
        }
    }

    /// Notes an index of registers that is not one number known at compile time, or outside.
    pub(super) fn register_index(&mut self, index: Handle<Expr>, extent: u32, span: SpanId) {
        let known = match self.number_of(index) {
            Some(number) => Some(number),
            None => self.form(index).known_uniform(),
        };
        let kind = match known {
            Some(value) if (0..i64::from(extent)).contains(&value) => {
                if self.is_fixed(index, value) {
                    return;
                }
                RegisterFaultKind::Unknown
            }
            Some(index) => RegisterFaultKind::Outside { index, extent },
            None => RegisterFaultKind::Unknown,
        };
        self.register_fault(index, span, kind);
    }

    /// One fault an index, and one a place in the source.
    fn register_fault(&mut self, index: Handle<Expr>, span: SpanId, kind: RegisterFaultKind) {
        let is_known = |other: &RegisterFault| other.span == span || other.index == index;
        if !self.mask.is_empty() && !self.register_faults.iter().any(is_known) {
            self.register_faults.push(RegisterFault { span, index, kind });
        }
    }

    /// An element of a constant table: the index is inside, and the same for all lanes of a warp.
    pub(super) fn table_element(
        &mut self,
        local: Handle<Local>,
        elements: &[Handle<Expr>],
        index: &[Handle<Expr>],
        (scalar, span): (Scalar, SpanId),
    ) -> Value {
        let kernel = self.kernel;
        let mut place = Some(Linear::int(0));
        let mut scope = Scope::Block;
        let mut varying = None;
        for (index, extent) in index.iter().zip(&kernel.locals[local].extents) {
            let form = self.form(*index);
            let extent = i64::from(*extent);
            let room = form.scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(extent - 1));
            if !(self.holds(&form) && room.is_some_and(|room| self.holds(&room))) {
                self.register_fault(*index, span, RegisterFaultKind::TableUnbounded(extent as u32));
            }
            let own = self.symbols.scope(&form);
            if own < Scope::Warp {
                varying = varying.or(Some(*index));
            }
            scope = scope.min(own);
            place = place.and_then(|place| place.scale(&Lanes::Uniform(extent))?.add(&form));
        }
        if let Some(index) = varying {
            self.register_fault(index, span, RegisterFaultKind::TableVarying);
        }
        let integer = |element: &Handle<Expr>| match kernel.exprs[*element].kind {
            ExprKind::Int(value) => Some(value),
            _ => None,
        };
        let values: Option<Vec<i128>> = elements.iter().map(integer).collect();
        let Some(values) = values else {
            let name = || format!("an element of `{}`", kernel.locals[local].name);
            return self.opaque_from(scalar, scope, name);
        };
        let at = |place: i64| {
            let value = usize::try_from(place).ok().and_then(|place| values.get(place));
            // Out of range is an error already, or a thread that is not there.
            value.map_or(Some(0), |value| i64::try_from(*value).ok())
        };
        if let Some(known) = place.as_ref().and_then(Linear::known)
            && let Some(lanes) = known.map(at)
        {
            return Value::Int(Linear::constant(lanes));
        }
        let range = values
            .iter()
            .fold((i128::MAX, i128::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
        let form = self.between(range, scope, format!("an element of `{}`", kernel.locals[local].name));
        if scalar == Scalar::Usize || scalar == Scalar::Isize {
            self.keep_narrow(&form, scalar);
        }
        Value::Int(form)
    }

    /// Whether an index of registers is the same in every iteration of the loops around it that are not unrolled.
    fn is_fixed(&mut self, index: Handle<Expr>, value: i64) -> bool {
        let Walk { rolled, unrolled, mask, .. } = self;
        mask.is_empty()
            || rolled.iter_mut().all(|around| {
                let inside = unrolled.get(around.depth..).unwrap_or_default().to_vec();
                *around.indices.entry((index.index(), inside)).or_insert(value) == value
            })
    }
}
