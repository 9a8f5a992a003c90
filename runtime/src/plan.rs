//! Decides, from the shapes of the arguments alone, whether and how a kernel is launched.
//!
//! `launch` and `simulate` share it, so that what a machine without a GPU accepts, a GPU accepts.

use crate::description::{Description, HostOp, IndexWidth, Param, ParamKind};
use crate::error::Error;
use crate::evaluate::{evaluate, holds};
use crate::scalar::{ScalarType, ScalarValue};
use tileproof_model::language::{INDEX_LIMIT, NARROW_LIMIT};
use tileproof_model::limits::MAX_GRID;

/// An argument, without its data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ArgumentShape<'a> {
    Tensor {
        element: ScalarType,
        mutable: bool,
        extents: &'a [usize],
        strides: &'a [usize],
        /// Elements from the first to one past the last.
        span: usize,
        /// The address of the first element.
        address: u64,
    },
    Scalar(ScalarValue),
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Blocks: x, y, z.
    pub(crate) grid: [u32; 3],
    /// Which twin.
    pub(crate) width: IndexWidth,
}

impl<'a> ArgumentShape<'a> {
    /// A tensor at an aligned address.
    #[cfg(test)]
    pub(crate) fn host(
        element: ScalarType,
        mutable: bool,
        extents: &'a [usize],
        strides: &'a [usize],
        span: usize,
    ) -> Self {
        ArgumentShape::Tensor { element, mutable, extents, strides, span, address: 0 }
    }

    pub(crate) fn extents(&self) -> Option<&'a [usize]> {
        match *self {
            ArgumentShape::Tensor { extents, .. } => Some(extents),
            ArgumentShape::Scalar(_) => None,
        }
    }

    pub(crate) fn strides(&self) -> Option<&'a [usize]> {
        match *self {
            ArgumentShape::Tensor { strides, .. } => Some(strides),
            ArgumentShape::Scalar(_) => None,
        }
    }

    fn matches(&self, kind: ParamKind) -> bool {
        match (self, kind) {
            (
                ArgumentShape::Tensor { element, mutable, extents, .. },
                ParamKind::Tensor { element: expected, rank, mutable: written, .. },
            ) => *element == expected && extents.len() == rank as usize && *mutable == written,
            (ArgumentShape::Scalar(value), ParamKind::Scalar(expected)) => value.scalar_type() == expected,
            (ArgumentShape::Tensor { .. }, ParamKind::Scalar(_))
            | (ArgumentShape::Scalar(_), ParamKind::Tensor { .. }) => false,
        }
    }

    /// The largest magnitude in it that index arithmetic may start from.
    fn largest_index(&self) -> Option<usize> {
        match self {
            ArgumentShape::Tensor { extents, strides, .. } => extents.iter().chain(*strides).copied().max(),
            ArgumentShape::Scalar(ScalarValue::Usize(value)) => Some(*value),
            ArgumentShape::Scalar(ScalarValue::Isize(value)) => Some(value.unsigned_abs()),
            ArgumentShape::Scalar(_) => None,
        }
    }

    fn is_narrow(&self) -> bool {
        match self {
            ArgumentShape::Tensor { extents, strides, span, .. } => {
                extents.iter().chain(*strides).chain([span]).all(|&n| (n as u64) < NARROW_LIMIT)
            }
            ArgumentShape::Scalar(ScalarValue::Usize(value)) => (*value as u64) < NARROW_LIMIT,
            ArgumentShape::Scalar(ScalarValue::Isize(value)) => (value.unsigned_abs() as u64) < NARROW_LIMIT,
            ArgumentShape::Scalar(_) => true,
        }
    }

    fn is_empty_output(&self) -> bool {
        match self {
            ArgumentShape::Tensor { mutable, span, .. } => *mutable && *span == 0,
            ArgumentShape::Scalar(_) => false,
        }
    }
}

/// Checks the arguments against the contracts and limits. `None` if there is no work: a grid or an output of no extent.
pub(crate) fn plan(
    description: &Description,
    arguments: &[ArgumentShape<'_>],
) -> Result<Option<Plan>, Error> {
    let kernel = description.name;
    let params = description.params;
    if params.len() != arguments.len() || !arguments.iter().zip(params).all(|(a, p)| a.matches(p.kind)) {
        return Err(Error::Arguments { kernel });
    }
    for check in description.checks {
        let holds = holds(check.condition, arguments).map_err(|source| Error::Arithmetic {
            kernel,
            expression: check.text,
            source,
        })?;
        if !holds {
            let values = values(check.condition, params, arguments);
            return Err(Error::Contract { kernel, contract: check.text, values });
        }
    }
    let Some(grid) = grid(description, arguments)? else { return Ok(None) };
    if arguments.iter().any(ArgumentShape::is_empty_output) {
        return Ok(None);
    }
    for (param, argument) in params.iter().zip(arguments) {
        if let Some(value) = argument.largest_index().filter(|value| *value as u64 >= INDEX_LIMIT) {
            return Err(Error::IndexTooLarge { kernel, parameter: param.name, value, limit: INDEX_LIMIT });
        }
        aligned(kernel, param, argument)?;
    }
    let narrow = description.narrow && arguments.iter().all(ArgumentShape::is_narrow);
    let width = if narrow { IndexWidth::Narrow } else { IndexWidth::Wide };
    Ok(Some(Plan { grid, width }))
}

/// The first of the kernels whose plan admits the arguments, or the last, which then says why it does not. `None` only of none.
pub(crate) fn first(
    kernels: &[&'static Description],
    arguments: &[ArgumentShape<'_>],
) -> Option<&'static Description> {
    let admits = |kernel: &&&'static Description| plan(kernel, arguments).is_ok();
    kernels.iter().find(admits).or(kernels.last()).copied()
}

fn grid(description: &Description, arguments: &[ArgumentShape<'_>]) -> Result<Option<[u32; 3]>, Error> {
    let kernel = description.name;
    let mut extents = [0i128; 3];
    for (axis, expression) in ["grid x", "grid y", "grid z"].into_iter().enumerate() {
        extents[axis] = evaluate(description.grid[axis], arguments).map_err(|source| Error::Arithmetic {
            kernel,
            expression,
            source,
        })?;
    }
    let names = ['x', 'y', 'z'];
    let out_of_range =
        |axis: usize| Error::Grid { kernel, axis: names[axis], blocks: extents[axis], limit: MAX_GRID[axis] };
    if let Some(axis) = extents.iter().position(|&blocks| blocks < 0) {
        return Err(out_of_range(axis));
    }
    if extents.contains(&0) {
        return Ok(None);
    }
    let mut grid = [0; 3];
    for axis in 0..3 {
        grid[axis] = u32::try_from(extents[axis])
            .ok()
            .filter(|&blocks| blocks <= MAX_GRID[axis])
            .ok_or_else(|| out_of_range(axis))?;
    }
    Ok(Some(grid))
}

fn aligned(kernel: &'static str, param: &Param, argument: &ArgumentShape<'_>) -> Result<(), Error> {
    match (argument, param.kind) {
        (&ArgumentShape::Tensor { address, span, .. }, ParamKind::Tensor { alignment, .. }) => {
            if span == 0 || address.is_multiple_of(u64::from(alignment.max(1))) {
                Ok(())
            } else {
                Err(Error::Misaligned { kernel, parameter: param.name, address, alignment })
            }
        }
        (
            ArgumentShape::Tensor { .. } | ArgumentShape::Scalar(_),
            ParamKind::Tensor { .. } | ParamKind::Scalar(_),
        ) => Ok(()),
    }
}

/// The arguments that a condition looks at, as text: `input.cols() = 7, output.rows() = 8`.
fn values(condition: &[HostOp], params: &[Param], arguments: &[ArgumentShape<'_>]) -> String {
    let mut seen: Vec<String> = Vec::new();
    for &op in condition {
        let (param, spell): (u32, &dyn Fn(&Param) -> String) = match op {
            HostOp::Extent(param, ref d) => (param, &|p| p.extent_text(*d)),
            HostOp::Stride(param, ref d) => (param, &|p| p.stride_text(*d)),
            HostOp::Scalar(param) => (param, &|p| p.name.to_owned()),
            _ => continue,
        };
        let (Some(param), Ok(value)) = (params.get(param as usize), evaluate(&[op], arguments)) else {
            continue;
        };
        let name = spell(param);
        let text = format!("{name} = {value}");
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{ArgumentShape, Plan, plan};
    use crate::description::HostOp::{self, Extent, Int, Less, Rem, Scalar, Sub};
    use crate::description::{Description, IndexWidth, LaunchCheck, Param, ParamKind};
    use crate::error::Error;
    use crate::scalar::{ScalarType, ScalarValue};
    use crate::testing::{COPY, tensor};

    fn matrix(mutable: bool, extents: &[usize; 2]) -> ArgumentShape<'_> {
        static STRIDES: [[usize; 2]; 3] = [[64, 1], [1 << 20, 1], [1 << 31, 1]];
        let strides = STRIDES.iter().find(|strides| strides[0] >= extents[1]).unwrap();
        let span = if extents.contains(&0) { 0 } else { (extents[0] - 1) * strides[0] + extents[1] };
        ArgumentShape::host(ScalarType::F32, mutable, extents, strides, span)
    }

    fn copy(extents: [usize; 2]) -> Result<Option<Plan>, Error> {
        plan(&COPY, &[matrix(false, &extents), matrix(true, &extents)])
    }

    #[test]
    fn grids_and_twins() {
        let narrow = |grid| Some(Plan { grid, width: IndexWidth::Narrow });
        assert_eq!(copy([9, 33]).unwrap(), narrow([2, 2, 1]));
        assert_eq!(copy([8, 32]).unwrap(), narrow([1, 1, 1]));
        // 2047 rows of 2²⁰ elements end below 2³¹, 2048 full ones do not
        assert_eq!(copy([2048, (1 << 20) - 1]).unwrap().unwrap().width, IndexWidth::Narrow);
        assert_eq!(copy([2048, 1 << 20]).unwrap().unwrap().width, IndexWidth::Wide);
        // one row, short, but with a stride that does not fit
        let (extents, strides) = ([1, 4], [1 << 31, 1]);
        let wide = |mutable| ArgumentShape::host(ScalarType::F32, mutable, &extents, &strides, 4);
        assert_eq!(plan(&COPY, &[wide(false), wide(true)]).unwrap().unwrap().width, IndexWidth::Wide);
        let only_wide = Description { narrow: false, ..COPY };
        let small = [matrix(false, &[8, 8]), matrix(true, &[8, 8])];
        assert_eq!(plan(&only_wide, &small).unwrap().unwrap().width, IndexWidth::Wide);
    }

    #[test]
    fn a_wide_scalar_needs_the_wide_twin() {
        const PARAMS: [Param; 1] = [Param { name: "n", kind: ParamKind::Scalar(ScalarType::Usize) }];
        let scalar = Description { params: &PARAMS, grid: [&[Int(1)]; 3], checks: &[], ..COPY };
        let width =
            |n| plan(&scalar, &[ArgumentShape::Scalar(ScalarValue::Usize(n))]).unwrap().unwrap().width;
        assert_eq!(width((1 << 31) - 1), IndexWidth::Narrow);
        assert_eq!(width(1 << 31), IndexWidth::Wide);
    }

    #[test]
    fn no_work_is_no_launch() {
        assert_eq!(copy([0, 32]).unwrap(), None);
        assert_eq!(copy([32, 0]).unwrap(), None);
        // no output, although the grid does not know
        let constant = Description { grid: [&[Int(1)]; 3], ..COPY };
        let empty = [matrix(false, &[0, 4]), matrix(true, &[0, 4])];
        assert_eq!(plan(&constant, &empty).unwrap(), None);
        // an empty grid wins over one that is too large, and contracts over both
        let grid: [&[HostOp]; 3] = [&[Int(0)], &[Int(65_536)], &[Int(1)]];
        let one = [matrix(false, &[1, 1]), matrix(true, &[1, 1])];
        assert_eq!(plan(&Description { grid, ..COPY }, &one).unwrap(), None);
        let unequal = [matrix(false, &[1, 0]), matrix(true, &[0, 0])];
        assert!(matches!(plan(&COPY, &unequal), Err(Error::Contract { .. })));
    }

    #[test]
    fn grids_that_are_too_large() {
        assert_eq!(copy([65_535 * 8, 1]).unwrap().unwrap().grid, [1, 65_535, 1]);
        let error = copy([65_536 * 8, 1]).unwrap_err();
        assert!(matches!(error, Error::Grid { axis: 'y', blocks: 65_536, limit: 65_535, .. }));
        let text = error.to_string();
        assert!(
            text.starts_with("`copy` would need 65536 blocks along y, and a grid has 0 to 65535 there"),
            "{text}"
        );
        let x = |blocks| Description { grid: [blocks, &[Int(1)], &[Int(1)]], ..COPY };
        let one = [matrix(false, &[1, 1]), matrix(true, &[1, 1])];
        assert_eq!(plan(&x(&[Int(2_147_483_647)]), &one).unwrap().unwrap().grid, [2_147_483_647, 1, 1]);
        assert!(matches!(plan(&x(&[Int(2_147_483_648)]), &one), Err(Error::Grid { axis: 'x', .. })));
        assert!(matches!(plan(&x(&[Int(-1)]), &one), Err(Error::Grid { blocks: -1, .. })));
    }

    #[test]
    fn contracts() {
        let error = plan(&COPY, &[matrix(false, &[8, 32]), matrix(true, &[9, 32])]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`copy` requires `output.rows() == input.rows()`, which does not hold: input.rows() = 8, output.rows() = 9; \
             pass arguments for which it holds, the proofs of the kernel rest on it"
        );
        let no_value = Description {
            checks: &[LaunchCheck { condition: &[Int(1), Extent(0, 1), Rem], text: "1 % input.cols()" }],
            ..COPY
        };
        let error = plan(&no_value, &[matrix(false, &[0, 0]), matrix(true, &[0, 0])]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "in `copy`, `1 % input.cols()` has no value for these arguments: `1 % 0` divides by zero"
        );
    }

    #[test]
    fn scalars_in_contracts() {
        const PARAMS: [Param; 2] =
            [tensor("x", true), Param { name: "halo", kind: ParamKind::Scalar(ScalarType::I32) }];
        let stencil = Description {
            params: &PARAMS,
            grid: [&[Int(1)]; 3],
            checks: &[LaunchCheck {
                condition: &[Int(0), Extent(0, 0), Scalar(1), Sub, Less],
                text: "halo < x.rows()",
            }],
            ..COPY
        };
        let shape = |halo| [matrix(true, &[4, 4]), ArgumentShape::Scalar(ScalarValue::I32(halo))];
        assert!(plan(&stencil, &shape(3)).unwrap().is_some());
        let error = plan(&stencil, &shape(4)).unwrap_err().to_string();
        assert!(error.contains("does not hold: x.rows() = 4, halo = 4; pass"), "{error}");
    }

    #[test]
    fn addresses() {
        let at = |address| {
            let tensor = |mutable, address| ArgumentShape::Tensor {
                element: ScalarType::F32,
                mutable,
                extents: &[4, 4],
                strides: &[4, 1],
                span: 16,
                address,
            };
            plan(&COPY, &[tensor(false, 256), tensor(true, address)])
        };
        assert!(at(0x7f00_0010).unwrap().is_some());
        let error = at(0x7f00_0008).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "`output` of `copy` begins at address 0x7f000008, which is not a multiple of 16 bytes"
            ),
            "{error}"
        );
    }

    #[test]
    fn arguments_of_another_kernel() {
        let (input, output) = (matrix(false, &[4, 4]), matrix(true, &[4, 4]));
        let vector = ArgumentShape::host(ScalarType::F32, false, &[4], &[1], 4);
        let double = ArgumentShape::host(ScalarType::F64, false, &[4, 4], &[4, 1], 16);
        let scalar = ArgumentShape::Scalar(ScalarValue::F32(1.0));
        for wrong in [
            &[input][..],
            &[input, input],
            &[output, output],
            &[vector, output],
            &[double, output],
            &[scalar, output],
        ] {
            assert!(matches!(plan(&COPY, wrong), Err(Error::Arguments { kernel: "copy" })), "{wrong:?}");
        }
    }
}
