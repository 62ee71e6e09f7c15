//! Whether something was changed after the commands: then it is left as it is.

use crate::node::{NodeKind, NodeStatus};
use crate::reader::past::{NameKey, Past, PastName, PastNode};
use crate::reader::paths::path_buf;
use crate::reader::present::PresentState;

/// Returns why what has a name can't be taken away.
pub(crate) fn of_name(
    past: &Past,
    present: &PresentState,
    key: &NameKey,
    name: &PastName,
) -> Option<String> {
    let now = present.status_of(key);
    if name.is_edited {
        return Some("it was changed between two of the commands".to_owned());
    }
    let until = if name.is_begun { past.reverted_until } else { past.until };
    if let Some(walked) = present.below.get(key)
        && let Some((latest, path)) = &walked.latest
        && *latest > until
    {
        return Some(format!("{} was changed since", path_buf(path.clone()).display()));
    }
    match (now, name.after.filter(|_| !name.is_begun)) {
        (None, None | Some(None)) => None,
        (Some(now), None) if now.changed > until => Some("it was changed since".to_owned()),
        (Some(_), None) => None,
        (Some(_), Some(None)) => Some("it was made since".to_owned()),
        (None, Some(Some(_))) => Some("it was removed since".to_owned()),
        (Some(now), Some(Some(after))) => {
            let is_same = now.kind() != NodeKind::Directory || is_one(past, now, &after);
            let is_still = is_same && now.is_still(&after) || is_as_last_seen(past, now, &after);
            (!is_still).then(|| "it was changed since".to_owned())
        }
    }
}

/// Returns why a node can't be put back as it was.
pub(crate) fn of_node(past: &Past, node: &PastNode, now: &NodeStatus) -> Option<String> {
    if node.is_edited {
        return Some("it was changed between two of the commands".to_owned());
    }
    let until = if node.is_begun { past.reverted_until } else { past.until };
    let is_still = match past.after.get(&node.record.status.id) {
        Some(after) if !node.is_begun => now.is_still(after),
        _ => now.changed <= until,
    };
    (!is_still).then(|| "it was changed since".to_owned())
}

fn is_one(past: &Past, now: &NodeStatus, after: &NodeStatus) -> bool {
    past.known(now.id) == past.known(after.id)
}

/// Returns whether a node is as a later command has left it, which touched the node and not the name.
fn is_as_last_seen(past: &Past, now: &NodeStatus, after: &NodeStatus) -> bool {
    now.id == after.id && past.after.get(&now.id).is_some_and(|last| now.is_still(last))
}
