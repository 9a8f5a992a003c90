//! Bodies that attract each other, all pairs.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// The acceleration of each body by all of them: `bodies` holds x, y, z and the mass, `accelerations` x, y, z and nothing.
///
/// A block reads 256 bodies into a tile, and each of its threads then meets all 256: one read of a body serves a block, and
/// a read of the tile a warp. `softening` is the square of a length below which the attraction stops growing. The root and
/// the quotient are those of the CPU, bit for bit; `rsqrt` would be faster, and off by a unit or two in the last place.
#[tiled_kernel(
    block = [256],
    grid = [bodies.len().div_ceil(1024)],
    requires(bodies.len().is_multiple_of(4), accelerations.len() == bodies.len()),
)]
pub fn n_body(softening: f32, bodies: &Tensor<f32, 1>, accelerations: &mut Tensor<f32, 1>) {
    let mut tile = Shared::<[[f32; 4]; 256]>::new();
    let own = 4 * (block_x() * 256 + thread_x());
    let mut body = Vector::<f32, 4>::splat(0.0);
    if own < bodies.len() {
        body = bodies.read::<4>([own]);
    }

    let (mut x, mut y, mut z) = (0.0f32, 0.0f32, 0.0f32);
    for start in (0..bodies.len()).step_by(1024) {
        // a body without mass attracts nothing
        let mut other = Vector::<f32, 4>::splat(0.0);
        let place = start + 4 * thread_x();
        if place < bodies.len() {
            other = bodies.read::<4>([place]);
        }
        tile.write([thread_x(), 0], other);
        sync_threads();
        for k in 0..256 {
            let other = tile.read::<4>([k, 0]);
            let (dx, dy, dz) = (other[0] - body[0], other[1] - body[1], other[2] - body[2]);
            let square = dx * dx + dy * dy + dz * dz + softening;
            let pull = other[3] / (square * square.sqrt());
            x += pull * dx;
            y += pull * dy;
            z += pull * dz;
        }
        sync_threads();
    }

    if own < accelerations.len() {
        accelerations.write([own], Vector::new([x, y, z, 0.0]));
    }
}

fn reference(softening: f32, bodies: &Array<f32, 1>, accelerations: &mut Array<f32, 1>) {
    let count = bodies.len() / 4;
    let at = |i: usize| [0, 1, 2, 3].map(|k| if i < count { bodies[[4 * i + k]] } else { 0.0 });
    for i in 0..count {
        let body = at(i);
        let mut sums = [0.0f32; 3];
        for other in (0..count.next_multiple_of(256)).map(at) {
            let [dx, dy, dz] = [0, 1, 2].map(|k| other[k] - body[k]);
            let square = dx * dx + dy * dy + dz * dz + softening;
            let pull = other[3] / (square * square.sqrt());
            for (sum, distance) in sums.iter_mut().zip([dx, dy, dz]) {
                *sum += pull * distance;
            }
        }
        for (k, value) in sums.into_iter().chain([0.0]).enumerate() {
            accelerations[[4 * i + k]] = value;
        }
    }
}

/// [`n_body`] at numbers of bodies around a block's.
pub const N_BODY: Subject = subject! {
    kernel: n_body(value softening, read bodies, write accelerations),
    reference: reference,
    sizes: [n]: [0] [1] [97] [256] [257],
    counted: [512] [257] [1],
    data: |data| (0.01, data.random([4 * n]), data.output([4 * n])),
};
