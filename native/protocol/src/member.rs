//! A member of a command, as messages tell of it.

use crate::fields::{Reader, Writer};

/// A member that is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The process id.
    pub pid: i32,
    /// The process group; 0: not known.
    pub group: i32,
    /// The command line. None: the process is still the command's shell, or a fork of it, or can't be
    /// seen.
    pub command: Option<Vec<u8>>,
}

impl Member {
    pub(crate) fn encode(&self, fields: &mut Writer) {
        fields.number(self.pid as u64).number(self.group as u64);
        fields.number(self.command.is_some().into());
        fields.bytes(self.command.as_deref().unwrap_or_default());
    }

    pub(crate) fn decode(fields: &mut Reader) -> Option<Member> {
        let (pid, group) = (fields.small()?, fields.small()?);
        let is_known = fields.number()? != 0;
        let command = fields.bytes()?.to_vec();
        Some(Member { pid, group, command: is_known.then_some(command) })
    }

    /// Decodes members until no field is left.
    pub(crate) fn decode_all(fields: &mut Reader) -> Option<Vec<Member>> {
        let mut members = Vec::new();
        while !fields.is_empty() {
            members.push(Member::decode(fields)?);
        }
        Some(members)
    }
}
