//! The structures of `launch.h`, field by field.

use std::ffi::{c_char, c_int, c_void};

use crate::attributes::Limit;

#[repr(C)]
pub struct RawImage {
    pub path: *const c_char,
    pub argv: *const *const c_char,
}

#[repr(C)]
pub struct RawAttributes {
    pub limits: *const Limit,
    pub limit_count: usize,
    pub mask: c_int,
    pub has_nice: c_int,
    pub nice: c_int,
    pub has_session_nice: c_int,
    pub session_nice: c_int,
    pub affinity: *const c_void,
    pub affinity_size: usize,
    pub has_oom_score: c_int,
    pub oom_score: c_int,
    pub has_bounding: c_int,
    pub bounding: u64,
}

#[repr(C)]
pub struct RawRequest {
    pub images: *const RawImage,
    pub image_count: usize,
    pub envp: *const *const c_char,
    pub directory: *const c_char,
    pub directory_fd: c_int,
    pub stdio: [c_int; 3],
    pub script: c_int,
    pub groups: [c_int; 2],
    pub parent_death: c_int,
    pub terminal: c_int,
    pub share_directory: c_int,
    pub want_pidfd: c_int,
    pub outer_proc: c_int,
    pub reset: u64,
    pub attributes: *const RawAttributes,
    pub stack: *mut c_void,
    pub stack_size: usize,
}

#[repr(C)]
#[derive(Default)]
pub struct RawLaunched {
    pub pid: i32,
    pub pidfd: c_int,
    pub step: c_int,
    pub error: c_int,
    pub outer_pid: i32,
    pub share: c_int,
    pub oom_score: c_int,
}

unsafe extern "C" {
    pub fn forkline_launch(request: *const RawRequest, launched: *mut RawLaunched) -> c_int;
}
