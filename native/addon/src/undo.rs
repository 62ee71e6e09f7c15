//! What commands have changed, and putting it back, off the main thread.

pub mod pending;

use std::fs::File;
use std::os::fd::AsFd;
use std::path::PathBuf;

use forkline_journal::{Changes, FileChange, JournalError, NodeKind, Reverted};
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;

/// The most entries of a list.
const MOST_ENTRIES: usize = 10_000;

/// One change. What a kind does not have is left out.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct NativeChange {
    /// One of `created`, `changed`, `deleted`, `renamed`, `mode` and `attributes`.
    pub kind: &'static str,
    /// Where it is; of what is gone, where it was.
    pub path: String,
    /// Where it was.
    pub from: Option<String>,
    /// One of `file`, `directory`, `link` and `other`.
    #[napi(js_name = "type")]
    pub node_type: Option<&'static str>,
    /// Its bytes, or those below a new directory.
    pub size: Option<f64>,
    /// Its bytes before.
    pub size_before: Option<f64>,
    /// The files below a new directory.
    pub files: Option<f64>,
    /// Its permissions.
    pub mode: Option<u32>,
    /// Its permissions before.
    pub mode_before: Option<u32>,
    /// What was renamed has another content too.
    pub is_changed: Option<bool>,
}

/// A path, and why something is so.
#[napi(object, object_from_js = false)]
pub struct PathReason {
    /// The path.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// What commands have changed.
#[napi(object, object_from_js = false)]
pub struct NativeChanges {
    /// The changes, sorted by path; 10,000 at most.
    pub list: Vec<NativeChange>,
    /// How many more there are.
    pub more: f64,
    /// Files that were not there.
    pub created: f64,
    /// Files with another content.
    pub changed: f64,
    /// Files that are gone.
    pub deleted: f64,
    /// What has another name.
    pub renamed: f64,
    /// Nothing was changed that was not seen.
    pub is_complete: bool,
    /// Why it is not complete.
    pub unseen: Vec<String>,
    /// What can't be put back.
    pub unrevertable: Vec<PathReason>,
    /// A revert of all has come to its end.
    pub is_reverted: bool,
}

/// What a revert has done.
#[napi(object, object_from_js = false)]
pub struct NativeReverted {
    /// What is as it was again.
    pub reverted: Vec<String>,
    /// What was left as it is.
    pub conflicts: Vec<PathReason>,
    /// What was asked for, and was not kept.
    pub lost: Vec<PathReason>,
}

/// Lists what the journals of these ids in the directory have changed together, oldest first.
#[napi(ts_return_type = "Promise<NativeChanges>")]
pub fn read_changes(directory: String, ids: Vec<String>) -> AsyncTask<ReadingChanges> {
    AsyncTask::new(ReadingChanges { directory, ids })
}

/// Puts it back. `paths`: only what is at or below these.
#[napi(ts_return_type = "Promise<NativeReverted>")]
pub fn revert_changes(
    directory: String,
    ids: Vec<String>,
    paths: Option<Vec<String>>,
) -> AsyncTask<RevertingChanges> {
    AsyncTask::new(RevertingChanges { directory, ids, paths })
}

/// A list that is being made.
pub struct ReadingChanges {
    directory: String,
    ids: Vec<String>,
}

impl Task for ReadingChanges {
    type Output = Changes;
    type JsValue = NativeChanges;

    fn compute(&mut self) -> Result<Changes> {
        let store = File::open(&self.directory).map_err(JournalError::from).map_err(failure)?;
        forkline_journal::changes(store.as_fd(), &texts(&self.ids)).map_err(failure)
    }

    fn resolve(&mut self, _: Env, changes: Changes) -> Result<NativeChanges> {
        Ok(told(changes))
    }
}

/// A revert under way.
pub struct RevertingChanges {
    directory: String,
    ids: Vec<String>,
    paths: Option<Vec<String>>,
}

impl Task for RevertingChanges {
    type Output = Reverted;
    type JsValue = NativeReverted;

    fn compute(&mut self) -> Result<Reverted> {
        let store = File::open(&self.directory).map_err(JournalError::from).map_err(failure)?;
        let paths = self.paths.as_ref();
        let paths: Option<Vec<PathBuf>> =
            paths.map(|paths| paths.iter().map(PathBuf::from).collect());
        forkline_journal::revert(store.as_fd(), &texts(&self.ids), paths.as_deref())
            .map_err(failure)
    }

    fn resolve(&mut self, _: Env, reverted: Reverted) -> Result<NativeReverted> {
        Ok(NativeReverted {
            reverted: reverted.reverted.into_iter().map(text).collect(),
            conflicts: reverted.conflicts.into_iter().map(reason).collect(),
            lost: reverted.lost.into_iter().map(reason).collect(),
        })
    }
}

/// Returns what JavaScript is told of changes.
pub fn told(mut changes: Changes) -> NativeChanges {
    let more = changes.list.len().saturating_sub(MOST_ENTRIES);
    changes.list.truncate(MOST_ENTRIES);
    NativeChanges {
        list: changes.list.into_iter().map(change).collect(),
        more: more as f64,
        created: changes.created as f64,
        changed: changes.changed as f64,
        deleted: changes.deleted as f64,
        renamed: changes.renamed as f64,
        is_complete: changes.is_complete,
        unseen: changes.unseen,
        unrevertable: changes.unrevertable.into_iter().map(reason).collect(),
        is_reverted: changes.is_reverted,
    }
}

fn texts(ids: &[String]) -> Vec<&str> {
    ids.iter().map(String::as_str).collect()
}

/// Returns a path as JavaScript has it.
pub fn text(path: PathBuf) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns a path with its reason.
pub fn reason((path, reason): (PathBuf, String)) -> PathReason {
    PathReason { path: text(path), reason }
}

fn failure(error: JournalError) -> Error {
    Error::new(Status::GenericFailure, error.to_string())
}

fn name_of(kind: NodeKind) -> Option<&'static str> {
    Some(match kind {
        NodeKind::File => "file",
        NodeKind::Directory => "directory",
        NodeKind::Link => "link",
        NodeKind::Other => "other",
    })
}

fn change(change: FileChange) -> NativeChange {
    let path = text(change.path().clone());
    let (size_of, none) =
        (|size: u64| Some(size as f64), NativeChange { path, ..Default::default() });
    match change {
        FileChange::Created { kind, size, files, .. } => {
            let files = (kind == NodeKind::Directory).then_some(files as f64);
            let (node_type, size) = (name_of(kind), size_of(size));
            NativeChange { kind: "created", node_type, size, files, ..none }
        }
        FileChange::Changed { size, size_before, .. } => {
            let (size, size_before) = (size_of(size), size_of(size_before));
            NativeChange { kind: "changed", size, size_before, ..none }
        }
        FileChange::Deleted { kind, size_before, .. } => {
            let (node_type, size_before) = (name_of(kind), size_of(size_before));
            NativeChange { kind: "deleted", node_type, size_before, ..none }
        }
        FileChange::Renamed { from, kind, is_changed, .. } => {
            let (from, node_type, is_changed) = (Some(text(from)), name_of(kind), Some(is_changed));
            NativeChange { kind: "renamed", from, node_type, is_changed, ..none }
        }
        FileChange::Mode { mode, mode_before, .. } => {
            let (mode, mode_before) = (Some(mode), Some(mode_before));
            NativeChange { kind: "mode", mode, mode_before, ..none }
        }
        FileChange::Attributes { .. } => NativeChange { kind: "attributes", ..none },
    }
}
