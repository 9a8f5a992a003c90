//! `cargo bench`: on a GPU, the bandwidth of the transpose ladder beside the copies; without one, the cost of compiling
//! and of simulating its kernels.
//!
//! Criterion runs one subject after another, so what it prints drifts with the machine. The shares of the copy that the
//! project quotes are taken in turns by `record`, the executable beside this bench.

mod event_time;
mod host;

use criterion::{Criterion, Throughput};
use event_time::EventTime;
use std::sync::Arc;
use std::time::Duration;
use tileproof::cudarc::driver::CudaContext;
use tileproof::{device, nvrtc};
use tileproof_benches::subjects::{Matrices, subjects};

fn main() {
    match device::context(0).and_then(|context| nvrtc().map(|_| context)) {
        Ok(context) => on_gpu(&context),
        Err(reason) => {
            eprintln!("SKIPPED, the group `transpose` with its bandwidths: {reason}");
            eprintln!("Instead, what needs no GPU: the macro's expansion and the simulator.");
            let mut criterion = Criterion::default().configure_from_args();
            host::expand(&mut criterion);
            host::simulate(&mut criterion);
            criterion.final_summary();
        }
    }
}

fn on_gpu(context: &Arc<CudaContext>) {
    let info = device::DeviceInfo::of(context).expect("the device describes itself");
    eprintln!("{info}");
    let stream = context.default_stream();
    let measurement = EventTime::new(stream.clone());
    let mut criterion = Criterion::default().with_measurement(measurement).configure_from_args();
    let mut matrices = Matrices::new(&stream, 8192, 8192).expect("8192 × 8192 fits the GPU");
    let mut group = criterion.benchmark_group("transpose");
    group.sample_size(30).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for subject in subjects() {
        group.throughput(Throughput::BytesDecimal(subject.bytes(&matrices)));
        group.bench_function(subject.name(), |bencher| {
            bencher.iter(|| subject.enqueue(&stream, &mut matrices).expect("it launches"));
        });
    }
    group.finish();
    criterion.final_summary();
}
