//! Processes beside the sandbox that hear of what somebody outside changes in directories, and see to it that
//! commands find what they are to find there. They end with the process that starts them.

pub mod cover;
pub mod refresher;
