//! Hooks that are held back: what their command would have there, for its next steps.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sandbox::warden::gate::settings::Judge;

/// The most hooks whose content is remembered.
const MOST_HOOKS: usize = 64;

/// The hooks that are held back, by their paths.
#[derive(Default)]
pub struct HeldHooks {
    all: Mutex<HashMap<PathBuf, HeldHook>>,
}

/// A hook that is held back.
#[derive(Clone)]
pub struct HeldHook {
    pub content: Vec<u8>,
    /// The mode that the command has given it.
    pub mode: u32,
    /// The id of the held change.
    pub id: String,
}

impl HeldHooks {
    fn all(&self) -> MutexGuard<'_, HashMap<PathBuf, HeldHook>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a hook, as long as it is held.
    pub fn get(&self, judge: &Judge, path: &Path) -> Option<HeldHook> {
        let mut all = self.all();
        let hook = all.get(path)?;
        if !judge.holds(&hook.id) {
            all.remove(path);
            return None;
        }
        Some(hook.clone())
    }

    pub fn insert(&self, path: PathBuf, hook: HeldHook) {
        let mut all = self.all();
        if all.len() >= MOST_HOOKS {
            all.clear();
        }
        all.insert(path, hook);
    }

    /// Forgets a hook.
    pub fn remove(&self, path: &Path) {
        self.all().remove(path);
    }
}
