//! What lasts from call to call: the devices' contexts, and the thread's last error.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use tileproof::cudarc::driver::CudaContext;
use tileproof::{Error, device};

static CONTEXTS: LazyLock<Mutex<HashMap<usize, Arc<CudaContext>>>> = LazyLock::new(Mutex::default);

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// The primary context of the device with this number, kept until the process ends.
pub(crate) fn context(ordinal: usize) -> Result<Arc<CudaContext>, Error> {
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = contexts.get(&ordinal) {
        return Ok(context.clone());
    }
    let context = device::context(ordinal)?;
    contexts.insert(ordinal, context.clone());
    Ok(context)
}

/// Keeps the thread's error.
pub(crate) fn keep(text: &str) {
    let text: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
    ERROR.with_borrow_mut(|error| *error = CString::new(text).unwrap_or_default());
}

/// The thread's error.
pub(crate) fn error() -> *const c_char {
    ERROR.with_borrow(|error| error.as_ptr())
}
