//! Strides and offsets.

use super::{holds, in_turns, input};
use crate::memory::failed;
use crate::record::rounded;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::sync::Arc;
use tileproof::Counts;
use tileproof::cudarc::driver::CudaStream;
use tileproof::prelude::*;
use tileproof::report::{Role, Space};
use tileproof_examples::kernels::copies::offset_copy;
use tileproof_examples::kernels::strides::column_copy;

/// Strides, in floats.
const STRIDES: [usize; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 28, 32];

/// Offsets, in floats.
const OFFSETS: std::ops::RangeInclusive<usize> = 0..=32;

/// Elements that are written by the strided copies.
const STRIDED: usize = 1 << 25;

/// Elements that are written by the shifted copies.
const SHIFTED: usize = 1 << 27;

/// Elements that are simulated.
const SIMULATED: usize = 4096;

/// Bytes of a sector.
const SECTOR: usize = 32;

/// A copy of every so manieth element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stride {
    /// The stride, in floats.
    pub stride: usize,
    /// Sectors of a warp's load, by the simulator.
    pub sectors_a_request: f64,
    /// The median.
    pub microseconds: f64,
    /// The time in microseconds, if bytes cost what they cost at stride 1 and sectors are read alone.
    pub predicted_by_sectors: f64,
    /// Likewise, if memory is read in aligned pairs of sectors.
    pub predicted_by_pairs: f64,
    /// Whether the result was what it should be.
    pub right: bool,
}

/// A copy from so many elements on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offset {
    /// The offset, in floats.
    pub offset: usize,
    /// Sectors of a warp's load, by the simulator.
    pub sectors_a_request: f64,
    /// The median.
    pub microseconds: f64,
    /// Whether the result was what it should be.
    pub right: bool,
}

/// The sectors of a warp's load of global memory.
fn sectors_a_request(counts: &Counts) -> f64 {
    let read = counts.total(Space::Global, Role::Read);
    read.sectors as f64 / read.instructions as f64
}

fn strided_sectors(stride: usize) -> Result<f64, Box<dyn Error>> {
    let (data, mut out) = (vec![0.0; SIMULATED * stride], vec![0.0; SIMULATED]);
    let input = HostTensor::new(&data, [SIMULATED, stride])?;
    let counts = column_copy::simulate(&input, &mut HostTensorMut::new(&mut out, [SIMULATED])?)?;
    Ok(sectors_a_request(&counts))
}

fn shifted_sectors(offset: usize) -> Result<f64, Box<dyn Error>> {
    let (data, mut out) = (vec![0.0; SIMULATED + offset], vec![0.0; SIMULATED]);
    let input = HostTensor::new(&data, [SIMULATED + offset])?;
    let counts = offset_copy::simulate(offset, &input, &mut HostTensorMut::new(&mut out, [SIMULATED])?)?;
    Ok(sectors_a_request(&counts))
}

/// The bytes that a copy of `elements` floats moves, if memory is read in aligned pieces of `piece` bytes.
fn moved(elements: usize, stride: usize, piece: usize) -> f64 {
    let (useful, spanned) = (4 * elements, 4 * elements * stride);
    let pieces = (spanned / piece).min(elements);
    (pieces * piece + useful) as f64
}

pub(super) fn strides(stream: &Arc<CudaStream>) -> Result<Vec<Stride>, Box<dyn Error>> {
    let widest = STRIDES.into_iter().max().unwrap_or(1);
    let memory = input(stream, STRIDED * widest)?;
    let mut output = stream.alloc_zeros::<f32>(STRIDED).map_err(failed("allocate the output"))?;
    let run = |stride: usize, output: &mut _| {
        let input = TensorView::new(&memory, [STRIDED, stride])?;
        column_copy::launch(stream, &input, &mut TensorViewMut::new(output, [STRIDED])?)
    };
    let mut right = Vec::new();
    for stride in STRIDES {
        run(stride, &mut output)?;
        right.push(holds(stream, &output, |i| i * stride)?);
    }
    let times = in_turns(stream, STRIDES.len(), |index| run(STRIDES[index], &mut output))?;
    let a_byte = times[0] / moved(STRIDED, 1, SECTOR);
    STRIDES
        .into_iter()
        .zip(times)
        .zip(right)
        .map(|((stride, microseconds), right)| {
            let predicted = |piece| rounded(a_byte * moved(STRIDED, stride, piece), 1);
            Ok(Stride {
                stride,
                sectors_a_request: rounded(strided_sectors(stride)?, 3),
                microseconds: rounded(microseconds, 2),
                predicted_by_sectors: predicted(SECTOR),
                predicted_by_pairs: predicted(2 * SECTOR),
                right,
            })
        })
        .collect()
}

pub(super) fn offsets(stream: &Arc<CudaStream>) -> Result<Vec<Offset>, Box<dyn Error>> {
    let offsets: Vec<usize> = OFFSETS.collect();
    let elements = SHIFTED + OFFSETS.end();
    let memory = input(stream, elements)?;
    let mut output = stream.alloc_zeros::<f32>(SHIFTED).map_err(failed("allocate the output"))?;
    let run = |offset: usize, output: &mut _| {
        let input = TensorView::new(&memory, [elements])?;
        offset_copy::launch(stream, offset, &input, &mut TensorViewMut::new(output, [SHIFTED])?)
    };
    let mut right = Vec::new();
    for &offset in &offsets {
        run(offset, &mut output)?;
        right.push(holds(stream, &output, |i| i + offset)?);
    }
    let times = in_turns(stream, offsets.len(), |index| run(offsets[index], &mut output))?;
    offsets
        .into_iter()
        .zip(times)
        .zip(right)
        .map(|((offset, microseconds), right)| {
            Ok(Offset {
                offset,
                sectors_a_request: rounded(shifted_sectors(offset)?, 3),
                microseconds: rounded(microseconds, 2),
                right,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{moved, shifted_sectors, strided_sectors};

    #[test]
    fn a_stride_of_a_sector_leaves_each_lane_its_own() {
        let sectors = [1, 2, 3, 8, 32].map(|stride| strided_sectors(stride).expect("it runs"));
        assert_eq!(sectors[0], 4.0);
        assert_eq!(sectors[1], 8.0);
        assert!((12.0..=13.0).contains(&sectors[2]), "{sectors:?}");
        assert_eq!(sectors[3..], [32.0, 32.0]);
    }

    #[test]
    fn a_shift_costs_a_sector_unless_it_is_by_sectors() {
        for offset in 0..=32 {
            let expected = if offset % 8 == 0 { 4.0 } else { 5.0 };
            assert_eq!(shifted_sectors(offset).expect("it runs"), expected, "{offset}");
        }
    }

    #[test]
    fn bytes_that_are_moved() {
        let each = |stride, piece| moved(1024, stride, piece) / 1024.0;
        assert_eq!((each(1, 32), each(4, 32), each(8, 32), each(32, 32)), (8.0, 20.0, 36.0, 36.0));
        assert_eq!((each(1, 64), each(8, 64), each(16, 64), each(32, 64)), (8.0, 36.0, 68.0, 68.0));
    }
}
