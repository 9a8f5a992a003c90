//! The page of the labs.

use super::Page;
use super::ceiling::{binary, shown};
use super::plot::{Axis, Series, legend, lines};
use std::fmt::Write;
use tileproof_benches::hierarchy::{Flight, Labs, Stride};

pub(crate) const FILE: &str = "labs.md";

const TITLE: &str = "The levels of memory, measured";

/// The page of a record.
pub(crate) fn page(labs: &Labs) -> Page {
    let mut text = format!("# {TITLE}\n\n{HEAD}");
    let mut pictures = Vec::new();
    chase(&mut text, &mut pictures, labs);
    strides(&mut text, &mut pictures, labs);
    offsets(&mut text, &mut pictures, labs);
    flights(&mut text, &mut pictures, labs);
    let machine = &labs.machine;
    let _ = write!(
        text,
        "\n---\n\n{}, {}, driver {}: {}.\n",
        machine.gpu,
        machine.date,
        machine.driver.as_deref().unwrap_or("unknown"),
        labs.method
    );
    Page { file: FILE, title: TITLE, text, pictures }
}

const HEAD: &str = "Four small kernels that each ask memory one question. What the compiler or the simulator can say beforehand stands beside what the clock
said: the sectors of a request are counted on the CPU, the rest follows from the run's own copy.
";

fn chase(out: &mut String, pictures: &mut Vec<(String, String)>, labs: &Labs) {
    let _ = write!(
        out,
        "
## Latency: a chain of loads

```rust,ignore
{{{{#include ../../examples/src/kernels/chase.rs:pointer_chase}}}}
```

Each load says where the next one goes, so nothing can overlap, and one step takes as long as one load, the comparison and the address
included. A step is one request of one sector. The chain visits every 128-byte line of the working set once, in random order. As long
as the working set fits a level, that level answers: a multiprocessor's first-level cache has at least {}, the second-level cache
{}.

| working set | expected from | ns a step |
|---|---|--:|
",
        binary(labs.l1_bytes as f64),
        binary(labs.l2_bytes as f64)
    );
    let level = |bytes: usize| match bytes {
        _ if bytes <= labs.l1_bytes => "the first level",
        _ if bytes <= labs.l2_bytes => "the second level",
        _ => "memory",
    };
    for step in &labs.chase {
        if step.bytes.is_power_of_two() {
            let _ = writeln!(
                out,
                "| {} | {} | {:.1} |",
                binary(step.bytes as f64),
                level(step.bytes),
                step.nanoseconds
            );
        }
    }
    let points: Vec<(f64, f64)> =
        labs.chase.iter().map(|step| (step.bytes as f64, step.nanoseconds)).collect();
    let series = [Series { name: "a step".into(), points, joined: true }];
    let bytes = || labs.chase.iter().map(|step| step.bytes as f64);
    let most = labs.chase.iter().map(|step| step.nanoseconds).fold(1.0, f64::max);
    let x = Axis {
        title: "working set",
        range: bytes().fold(f64::INFINITY, f64::min) / 1.2..bytes().fold(1.0, f64::max) * 1.2,
        logarithmic: true,
        label: binary,
    };
    let y = Axis {
        title: "nanoseconds a step",
        range: 0.0..most * 1.05,
        logarithmic: false,
        label: |value| format!("{value:.0}"),
    };
    shown(out, pictures, "measured/labs-chase.svg", lines(&x, &y, &series), "");
}

fn strides(out: &mut String, pictures: &mut Vec<(String, String)>, labs: &Labs) {
    out.push_str(
        "
## Strides

```rust,ignore
{{#include ../../examples/src/kernels/strides.rs:column_copy}}
```

The column is read at a stride and written without one. Two predictions: bytes cost what they cost at stride 1, and memory is read in
sectors of 32 bytes, or in aligned pairs of them, 64 bytes.

| stride | sectors a load | µs | by sectors, µs | by pairs, µs |
|--:|--:|--:|--:|--:|
",
    );
    for it in &labs.strides {
        let _ = writeln!(
            out,
            "| {} | {:.2} | {:.1} | {:.1} | {:.1} |",
            it.stride, it.sectors_a_request, it.microseconds, it.predicted_by_sectors, it.predicted_by_pairs
        );
    }
    let series = |name: &str, value: fn(&Stride) -> f64, joined| Series {
        name: name.into(),
        points: labs.strides.iter().map(|it| (it.stride as f64, value(it))).collect(),
        joined,
    };
    let series = [
        series("measured", |it| it.microseconds, true),
        series("predicted by sectors", |it| it.predicted_by_sectors, true),
        series("predicted by pairs", |it| it.predicted_by_pairs, true),
    ];
    let most = series.iter().flat_map(|it| &it.points).map(|point| point.1).fold(1.0, f64::max);
    let x = Axis {
        title: "stride, in floats",
        range: 0.0..33.0,
        logarithmic: false,
        label: |value| format!("{value:.0}"),
    };
    let y = Axis {
        title: "microseconds",
        range: 0.0..most * 1.05,
        logarithmic: false,
        label: |value| format!("{value:.0}"),
    };
    shown(out, pictures, "measured/labs-strides.svg", lines(&x, &y, &series), &legend(&series));
}

fn offsets(out: &mut String, pictures: &mut Vec<(String, String)>, labs: &Labs) {
    out.push_str(
        "
## Offsets

The same copy from a few elements on. Unless the offset is a multiple of 8 floats, a warp's load touches a fifth sector; its
neighbour touches the same one, so a cache that still holds it saves the traffic to memory.

| offset | sectors a load | µs | of offset 0 |
|--:|--:|--:|--:|
",
    );
    let first = labs.offsets.first().map_or(f64::NAN, |it| it.microseconds);
    for it in &labs.offsets {
        let _ = writeln!(
            out,
            "| {} | {:.2} | {:.1} | {:.3} |",
            it.offset,
            it.sectors_a_request,
            it.microseconds,
            first / it.microseconds
        );
    }
    let points = labs.offsets.iter().map(|it| (it.offset as f64, first / it.microseconds)).collect();
    let series = [Series { name: "measured".into(), points, joined: true }];
    let x = Axis {
        title: "offset, in floats",
        range: -0.5..33.0,
        logarithmic: false,
        label: |value| format!("{value:.0}"),
    };
    let y = Axis {
        title: "share of the rate at offset 0",
        range: 0.0..1.1,
        logarithmic: false,
        label: |value| format!("{value:.1}"),
    };
    shown(out, pictures, "measured/labs-offsets.svg", lines(&x, &y, &series), "");
}

fn flights(out: &mut String, pictures: &mut Vec<(String, String)>, labs: &Labs) {
    out.push_str(
        "
## Bytes in flight

By Little's law, what must be on its way is the rate times the latency. The rate is that at which the fastest of these copies reads, the
latency that of the chain of loads beyond the second-level cache. A multiprocessor that is full of threads asks for so many bytes before
any arrive; where that is less than needed, the quotient is the predicted share.

| loads × bytes a thread | in flight | needed | predicted share | measured share |
|---|--:|--:|--:|--:|
",
    );
    for it in &labs.flights {
        let _ = writeln!(
            out,
            "| {} × {} | {} | {:.0} | {:.3} | {:.3} |",
            it.loads, it.bytes, it.bytes_in_flight, it.bytes_needed, it.predicted_share, it.measured_share
        );
    }
    let series = |name: &str, share: fn(&Flight) -> f64| Series {
        name: name.into(),
        points: labs.flights.iter().map(|it| (it.bytes_in_flight as f64, share(it))).collect(),
        joined: false,
    };
    let series = [series("measured", |it| it.measured_share), series("predicted", |it| it.predicted_share)];
    let bytes = || labs.flights.iter().map(|it| it.bytes_in_flight as f64);
    let x = Axis {
        title: "bytes in flight, a multiprocessor",
        range: bytes().fold(f64::INFINITY, f64::min) / 1.2..bytes().fold(1.0, f64::max) * 1.2,
        logarithmic: true,
        label: binary,
    };
    let y = Axis {
        title: "share of the fastest",
        range: 0.0..1.1,
        logarithmic: false,
        label: |value| format!("{value:.1}"),
    };
    shown(out, pictures, "measured/labs-flights.svg", lines(&x, &y, &series), &legend(&series));
}
