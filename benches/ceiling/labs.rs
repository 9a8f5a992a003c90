//! The group `hierarchy`: the labs' kernels. What is predicted of them stands in the record.

use super::TIME;
use crate::event_time::EventTime;
use criterion::{Criterion, Throughput};
use std::sync::Arc;
use tileproof::cudarc::driver::CudaStream;
use tileproof::prelude::*;
use tileproof_benches::content;
use tileproof_examples::kernels::chase::{cycle, pointer_chase};
use tileproof_examples::kernels::copies::offset_copy;
use tileproof_examples::kernels::strides::column_copy;

/// Steps of a walk.
const STEPS: usize = 4096;

/// Elements that the copies write: more than a second-level cache holds.
const ELEMENTS: usize = 1 << 25;

/// The chain of loads at working sets in each level, and copies by strides and offsets. The copies that differ in their bytes in
/// flight are in the group `copy`.
pub(crate) fn hierarchy(criterion: &mut Criterion<EventTime>, stream: &Arc<CudaStream>) {
    let mut group = criterion.benchmark_group("hierarchy");
    group.sample_size(20).warm_up_time(TIME / 2).measurement_time(TIME).nresamples(2000);
    let mut place = stream.alloc_zeros::<u32>(1).expect("memory");
    for kibibytes in [32, 4 << 10, 256 << 10] {
        let next = cycle((kibibytes << 10) / 128, 1);
        let next = stream.clone_htod(&next).expect("the chain fits the GPU");
        stream.memset_zeros(&mut place).expect("a cleared place");
        group.throughput(Throughput::Elements(STEPS as u64));
        group.bench_function(format!("chase/{kibibytes} KiB"), |bencher| {
            bencher.iter(|| {
                let next = TensorView::new(&next, [next.len()]).expect("a view");
                let mut place = TensorViewMut::new(&mut place, [1]).expect("a view");
                pointer_chase::launch(stream, STEPS, &next, &mut place).expect("it launches");
            });
        });
    }
    let input = stream.clone_htod(&content::elements::<f32>(0, 32 * ELEMENTS)).expect("it fits the GPU");
    let mut output = stream.alloc_zeros::<f32>(ELEMENTS).expect("it fits the GPU");
    group.throughput(Throughput::BytesDecimal(8 * ELEMENTS as u64));
    for stride in [1, 2, 4, 8, 16, 32] {
        group.bench_function(format!("stride/{stride}"), |bencher| {
            bencher.iter(|| {
                let input = TensorView::new(&input, [ELEMENTS, stride]).expect("a view");
                let mut output = TensorViewMut::new(&mut output, [ELEMENTS]).expect("a view");
                column_copy::launch(stream, &input, &mut output).expect("it launches");
            });
        });
    }
    for offset in [0, 1, 8, 13] {
        group.bench_function(format!("offset/{offset}"), |bencher| {
            bencher.iter(|| {
                let input = TensorView::new(&input, [ELEMENTS + offset]).expect("a view");
                let mut output = TensorViewMut::new(&mut output, [ELEMENTS]).expect("a view");
                offset_copy::launch(stream, offset, &input, &mut output).expect("it launches");
            });
        });
    }
    group.finish();
}
