//! The programs to launch for a command, a shell with its text or a program with its arguments, and the words
//! for a failure.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

use crate::command::errors::{LaunchError, Step};
use crate::command::mark::Mark;
use crate::request::plumbing::{descriptors, script_file};
use crate::request::shell::{Handover, LONGEST_ARGUMENT, TailExec, TooLong, hand_over};
use crate::request::variables::entries;
use crate::request::words::{programs, words_of};
use forkline_launch::Image;

/// The parts of a launch that depend on the shell or the program.
#[derive(Debug)]
pub struct Invocation {
    /// The shells, tried in order, or the possible paths of the program.
    pub images: Vec<Image>,
    /// Entries, each ended by NUL.
    pub environment: Vec<u8>,
    /// The file to become the script descriptor.
    pub script: Option<OwnedFd>,
    /// Whether `images` are paths of one program.
    is_program: bool,
}

impl Invocation {
    /// Prepares `text` for the first of `shells` that exists, or, if `text` consists of words each ended by
    /// NUL, that program without a shell. `environment` consists of `NAME=value` entries separated by NUL.
    pub fn new(
        shells: &[CString],
        text: &[u8],
        environment: &[u8],
        mark: &Mark,
        tail_exec: TailExec,
    ) -> Result<Self, LaunchError> {
        if let Some(words) = words_of(text) {
            let images = programs(&words, environment);
            let environment = complete(environment, mark, None);
            return Ok(Invocation { images, environment, script: None, is_program: true });
        }
        let Handover { images, sealed, script } =
            hand_over(shells, text, environment, tail_exec).map_err(too_long)?;
        let script = script.map(script_file).transpose();
        let script = script.map_err(descriptors("the script's file in memory (memfd_create)"))?;
        let environment = complete(environment, mark, sealed);
        Ok(Invocation { images, environment, script, is_program: false })
    }

    /// Returns the content of the script's file.
    pub fn script_text(&self) -> Result<Option<Vec<u8>>, LaunchError> {
        let Some(script) = &self.script else { return Ok(None) };
        let mut text = Vec::new();
        let copy = script.try_clone().map(File::from);
        let read = copy.and_then(|mut file| file.read_to_end(&mut text));
        read.map_err(descriptors("the script's file"))?;
        Ok(Some(text))
    }

    /// Turns a failure into an error for the caller.
    pub fn explain(&self, step: Step, errno: i32, directory: Option<&CStr>) -> LaunchError {
        let subject = match (step, errno) {
            (Step::Keeper, _) => "forkline-keeper".to_owned(),
            (Step::Descriptors, _) => "the command's descriptors".to_owned(),
            (Step::Directory, _) => directory.unwrap_or_default().to_string_lossy().into_owned(),
            (Step::Limits, _) => "its control group or oom_score_adj".to_owned(),
            (Step::Exec, libc::E2BIG) => self.too_long_part(),
            (Step::Exec, _) => self.tried_paths(),
            _ => String::new(),
        };
        LaunchError { step, errno, subject, why: None }
    }

    fn tried_paths(&self) -> String {
        let of_program = self.images.first().and_then(|image| image.argv.first());
        if let Some(name) = of_program.filter(|_| self.is_program) {
            return format!("'{}'", name.to_string_lossy());
        }
        let shown = |image: &Image| format!("'{}'", image.path.to_string_lossy());
        self.images.iter().map(shown).collect::<Vec<_>>().join(" or ")
    }

    fn too_long_part(&self) -> String {
        match entries(&self.environment).find(|entry| entry.len() > LONGEST_ENTRY) {
            Some(entry) => {
                let name = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
                let (name, length) = (String::from_utf8_lossy(name), entry.len());
                format!(
                    "with environment variable {name} ({length} bytes; at most {LONGEST_ENTRY})"
                )
            }
            None => self.text_or_environment(),
        }
    }

    fn text_or_environment(&self) -> String {
        let arguments = self.images.iter().flat_map(|image| &image.argv);
        match arguments.map(|argument| argument.as_bytes().len()).max() {
            Some(length) if length > LONGEST_ARGUMENT => {
                format!("with a command of {length} bytes (at most {LONGEST_ARGUMENT})")
            }
            _ => format!("with an environment of {} bytes", self.environment.len()),
        }
    }
}

/// The text is refused, since a truncated one could be another command.
fn too_long(TooLong { beside, length }: TooLong) -> LaunchError {
    let error = io::Error::from_raw_os_error(libc::E2BIG);
    let subject = format!(
        "with {beside} and a command of {length} bytes (with {beside}, at most {LONGEST_ARGUMENT})"
    );
    LaunchError::new(Step::Exec, &error, subject)
}

/// The longest `NAME=value` that the kernel takes, without its NUL.
const LONGEST_ENTRY: usize = 128 * 1024 - 1;

/// Returns the command's environment with the engine's own entries; every entry is ended by NUL.
fn complete(environment: &[u8], mark: &Mark, sealed: Option<[&[u8]; 2]>) -> Vec<u8> {
    let text = sealed.map_or(0, |[_, text]| text.len());
    let mut entries = Vec::with_capacity(environment.len() + text + 128);
    entries.extend_from_slice(environment);
    if !entries.is_empty() {
        entries.push(0);
    }
    entries.extend_from_slice(mark.entry().as_bytes());
    entries.push(0);
    if let Some([seal, text]) = sealed {
        entries.extend_from_slice(b"_=");
        entries.extend_from_slice(seal);
        entries.extend_from_slice(text);
        entries.push(0);
    }
    entries
}
