//! Names at which something is about to be made: what it was is seen at the next call.

use std::collections::VecDeque;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use std::os::fd::AsFd;

use crate::node::{NodeId, NodeKind, look_for};
use crate::writer::limits::NameAt;

/// The most names that are remembered. More than one is only there while calls are done side by side.
const MOST: usize = 32;

/// The names, oldest first.
#[derive(Debug, Default)]
pub(crate) struct MakingNames(VecDeque<(OwnedFd, NodeId, CString)>);

impl MakingNames {
    /// Remembers a name.
    pub fn add(&mut self, at: &NameAt, directory: NodeId) {
        let Ok(held) = at.directory.try_clone_to_owned() else { return };
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back((held, directory, at.name.to_owned()));
    }

    /// Returns what was made since, and forgets it. What has another name already was only given one more.
    pub fn settle(&mut self) -> Vec<NodeId> {
        let mut made = Vec::new();
        self.0.retain(|(directory, _, name)| match look_for(directory.as_fd(), name) {
            Ok(None) => true,
            Ok(Some(found)) => {
                if found.links == 1 || found.kind() == NodeKind::Directory {
                    made.push(found.id);
                }
                false
            }
            Err(_) => false,
        });
        made
    }

    /// Forgets the last name: nothing was made there.
    pub fn forget_last(&mut self) {
        self.0.pop_back();
    }

    /// Forgets a name, since something else gets it.
    pub fn forget(&mut self, directory: NodeId, name: &CStr) {
        self.0.retain(|(_, held, other)| *held != directory || other.as_c_str() != name);
    }
}
