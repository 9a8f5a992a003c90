//! Kernels that went wrong once, as files that a test replays.
//!
//! A seed means another kernel as soon as the generator changes, so a file holds the source, what the kernel is run with and what it must
//! compute.

use crate::judge::{Accepted, accept, run};
use crate::memory;
use crate::print::{Budgets, attribute, item};
use crate::tree::{Kernel, Tensor};
use crate::value::{Scalar, Value, Wrong};
use serde::{Deserialize, Serialize};

/// A kernel, its arguments and its results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// What went wrong.
    pub what: String,
    /// The arguments of the attribute.
    pub attribute: String,
    /// The lines of the function.
    pub item: Vec<String>,
    /// The blocks along x, y and z.
    pub grid: [usize; 3],
    /// The tensors, in order.
    pub tensors: Vec<Memory>,
    /// The bits of the scalars, which follow them.
    pub scalars: Vec<u64>,
}

/// A tensor before and after a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The name of its elements' type.
    pub element: String,
    /// Its extents, outermost first.
    pub extents: Vec<usize>,
    /// The distances between neighbours in elements, of all dimensions but the innermost.
    pub strides: Vec<usize>,
    /// By how many units in the last place a result may differ.
    pub ulps: u32,
    /// The bits of its elements before.
    pub before: Vec<u64>,
    /// The bits of its elements after, if the kernel may write it.
    pub after: Option<Vec<u64>>,
}

/// The file for a kernel that went wrong.
///
/// # Errors
/// Where the evaluator has no result.
pub fn record(kernel: &Kernel, what: &str) -> Result<Found, Wrong> {
    let after = crate::evaluate::evaluate(kernel)?;
    let bits = |values: &[Value]| values.iter().map(Value::bits).collect::<Vec<u64>>();
    let accepted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| accept(kernel)));
    let (attribute, item) = match accepted {
        Ok(Ok(Accepted { attribute, item, .. })) => (attribute, item),
        Ok(Err(_)) | Err(_) => (attribute(kernel), item(kernel, &Budgets::new())),
    };
    let tensors = kernel.tensors.iter().zip(memory::initial(kernel)).zip(&after);
    let tensors = tensors.map(|((tensor, before), after)| Memory {
        element: tensor.element.name().into(),
        extents: tensor.extents.clone(),
        strides: tensor.strides.clone(),
        ulps: tensor.ulps,
        before: bits(&before),
        after: tensor.mutable.then(|| bits(after)),
    });
    Ok(Found {
        what: what.into(),
        attribute,
        item: item.lines().map(String::from).collect(),
        grid: kernel.grid(),
        tensors: tensors.collect(),
        scalars: kernel.arguments.iter().map(Value::bits).collect(),
    })
}

/// Compiles and simulates a kernel of a file.
///
/// # Errors
/// A refusal, a fault, or the first element that is not what it must be.
pub fn replay(found: &Found) -> Result<(), String> {
    let compiled = tileproof_compiler::compile(&found.attribute, &found.item.join("\n"))?;
    let mut tensors = Vec::new();
    for memory in &found.tensors {
        let named = Scalar::ELEMENTS.into_iter().find(|scalar| scalar.name() == memory.element);
        tensors.push(Tensor {
            element: named.ok_or_else(|| format!("no element type is called `{}`", memory.element))?,
            mutable: memory.after.is_some(),
            extents: memory.extents.clone(),
            strides: memory.strides.clone(),
            seed: 0,
            ulps: memory.ulps,
        });
    }
    let values = |tensor: &Tensor, bits: &[u64]| -> Vec<Value> {
        bits.iter().map(|bits| Value::of_bits(tensor.element, *bits)).collect()
    };
    let before = tensors.iter().zip(&found.tensors).map(|(tensor, memory)| values(tensor, &memory.before));
    let (after, _) = run(&compiled.kernel, &tensors, before.collect(), &found.scalars, found.grid)?;
    for (place, (tensor, memory)) in tensors.iter().zip(&found.tensors).enumerate() {
        let expected = values(tensor, memory.after.as_deref().unwrap_or_default());
        for (element, (expected, found)) in expected.iter().zip(&after[place]).enumerate() {
            if !memory::same(tensor, expected, found) {
                return Err(format!(
                    "tensor {place}, element {element}: {expected:?} expected, {found:?} found"
                ));
            }
        }
    }
    Ok(())
}
