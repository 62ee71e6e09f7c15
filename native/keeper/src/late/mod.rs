//! What a command is to have, and could not get between its clone and its exec.

pub mod oom_score;
pub mod session_nice;
