//! Loads kernels into a CUDA context, once each, and keeps them.

use crate::architecture::Architecture;
use crate::description::{Description, IndexWidth};
use crate::error::Error;
use crate::nvrtc::{CompileOptions, Compiled};
use cudarc::driver::sys::{CUdevice_attribute, CUfunction_attribute};
use cudarc::driver::{CudaContext, CudaFunction};
use cudarc::nvrtc::Ptx;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// A kernel in a CUDA context, ready to be launched.
pub struct Loaded {
    function: CudaFunction,
    compiled: Compiled,
    blocks_per_multiprocessor: u32,
    context: Arc<CudaContext>,
}

/// A kernel may still run when the last one who could launch it forgets it, and nothing says that the driver waits for it before
/// it unloads its code.
impl Drop for Loaded {
    fn drop(&mut self) {
        // A context that has failed runs nothing any more.
        _ = self.context.synchronize();
    }
}

impl Loaded {
    /// What was loaded: the cubin, registers, spills, NVRTC's log.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// The function in the driver, for its attributes and the driver's occupancy calculator.
    pub fn function(&self) -> &CudaFunction {
        &self.function
    }

    /// How many blocks of the kernel a multiprocessor of this device holds at a time, as the driver says.
    pub fn blocks_per_multiprocessor(&self) -> u32 {
        self.blocks_per_multiprocessor
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded")
            .field("compiled", &self.compiled)
            .field("blocks_per_multiprocessor", &self.blocks_per_multiprocessor)
            .finish_non_exhaustive()
    }
}

/// One twin of one kernel in one context. A loaded module keeps its context alive, so that no other context can have
/// the address while the entry exists.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    context: usize,
    description: usize,
    width: IndexWidth,
}

/// Threads that need the same kernel at the same time wait for the first to load it, and no others wait.
type Entry = Arc<Mutex<Option<Arc<Loaded>>>>;

static CACHE: LazyLock<Mutex<HashMap<Key, Entry>>> = LazyLock::new(Mutex::default);

/// The kernel, from the cache or compiled and loaded now. A failure is not remembered: the next call tries again.
pub(crate) fn cached(
    description: &'static Description,
    context: &Arc<CudaContext>,
    width: IndexWidth,
) -> Result<Arc<Loaded>, Error> {
    let key = Key {
        context: context.cu_ctx() as usize,
        description: std::ptr::from_ref(description) as usize,
        width,
    };
    let entry = lock(&CACHE).entry(key).or_default().clone();
    let mut slot = lock(&entry);
    if let Some(loaded) = &*slot {
        return Ok(loaded.clone());
    }
    let loaded = Arc::new(load(description, context, width)?);
    *slot = Some(loaded.clone());
    Ok(loaded)
}

/// Forgets the kernels that were loaded into `context`. Loaded kernels keep their context alive; a program that creates
/// many contexts calls this before it drops one. Kernels that are
/// held as [`Loaded`] stay valid; those that are running are waited for.
pub fn unload(context: &CudaContext) {
    let context = context.cu_ctx() as usize;
    // the modules are dropped after the lock is released
    let dropped: Vec<Entry> =
        lock(&CACHE).extract_if(|key, _| key.context == context).map(|(_, entry)| entry).collect();
    drop(dropped);
}

fn load(
    description: &'static Description,
    context: &Arc<CudaContext>,
    width: IndexWidth,
) -> Result<Loaded, Error> {
    let architecture = Architecture::of(context)?;
    let dynamic = description.dynamic_shared_bytes();
    if dynamic > 0 {
        let limit = shared_limit(context)?;
        if dynamic > limit {
            return Err(Error::SharedMemory {
                kernel: description.name,
                architecture,
                bytes: dynamic,
                limit,
            });
        }
    }
    let options = CompileOptions { width, ..CompileOptions::for_kernel(description) };
    let compiled = description.compile_with(architecture, options)?;
    let failed = |source| Error::Load {
        kernel: description.name,
        architecture,
        nvrtc: compiled.nvrtc_version,
        source,
    };
    let module = context.load_module(Ptx::from_binary(compiled.cubin.clone())).map_err(failed)?;
    let function = module.load_function(description.name).map_err(failed)?;
    if dynamic > 0 {
        let size = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        function.set_attribute(size, dynamic as i32).map_err(failed)?;
    }
    let threads = description.block.iter().product();
    let blocks_per_multiprocessor = function
        .occupancy_max_active_blocks_per_multiprocessor(threads, dynamic as usize, None)
        .map_err(failed)?;
    Ok(Loaded { function, compiled, blocks_per_multiprocessor, context: context.clone() })
}

/// The most shared memory that a block can opt in to on a context's device, in bytes.
fn shared_limit(context: &CudaContext) -> Result<u32, Error> {
    context
        .attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
        .map(i32::unsigned_abs)
        .map_err(|source| Error::Driver { action: "tell how much shared memory a block can have", source })
}

/// Loads each of these kernels.
///
/// # Errors
/// Of the first that fails.
pub fn load_all(
    kernels: &[&'static Description],
    context: &Arc<CudaContext>,
) -> Result<Vec<Arc<Loaded>>, Error> {
    kernels.iter().map(|kernel| kernel.load(context)).collect()
}

/// Compiles each of these kernels.
///
/// # Errors
/// Of the first that fails.
pub fn compile_all(
    kernels: &[&'static Description],
    architecture: Architecture,
) -> Result<Vec<Compiled>, Error> {
    kernels.iter().map(|kernel| kernel.compile(architecture)).collect()
}

/// A panic elsewhere leaves an entry empty or loaded, never half: poisoning means nothing here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Description {
    /// The kernel's preferred twin in `context`, compiled and loaded now unless it is already. Launches find it there.
    ///
    /// # Errors
    /// If NVRTC is missing or fails, or the driver rejects the kernel.
    pub fn load(&'static self, context: &Arc<CudaContext>) -> Result<Arc<Loaded>, Error> {
        cached(self, context, self.preferred_width())
    }
}
