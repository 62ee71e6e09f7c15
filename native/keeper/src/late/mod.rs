//! Attributes of a command that it could not get between clone and exec.

pub mod oom_score;
pub mod session_nice;
