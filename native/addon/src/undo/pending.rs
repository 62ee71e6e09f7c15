//! Changes that are held in layers, off the main thread.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::PathBuf;

use forkline_journal::Changes;
use forkline_pending::{PendingError, Settlement, accept, changes, drop_changes};
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;

use super::{NativeChanges, NativeReverted, PathReason, reason, text, told};

/// What was put into effect.
#[napi(object, object_from_js = false)]
pub struct NativeAccepted {
    /// What is as commands have left it.
    pub accepted: Vec<String>,
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
#[napi(ts_return_type = "Promise<NativeAccepted>")]
pub fn accept_pending(
    directory: String,
    id: String,
    paths: Option<Vec<String>>,
) -> AsyncTask<AcceptingPending> {
    AsyncTask::new(AcceptingPending { directory, id, paths })
}

/// Drops it. `paths`: only what is at or below these.
#[napi(ts_return_type = "Promise<NativeReverted>")]
pub fn drop_pending(
    directory: String,
    id: String,
    paths: Option<Vec<String>>,
) -> AsyncTask<DroppingPending> {
    AsyncTask::new(DroppingPending { directory, id, paths })
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

/// Changes that are being put into effect.
pub struct AcceptingPending {
    directory: String,
    id: String,
    paths: Option<Vec<String>>,
}

impl Task for AcceptingPending {
    type Output = Settlement;
    type JsValue = NativeAccepted;

    fn compute(&mut self) -> Result<Settlement> {
        let (store, paths) = (store(&self.directory)?, buffers(&self.paths));
        accept(store.as_fd(), &self.id, paths.as_deref()).map_err(failure)
    }

    fn resolve(&mut self, _: Env, done: Settlement) -> Result<NativeAccepted> {
        Ok(NativeAccepted {
            accepted: done.accepted.into_iter().map(text).collect(),
            conflicts: done.conflicts.into_iter().map(reason).collect(),
            held_back: done.held_back.into_iter().map(reason).collect(),
        })
    }
}

/// Changes that are being dropped.
pub struct DroppingPending {
    directory: String,
    id: String,
    paths: Option<Vec<String>>,
}

impl Task for DroppingPending {
    type Output = Settlement;
    type JsValue = NativeReverted;

    fn compute(&mut self) -> Result<Settlement> {
        let (store, paths) = (store(&self.directory)?, buffers(&self.paths));
        drop_changes(store.as_fd(), &self.id, paths.as_deref()).map_err(failure)
    }

    fn resolve(&mut self, _: Env, done: Settlement) -> Result<NativeReverted> {
        Ok(NativeReverted {
            reverted: done.accepted.into_iter().map(text).collect(),
            conflicts: done.conflicts.into_iter().map(reason).collect(),
            lost: Vec::new(),
        })
    }
}

fn store(directory: &str) -> Result<File> {
    File::open(directory).map_err(PendingError::from).map_err(failure)
}

fn buffers(paths: &Option<Vec<String>>) -> Option<Vec<PathBuf>> {
    paths.as_ref().map(|paths| paths.iter().map(PathBuf::from).collect())
}

fn failure(error: PendingError) -> Error {
    Error::new(Status::GenericFailure, error.to_string())
}
