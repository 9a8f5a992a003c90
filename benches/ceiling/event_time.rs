//! Criterion's measurement of a GPU: the time between two events of a stream.

use criterion::Throughput;
use criterion::measurement::{Measurement, ValueFormatter};
use std::sync::Arc;
use tileproof::cudarc::driver::CudaStream;
use tileproof::timing::{Mark, mark};

/// Nanoseconds that a stream's work took on the GPU. What is enqueued while the clock runs need not be waited for.
pub(crate) struct EventTime {
    stream: Arc<CudaStream>,
}

impl EventTime {
    pub(crate) fn new(stream: Arc<CudaStream>) -> EventTime {
        EventTime { stream }
    }
}

impl Measurement for EventTime {
    type Intermediate = Mark;
    type Value = f64;

    fn start(&self) -> Mark {
        mark(&self.stream).expect("the stream takes an event")
    }

    fn end(&self, start: Mark) -> f64 {
        let end = mark(&self.stream).expect("the stream takes an event");
        start.until(&end).expect("the stream's work succeeds").as_secs_f64() * 1e9
    }

    fn add(&self, a: &f64, b: &f64) -> f64 {
        a + b
    }

    fn zero(&self) -> f64 {
        0.0
    }

    fn to_f64(&self, value: &f64) -> f64 {
        *value
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &Format
    }
}

/// Microseconds, and decimal GB/s, the unit of data sheets.
struct Format;

impl ValueFormatter for Format {
    fn scale_values(&self, _typical: f64, values: &mut [f64]) -> &'static str {
        for value in values {
            *value /= 1e3;
        }
        "µs"
    }

    fn scale_throughputs(&self, _typical: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        // a quantity in one nanosecond is as many billions in a second
        let (quantity, unit) = match *throughput {
            Throughput::Bytes(bytes)
            | Throughput::BytesDecimal(bytes)
            | Throughput::ElementsAndBytes { bytes, .. } => (bytes, "GB/s"),
            Throughput::Bits(bits) => (bits, "Gbit/s"),
            Throughput::Elements(elements) => (elements, "Gelem/s"),
        };
        for value in values {
            *value = quantity as f64 / *value;
        }
        unit
    }

    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        "ns"
    }
}
