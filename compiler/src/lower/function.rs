//! Methods and constants of numbers: the functions of the table, and what is said in other expressions.

use super::{Lower, Operand, Ty};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, BinaryOp, CompareOp, ExprKind, Function, Handle, Relation, Scalar, UnaryOp};
use crate::span::SpanId;
use quote::ToTokens;
use syn::Expr;
use tileproof_model::half;

type Value = Handle<ir::Expr>;

/// The largest exponent for which a power is written as products.
const MOST_PRODUCTS: i128 = 64;

/// Where a method is called: its name, and the call.
#[derive(Clone, Copy)]
pub(super) struct Method<'a> {
    pub(super) name: &'a str,
    pub(super) span: SpanId,
    pub(super) at: &'a dyn Tokens,
}

/// What errors point to.
pub(super) trait Tokens {
    fn tokens(&self) -> proc_macro2::TokenStream;
}

impl<T: ToTokens> Tokens for T {
    fn tokens(&self) -> proc_macro2::TokenStream {
        self.to_token_stream()
    }
}

impl Lower<'_> {
    /// A method of a number; `None` where numbers have none of this name.
    pub(super) fn number_method(
        &mut self,
        method: Method<'_>,
        receiver: Value,
        arguments: &[&Expr],
    ) -> Option<Operand> {
        let (ty, place) = (self.ty(receiver), self.here());
        let rest = match Function::named(method.name).map(|function| function.row().rest) {
            Some(rest) => rest.iter().map(|relation| Some(*relation)).collect(),
            None => vec![Some(Relation::Same); arguments.len()],
        };
        let hints: Vec<Option<Ty>> = rest
            .into_iter()
            .map(|relation| match relation {
                Some(Relation::Is(scalar)) => Some(Ty::scalar(self.terms.known(scalar))),
                Some(Relation::Same | Relation::Bits) | None => Some(ty),
            })
            .collect();
        let evaluated = self.in_order(arguments.iter().enumerate(), |lower, (i, argument)| {
            let hint = hints.get(i).copied().flatten();
            match lower.value(argument, hint) {
                Some(value) => Operand::Value(value),
                None => Operand::Poison,
            }
        });
        let receiver = self.as_at(place, receiver);
        let mut operands = vec![receiver];
        for operand in evaluated {
            let Operand::Value(value) = operand else { return Some(Operand::Poison) };
            operands.push(value);
        }
        self.method_of_values(method, &operands)
    }

    /// The same, of operands that have been evaluated.
    pub(super) fn method_of_values(&mut self, method: Method<'_>, operands: &[Value]) -> Option<Operand> {
        match self.derived_method(method, operands) {
            Some(Ok(value)) => Some(Operand::Value(value)),
            Some(Err(operand)) => Some(operand),
            None => {
                let function = Function::named(method.name)?;
                Some(self.apply(function, operands, method))
            }
        }
    }

    /// A call of a function of the table.
    pub(super) fn apply(&mut self, function: Function, operands: &[Value], method: Method<'_>) -> Operand {
        let row = function.row();
        let ty = self.ty(operands[0]);
        let known = self.terms.get(ty.term);
        let fits = match known {
            Some(scalar) => row.domain.holds(scalar),
            None if self.terms.is_integer(ty.term) => row.domain.holds(Scalar::I32),
            None => row.domain.holds(Scalar::F64),
        };
        if operands.len() != row.rest.len() + 1 {
            return self.mismatch(&method.at.tokens());
        }
        if !fits {
            return self.outside_domain(function, known, method);
        }
        if known.is_some_and(Scalar::is_half) && !function.is_of_halves() {
            let (name, ty) = (function.name(), known.map_or("f16", Scalar::name));
            return self.defer(
                Code::Type,
                &method.at.tokens(),
                format!("`{name}` is not a method of `{ty}`, which a GPU computes in `f32`"),
                &format!("write `{ty}::from_f32(x.to_f32().{name}())`"),
            );
        }
        for (operand, relation) in operands[1..].iter().zip(row.rest) {
            let other = self.ty(*operand);
            let wanted = match relation {
                Relation::Same | Relation::Bits => ty.term,
                Relation::Is(scalar) => self.terms.known(*scalar),
            };
            if other.vector.is_some() || !self.terms.unify(other.term, wanted) {
                return self.mismatch(&method.at.tokens());
            }
        }
        if ty.vector.is_some() {
            return self.mismatch(&method.at.tokens());
        }
        let term = match (row.result, known) {
            (Relation::Same, _) => ty.term,
            (Relation::Is(scalar), _) => self.terms.known(scalar),
            (Relation::Bits, Some(scalar)) => self.terms.known(Relation::Bits.of(scalar)),
            (Relation::Bits, None) => return self.mismatch(&method.at.tokens()),
        };
        Operand::Value(self.expr(ExprKind::Call(function, operands.to_vec()), Ty::scalar(term), method.span))
    }

    fn outside_domain(&mut self, function: Function, known: Option<Scalar>, method: Method<'_>) -> Operand {
        let (name, domain) = (function.name(), function.row().domain.text());
        match known {
            Some(scalar) if scalar.is_index() => {
                let help = match function {
                    Function::Pow => "give a constant exponent, or compute it with data: `(x as u64).pow(n)`",
                    _ => "compute it with data, and convert the result under a guard: `(x as u64)`",
                };
                let message = format!("`{name}` is a method of {domain}, and this is an index");
                let error = Diagnostic::new(Code::Type, method.span, message)
                    .note("index arithmetic must be proven to fit, and of this one nothing is known");
                self.diagnostics.report(error.help(help));
                Operand::Poison
            }
            Some(_) | None => self.defer(
                Code::Type,
                &method.at.tokens(),
                format!("`{name}` is a method of {domain}"),
                "convert the value first",
            ),
        }
    }

    /// `f32::from_bits(bits)`.
    pub(super) fn float_of_bits(&mut self, scalar: Scalar, bits: Value, method: Method<'_>) -> Operand {
        let own = self.terms.known(scalar);
        let wanted = self.terms.known(Relation::Bits.of(scalar));
        let ty = self.ty(bits);
        if !scalar.is_float() || ty.vector.is_some() || !self.terms.unify(ty.term, wanted) {
            return self.mismatch(&method.at.tokens());
        }
        Operand::Value(self.expr(
            ExprKind::Call(Function::FromBits, vec![bits]),
            Ty::scalar(own),
            method.span,
        ))
    }

    /// A method that is said in other expressions; `None` where it is none, the operand of an error where its operands do
    /// not fit.
    fn derived_method(&mut self, method: Method<'_>, operands: &[Value]) -> Option<Result<Value, Operand>> {
        let known = self.terms.get(self.ty(operands[0]).term);
        let is_integer = self.terms.is_integer(self.ty(operands[0]).term);
        let is_index = known.is_some_and(Scalar::is_index);
        let is_half = known.is_some_and(Scalar::is_half);
        let is_unsigned = known.is_some_and(|scalar| scalar.is_integer() && !scalar.is_signed());
        let mut build = Build { lower: self, method };
        let value = match (method.name, operands) {
            ("min", &[a, b]) => build.binary(BinaryOp::Min, a, b),
            ("max", &[a, b]) => build.binary(BinaryOp::Max, a, b),
            ("clamp", &[a, low, high]) if is_integer => {
                let above = build.binary(BinaryOp::Max, a, low);
                above.and_then(|above| build.binary(BinaryOp::Min, above, high))
            }
            // Unlike `max` and `min` it keeps NaN.
            ("clamp", &[a, low, high]) => build.clamp(a, low, high),
            ("abs", &[a]) if is_integer => build.magnitude(a),
            ("signum", &[a]) if is_integer => build.sign(a),
            ("signum", &[a]) => build.float_sign(a),
            ("fract", &[a]) => {
                let a = build.named(a);
                let whole = build.call(Function::Trunc, &[a]);
                whole.and_then(|whole| build.binary(BinaryOp::Sub, a, whole))
            }
            ("recip", &[a]) => build.float(1.0, a).and_then(|one| build.binary(BinaryOp::Div, one, a)),
            ("to_f32", &[a]) if is_half => build.cast(a, Scalar::F32),
            ("to_f64", &[a]) if is_half => build.cast(a, Scalar::F64),
            ("to_degrees", &[a]) => build.scaled(a, 57.295_779_513_082_32, 180.0 / std::f64::consts::PI),
            ("to_radians", &[a]) => {
                let single = std::f32::consts::PI / 180.0;
                build.scaled(a, f64::from(single), std::f64::consts::PI / 180.0)
            }
            ("sin_cos", &[a]) => {
                let a = build.named(a);
                let parts = [Function::Sin, Function::Cos].map(|function| build.call(function, &[a]));
                return Some(match parts {
                    [Ok(sin), Ok(cos)] => Err(Operand::Tuple(vec![Operand::Value(sin), Operand::Value(cos)])),
                    [Err(operand), _] | [_, Err(operand)] => Err(operand),
                });
            }
            ("log", &[a, base]) => {
                let (a, base) = (build.call(Function::Ln, &[a]), build.call(Function::Ln, &[base]));
                a.and_then(|a| build.binary(BinaryOp::Div, a, base?))
            }
            ("is_nan", &[a]) => {
                let a = build.named(a);
                build.compare(CompareOp::NotEqual, a, a)
            }
            ("is_infinite", &[a]) => build.against_infinity(a, CompareOp::Equal),
            ("is_finite", &[a]) => build.against_infinity(a, CompareOp::Less),
            ("is_sign_negative", &[a]) => build.sign_bit(a, CompareOp::Less),
            ("is_sign_positive", &[a]) => build.sign_bit(a, CompareOp::Greater),
            ("is_positive", &[a]) => {
                build.int(0, a).and_then(|zero| build.compare(CompareOp::Greater, a, zero))
            }
            ("is_negative", &[a]) => build.int(0, a).and_then(|zero| build.compare(CompareOp::Less, a, zero)),
            ("rem_euclid", &[a, b]) if is_unsigned => build.binary(BinaryOp::Rem, a, b),
            ("div_euclid", &[a, b]) if is_unsigned => build.binary(BinaryOp::Div, a, b),
            ("rem_euclid", &[a, b]) => build.rem_euclid(a, b, is_integer),
            ("div_euclid", &[a, b]) => build.div_euclid(a, b, is_integer),
            ("div_ceil", &[a, b]) => build.binary(BinaryOp::DivCeil, a, b),
            ("next_multiple_of", &[a, b]) => {
                let b = build.named(b);
                let quotient = build.binary(BinaryOp::DivCeil, a, b);
                quotient.and_then(|quotient| build.binary(BinaryOp::Mul, quotient, b))
            }
            ("is_multiple_of", &[a, b]) => {
                let remainder = build.binary(BinaryOp::Rem, a, b);
                remainder.and_then(|remainder| {
                    let zero = build.int(0, a)?;
                    build.compare(CompareOp::Equal, remainder, zero)
                })
            }
            ("is_power_of_two", &[a]) => {
                let ones = build.call(Function::CountOnes, &[a]);
                ones.and_then(|ones| {
                    let one = build.int(1, ones)?;
                    build.compare(CompareOp::Equal, ones, one)
                })
            }
            ("abs_diff", &[a, b]) => build.distance(a, b),
            ("unsigned_abs", &[a]) => build.magnitude(a).and_then(|a| build.unsigned(a)),
            ("count_zeros", &[a]) => build.not(a).and_then(|a| build.call(Function::CountOnes, &[a])),
            ("leading_ones", &[a]) => build.not(a).and_then(|a| build.call(Function::LeadingZeros, &[a])),
            ("trailing_ones", &[a]) => build.not(a).and_then(|a| build.call(Function::TrailingZeros, &[a])),
            ("wrapping_add", &[a, b]) if !is_index => build.binary(BinaryOp::Add, a, b),
            ("wrapping_sub", &[a, b]) if !is_index => build.binary(BinaryOp::Sub, a, b),
            ("wrapping_mul", &[a, b]) if !is_index => build.binary(BinaryOp::Mul, a, b),
            ("wrapping_div", &[a, b]) => build.binary(BinaryOp::Div, a, b),
            ("wrapping_rem", &[a, b]) => build.binary(BinaryOp::Rem, a, b),
            ("wrapping_shl", &[a, b]) => build.binary(BinaryOp::Shl, a, b),
            ("wrapping_shr", &[a, b]) => build.binary(BinaryOp::Shr, a, b),
            ("wrapping_neg", &[a]) => build.int(0, a).and_then(|zero| match is_index {
                true => build.call(Function::WrappingSub, &[zero, a]),
                false => build.binary(BinaryOp::Sub, zero, a),
            }),
            ("saturating_sub", &[a, b]) if is_unsigned => {
                let b = build.named(b);
                let larger = build.binary(BinaryOp::Max, a, b);
                larger.and_then(|larger| build.binary(BinaryOp::Sub, larger, b))
            }
            // Of indices every result is proven to fit.
            ("saturating_sub", &[a, b]) if is_index => build.binary(BinaryOp::Sub, a, b),
            ("saturating_add", &[a, b]) if is_index => build.binary(BinaryOp::Add, a, b),
            ("pow", &[a, n]) => match build.lower.kernel.exprs[n].kind {
                ExprKind::Int(n) if (0..=MOST_PRODUCTS).contains(&n) => build.power(a, n),
                _ => return None,
            },
            _ => return None,
        };
        Some(value)
    }
}

/// Builds expressions of one method's call.
struct Build<'b, 'a, 'm> {
    lower: &'b mut Lower<'a>,
    method: Method<'m>,
}

type Built = Result<Value, Operand>;

impl Build<'_, '_, '_> {
    fn value(&self, operand: Operand) -> Built {
        match operand {
            Operand::Value(value) => Ok(value),
            other => Err(other),
        }
    }

    fn mismatch(&mut self) -> Operand {
        self.lower.mismatch(&self.method.at.tokens())
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Built {
        let tokens = self.method.at.tokens();
        let operand = self.lower.arithmetic(op, a, b, self.method.span, &tokens);
        self.value(operand)
    }

    fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Built {
        let tokens = self.method.at.tokens();
        let operand = self.lower.compare(op, a, b, self.method.span, &tokens);
        self.value(operand)
    }

    fn call(&mut self, function: Function, operands: &[Value]) -> Built {
        let operand = self.lower.apply(function, operands, self.method);
        self.value(operand)
    }

    fn like(&mut self, kind: ExprKind, other: Value) -> Value {
        let ty = self.lower.ty(other);
        self.lower.expr(kind, ty, self.method.span)
    }

    /// An integer of the type of another value.
    fn int(&mut self, value: i128, other: Value) -> Built {
        let ty = self.lower.ty(other);
        if ty.vector.is_some() || !self.lower.terms.is_integer(ty.term) {
            return Err(self.mismatch());
        }
        Ok(self.like(ExprKind::Int(value), other))
    }

    /// A float of the type of another value, exact in every type of floats.
    fn float(&mut self, value: f64, other: Value) -> Built {
        let ty = self.lower.ty(other);
        if ty.vector.is_some() || !self.lower.terms.is_float(ty.term) {
            return Err(self.mismatch());
        }
        Ok(self.like(ExprKind::Float(value), other))
    }

    fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        self.like(ExprKind::Select(condition, yes, no), yes)
    }

    fn not(&mut self, a: Value) -> Built {
        let ty = self.lower.ty(a);
        if ty.vector.is_some() || !self.lower.terms.is_integer(ty.term) {
            return Err(self.mismatch());
        }
        Ok(self.like(ExprKind::Unary(UnaryOp::Not, a), a))
    }

    fn named(&mut self, a: Value) -> Value {
        self.lower.once(a, self.method.span)
    }

    fn clamp(&mut self, a: Value, low: Value, high: Value) -> Built {
        let [a, low, high] = [a, low, high].map(|value| self.named(value));
        let below = self.compare(CompareOp::Less, a, low)?;
        let above = self.compare(CompareOp::Greater, a, high)?;
        let inside = self.select(above, high, a);
        Ok(self.select(below, low, inside))
    }

    /// `|a|` of an integer; it wraps, as in a release build of Rust.
    fn magnitude(&mut self, a: Value) -> Built {
        let a = self.named(a);
        let ty = self.lower.ty(a);
        let signed = self.lower.terms.get(ty.term).is_none_or(Scalar::is_signed);
        if ty.vector.is_some() || !self.lower.terms.is_integer(ty.term) || !signed {
            return Err(self.mismatch());
        }
        let negated = self.like(ExprKind::Unary(UnaryOp::Negate, a), a);
        self.binary(BinaryOp::Max, a, negated)
    }

    fn sign(&mut self, a: Value) -> Built {
        let a = self.named(a);
        let (zero, one, less) = (self.int(0, a)?, self.int(1, a)?, self.int(-1, a)?);
        let positive = self.compare(CompareOp::Greater, a, zero)?;
        let negative = self.compare(CompareOp::Less, a, zero)?;
        let rest = self.select(negative, less, zero);
        Ok(self.select(positive, one, rest))
    }

    fn float_sign(&mut self, a: Value) -> Built {
        let a = self.named(a);
        let one = self.float(1.0, a)?;
        let sign = self.call(Function::Copysign, &[one, a])?;
        let nan = self.compare(CompareOp::NotEqual, a, a)?;
        Ok(self.select(nan, a, sign))
    }

    fn sign_bit(&mut self, a: Value, op: CompareOp) -> Built {
        let (one, zero) = (self.float(1.0, a)?, self.float(0.0, a)?);
        let sign = self.call(Function::Copysign, &[one, a])?;
        self.compare(op, sign, zero)
    }

    fn against_infinity(&mut self, a: Value, op: CompareOp) -> Built {
        let infinity = self.float(f64::INFINITY, a)?;
        let magnitude = self.call(Function::Abs, &[a])?;
        self.compare(op, magnitude, infinity)
    }

    /// The product with a number that Rust holds in another precision for each type.
    fn scaled(&mut self, a: Value, single: f64, double: f64) -> Built {
        let ty = self.lower.ty(a);
        let factor = match self.lower.terms.get(ty.term) {
            Some(Scalar::F64) | None => double,
            Some(_) => f64::from(single as f32),
        };
        let factor = self.float(factor, a)?;
        self.binary(BinaryOp::Mul, a, factor)
    }

    fn rem_euclid(&mut self, a: Value, b: Value, is_integer: bool) -> Built {
        let b = self.named(b);
        let remainder = self.binary(BinaryOp::Rem, a, b)?;
        let remainder = self.named(remainder);
        let zero = self.zero(a, is_integer)?;
        let magnitude = if is_integer { self.magnitude(b)? } else { self.call(Function::Abs, &[b])? };
        let negative = self.compare(CompareOp::Less, remainder, zero)?;
        let moved = self.binary(BinaryOp::Add, remainder, magnitude)?;
        Ok(self.select(negative, moved, remainder))
    }

    fn div_euclid(&mut self, a: Value, b: Value, is_integer: bool) -> Built {
        let (a, b) = (self.named(a), self.named(b));
        let mut quotient = self.binary(BinaryOp::Div, a, b)?;
        if !is_integer {
            quotient = self.call(Function::Trunc, &[quotient])?;
        }
        let quotient = self.named(quotient);
        let remainder = self.binary(BinaryOp::Rem, a, b)?;
        let zero = self.zero(a, is_integer)?;
        let one = if is_integer { self.int(1, a)? } else { self.float(1.0, a)? };
        let negative = self.compare(CompareOp::Less, remainder, zero)?;
        let positive = self.compare(CompareOp::Greater, b, zero)?;
        let (down, up) =
            (self.binary(BinaryOp::Sub, quotient, one)?, self.binary(BinaryOp::Add, quotient, one)?);
        let moved = self.select(positive, down, up);
        Ok(self.select(negative, moved, quotient))
    }

    fn zero(&mut self, other: Value, is_integer: bool) -> Built {
        if is_integer { self.int(0, other) } else { self.float(0.0, other) }
    }

    /// `max(a, b) - min(a, b)`, unsigned.
    fn distance(&mut self, a: Value, b: Value) -> Built {
        let (a, b) = (self.named(a), self.named(b));
        let high = self.binary(BinaryOp::Max, a, b)?;
        let low = self.binary(BinaryOp::Min, a, b)?;
        let distance = self.binary(BinaryOp::Sub, high, low)?;
        self.unsigned(distance)
    }

    fn cast(&mut self, a: Value, to: Scalar) -> Built {
        if self.lower.ty(a).vector.is_some() {
            return Err(self.mismatch());
        }
        let ty = Ty::scalar(self.lower.terms.known(to));
        Ok(self.lower.expr(ExprKind::Cast(a), ty, self.method.span))
    }

    /// The value in the unsigned type of its size.
    fn unsigned(&mut self, a: Value) -> Built {
        let ty = self.lower.ty(a);
        let to = match self.lower.terms.get(ty.term) {
            Some(Scalar::I8) => Scalar::U8,
            Some(Scalar::I16) => Scalar::U16,
            Some(Scalar::I32) | None => Scalar::U32,
            Some(Scalar::I64) => Scalar::U64,
            Some(Scalar::Isize) => Scalar::Usize,
            Some(_) => return Ok(a),
        };
        let ty = Ty::scalar(self.lower.terms.known(to));
        Ok(self.lower.expr(ExprKind::Cast(a), ty, self.method.span))
    }

    /// `a` times itself, `n` factors in all.
    fn power(&mut self, a: Value, n: i128) -> Built {
        if !self.lower.terms.is_integer(self.lower.ty(a).term) {
            return Err(self.mismatch());
        }
        let base = self.named(a);
        let mut product = self.int(1, base)?;
        for bit in (0..i128::BITS - n.leading_zeros()).rev() {
            product = self.named(product);
            product = self.binary(BinaryOp::Mul, product, product)?;
            if n >> bit & 1 == 1 {
                product = self.binary(BinaryOp::Mul, product, base)?;
            }
        }
        Ok(product)
    }
}

/// The value of a constant of a number type, such as `f32::INFINITY`.
pub(super) fn associated_constant(scalar: Scalar, name: &str) -> Option<(ExprKind, Scalar)> {
    if name == "BITS" && scalar.is_integer() {
        return Some((ExprKind::Int((8 * scalar.bytes()).into()), Scalar::U32));
    }
    if let Some((least, most)) = scalar.range() {
        let value = match name {
            "MIN" => least,
            "MAX" => most,
            _ => return None,
        };
        return Some((ExprKind::Int(value), scalar));
    }
    let half = match (name, scalar.is_half()) {
        ("ZERO", true) => Some(0.0),
        ("NEG_ZERO", true) => Some(-0.0),
        ("ONE", true) => Some(1.0),
        ("NEG_ONE", true) => Some(-1.0),
        _ => None,
    };
    if let Some(value) = half {
        return Some((ExprKind::Float(value), scalar));
    }
    let (max, min_positive, epsilon) = match scalar {
        Scalar::F16 => (65_504.0, f64::powi(2.0, -14), f64::powi(2.0, -10)),
        Scalar::Bf16 => {
            let max = half::BF16.value(0x7f7f);
            (max.into(), f64::powi(2.0, -126), f64::powi(2.0, -7))
        }
        Scalar::F32 => (f32::MAX.into(), f32::MIN_POSITIVE.into(), f32::EPSILON.into()),
        Scalar::F64 => (f64::MAX, f64::MIN_POSITIVE, f64::EPSILON),
        _ => return None,
    };
    let value = match name {
        "MAX" => max,
        "MIN" => -max,
        "MIN_POSITIVE" => min_positive,
        "EPSILON" => epsilon,
        "INFINITY" => f64::INFINITY,
        "NEG_INFINITY" => f64::NEG_INFINITY,
        "NAN" => f64::NAN,
        _ => return None,
    };
    Some((ExprKind::Float(value), scalar))
}

/// The value of a constant in `core::f32::consts` or `core::f64::consts`.
pub(super) fn math_constant(scalar: Scalar, name: &str) -> Option<ExprKind> {
    macro_rules! pick {
        ($($constant:ident)*) => {
            match (name, scalar) {
                $(
                    (stringify!($constant), Scalar::F32) => f64::from(std::f32::consts::$constant),
                    (stringify!($constant), Scalar::F64) => std::f64::consts::$constant,
                )*
                _ => return None,
            }
        };
    }
    let value = pick!(PI TAU E SQRT_2 LN_2 LN_10 LOG2_E LOG2_10 LOG10_E LOG10_2 FRAC_1_PI FRAC_2_PI FRAC_1_SQRT_2
        FRAC_2_SQRT_PI FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6 FRAC_PI_8);
    Some(ExprKind::Float(value))
}
