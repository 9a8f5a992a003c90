//! The first kernel of the book: what was proven about it, a run on the CPU, and one on a GPU where a GPU is.
//!
//! `cargo run --release --example add`

// ANCHOR: kernel
use std::error::Error;
use tileproof::prelude::*;

/// The sum of two vectors, an element a thread.
#[tiled_kernel(
    block = [256],
    grid = [c.len().div_ceil(256)],
    requires(a.len() == c.len(), b.len() == c.len()),
)]
fn add(a: &Tensor<f32, 1>, b: &Tensor<f32, 1>, c: &mut Tensor<f32, 1>) {
    let i = block_x() * 256 + thread_x();
    if i < c.len() {
        c[[i]] = a[[i]] + b[[i]];
    }
}
// ANCHOR_END: kernel

// ANCHOR: simulate
fn on_cpu(a: &[f32], b: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    let mut c = vec![0.0; a.len()];
    let counts = add::simulate(
        &HostTensor::new(a, [a.len()])?,
        &HostTensor::new(b, [b.len()])?,
        &mut HostTensorMut::new(&mut c, [a.len()])?,
    )?;
    for run in &counts.sites {
        println!(
            "{}: {} sectors, {} are enough",
            run.site.access, run.counts.sectors, run.counts.ideal_sectors
        );
    }
    Ok(c)
}
// ANCHOR_END: simulate

// ANCHOR: launch
use std::sync::Arc;
use tileproof::cudarc::driver::CudaStream;

fn on_gpu(stream: &Arc<CudaStream>, a: &[f32], b: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    let (device_a, device_b) = (stream.clone_htod(a)?, stream.clone_htod(b)?);
    let mut device_c = stream.alloc_zeros::<f32>(a.len())?;
    let (a, b) = (TensorView::new(&device_a, [a.len()])?, TensorView::new(&device_b, [b.len()])?);
    let mut c = TensorViewMut::new(&mut device_c, [a.len()])?;
    add::launch(stream, &a, &b, &mut c)?;
    Ok(stream.clone_dtoh(&device_c)?)
}
// ANCHOR_END: launch

fn main() -> Result<(), Box<dyn Error>> {
    let a: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let b: Vec<f32> = (0..1000).map(|i| 2.0 * i as f32).collect();
    let sum: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();

    println!("{}", add::report());
    assert_eq!(on_cpu(&a, &b)?, sum);
    match tileproof::device::context(0) {
        Ok(context) => assert_eq!(on_gpu(&context.new_stream()?, &a, &b)?, sum),
        Err(reason) => println!("\nnot run on a GPU: {reason}"),
    }
    Ok(())
}
