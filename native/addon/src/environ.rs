//! The process's environment, as it lies in memory.

use std::ffi::{CStr, c_char};

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// Its entries, separated by NUL. (`std::env::vars_os` would allocate each name and value, for
/// every command that is started.)
pub fn block() -> Vec<u8> {
    let mut block = Vec::with_capacity(4096);
    // SAFETY: a NULL-terminated array of NUL-terminated strings. Node changes it in the main
    // thread only, which is where this is called.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            if !block.is_empty() {
                block.push(0);
            }
            block.extend_from_slice(CStr::from_ptr(*entry).to_bytes());
            entry = entry.add(1);
        }
    }
    block
}
