//! Changes that are held in layers, off the main thread.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::result;

use forkline_journal::Changes;
use forkline_pending::{PendingError, Settlement, accept, changes, drop_changes};
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;

use super::{NativeChanges, PathReason, reason, text, told};

/// What was put into effect, or dropped.
#[napi(object, object_from_js = false)]
pub struct NativeSettlement {
    /// What was.
    pub settled: Vec<String>,
    /// What was left as it is.
    pub conflicts: Vec<PathReason>,
    /// Settings that were not asked for by their own path.
    pub held_back: Vec<PathReason>,
}

/// Lists what is held in the directory, of this id.
#[napi(ts_return_type = "Promise<NativeChanges>")]
pub fn read_pending(directory: String, id: String) -> AsyncTask<ReadingPending> {
    AsyncTask::new(ReadingPending { directory, id })
}

/// Puts it into effect. `paths`: only what is at or below these.
#[napi(ts_return_type = "Promise<NativeSettlement>")]
pub fn accept_pending(
    directory: String,
    id: String,
    paths: Option<Vec<String>>,
) -> AsyncTask<SettlingPending> {
    AsyncTask::new(SettlingPending { directory, id, paths, settle: accept })
}

/// Drops it. `paths`: only what is at or below these.
#[napi(ts_return_type = "Promise<NativeSettlement>")]
pub fn drop_pending(
    directory: String,
    id: String,
    paths: Option<Vec<String>>,
) -> AsyncTask<SettlingPending> {
    AsyncTask::new(SettlingPending { directory, id, paths, settle: drop_changes })
}

/// A list that is being made.
pub struct ReadingPending {
    directory: String,
    id: String,
}

impl Task for ReadingPending {
    type Output = Changes;
    type JsValue = NativeChanges;

    fn compute(&mut self) -> Result<Changes> {
        let store = store(&self.directory)?;
        changes(store.as_fd(), &self.id).map_err(failure)
    }

    fn resolve(&mut self, _: Env, changes: Changes) -> Result<NativeChanges> {
        Ok(told(changes))
    }
}

/// Changes that are being put into effect, or dropped.
pub struct SettlingPending {
    directory: String,
    id: String,
    paths: Option<Vec<String>>,
    settle: Settle,
}

/// What is done with changes.
type Settle = fn(BorrowedFd, &str, Option<&[PathBuf]>) -> result::Result<Settlement, PendingError>;

impl Task for SettlingPending {
    type Output = Settlement;
    type JsValue = NativeSettlement;

    fn compute(&mut self) -> Result<Settlement> {
        let store = store(&self.directory)?;
        let paths = self.paths.as_ref();
        let paths: Option<Vec<PathBuf>> =
            paths.map(|paths| paths.iter().map(PathBuf::from).collect());
        (self.settle)(store.as_fd(), &self.id, paths.as_deref()).map_err(failure)
    }

    fn resolve(&mut self, _: Env, done: Settlement) -> Result<NativeSettlement> {
        Ok(NativeSettlement {
            settled: done.settled.into_iter().map(text).collect(),
            conflicts: done.conflicts.into_iter().map(reason).collect(),
            held_back: done.held_back.into_iter().map(reason).collect(),
        })
    }
}

fn store(directory: &str) -> Result<File> {
    File::open(directory).map_err(PendingError::from).map_err(failure)
}

fn failure(error: PendingError) -> Error {
    Error::new(Status::GenericFailure, error.to_string())
}
