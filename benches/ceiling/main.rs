//! `cargo bench`: on a GPU, the groups `copy`, `transpose` and `permute` with their bandwidths, beside the driver's copy and ours, and
//! `hierarchy`, the labs' kernels; without one, the cost of compiling and of simulating kernels.
//!
//! Criterion runs one subject after another, so what it prints drifts with the machine. The shares of the copy that the
//! project quotes are taken in turns by `record`, the executable beside this bench.

mod event_time;
mod host;
mod labs;

use criterion::{BenchmarkGroup, Criterion, Throughput};
use event_time::EventTime;
use std::sync::Arc;
use std::time::Duration;
use tileproof::cublas::Cublas;
use tileproof::cudarc::driver::{CudaContext, CudaStream};
use tileproof::prelude::f16;
use tileproof::{device, nvrtc};
use tileproof_benches::case::{Case, Group, Kind};
use tileproof_benches::memory::{Memory, Windows};
use tileproof_benches::subjects::{Measured, subjects};

fn main() {
    match device::context(0).and_then(|context| nvrtc().map(|_| context)) {
        Ok(context) => on_gpu(&context),
        Err(reason) => {
            eprintln!(
                "SKIPPED, the groups copy, transpose, permute and hierarchy with their bandwidths: {reason}"
            );
            eprintln!("Instead, what needs no GPU: the macro's expansion and the simulator.");
            let mut criterion = Criterion::default().configure_from_args();
            host::expand(&mut criterion);
            host::simulate(&mut criterion);
            criterion.final_summary();
        }
    }
}

/// How long a benchmark takes: about this after half of it to warm up.
pub(crate) const TIME: Duration = Duration::from_millis(200);

/// Of the sizes of copies every so manieth is measured here; the record has all.
const COPIES: usize = 4;

fn on_gpu(context: &Arc<CudaContext>) {
    let info = device::DeviceInfo::of(context).expect("the device describes itself");
    eprintln!("{info}");
    let stream = context.default_stream();
    let cublas = Cublas::new(&stream).map(Arc::new);
    if let Err(reason) = &cublas {
        eprintln!("SKIPPED, cublasSgeam and cublasDgeam: {reason}");
    }
    let cublas = cublas.ok();
    let measurement = EventTime::new(stream.clone());
    let mut criterion = Criterion::default().with_measurement(measurement).configure_from_args();
    for group in Group::ALL {
        let mut timed = criterion.benchmark_group(group.name());
        timed.sample_size(20).warm_up_time(TIME / 2).measurement_time(TIME).nresamples(2000);
        let step = match group {
            Group::Copy => COPIES,
            Group::Transpose | Group::Permute => 1,
        };
        for case in group.cases().into_iter().step_by(step) {
            let run = match case.kind {
                Kind::F64 => bench::<f64>,
                Kind::F32 => bench::<f32>,
                Kind::F16 => bench::<f16>,
                Kind::U8 => bench::<u8>,
            };
            run(&mut timed, &stream, &case, info.l2_bytes, cublas.as_ref());
        }
        timed.finish();
    }
    labs::hierarchy(&mut criterion, &stream);
    criterion.final_summary();
}

fn bench<T: Measured>(
    group: &mut BenchmarkGroup<'_, EventTime>,
    stream: &Arc<CudaStream>,
    case: &Case,
    cache: usize,
    cublas: Option<&Arc<Cublas>>,
) {
    let windows = Windows::new(case.elements(), size_of::<T>(), cache);
    let mut memory = Memory::<T>::new(stream, windows.span()).expect("the case fits the GPU");
    memory.divide(windows);
    group.throughput(Throughput::BytesDecimal(case.moved_bytes()));
    for subject in subjects::<T>(case, cublas) {
        group.bench_function(format!("{case}/{}", subject.name), |bencher| {
            bencher.iter(|| {
                let (input, mut output) = memory.turn();
                (subject.enqueue)(stream, &input, &mut output).expect("it launches");
            });
        });
    }
}
