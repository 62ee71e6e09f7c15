//! The keeper's program, and its launch.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use forkline_launch::{Failure, Image, Launch, Place, Stack, Step, launch};
use forkline_protocol::{VERSION, memory_program};
use rustix::fs::{Mode, OFlags, open};

use crate::command::errors::LaunchError;

/// The name of the program.
pub const NAME: &str = "forkline-keeper";

/// Returns the launch error for a keeper that can't be started or reached.
pub fn no_keeper(error: io::Error) -> LaunchError {
    LaunchError::new(crate::command::errors::Step::Keeper, &error, NAME)
}

/// Opens the null device.
pub fn null() -> io::Result<OwnedFd> {
    Ok(open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}

/// Starts the program at `path` in one of its roles. `stderr` and `fourth`, its descriptor 3, are optional;
/// without `stderr` it gets the null device. Returns the process id.
pub fn launch_keeper(
    path: &Path,
    role: &str,
    directory: Option<Place>,
    [stdin, stdout]: [BorrowedFd<'_>; 2],
    stderr: Option<BorrowedFd<'_>>,
    fourth: Option<BorrowedFd<'_>>,
    stack: &mut Stack,
) -> Result<i32, LaunchError> {
    let text = |text: &[u8]| CString::new(text).map_err(|error| no_keeper(error.into()));
    let arguments = [NAME, role, &VERSION.to_string()];
    let argv = arguments
        .map(|argument| text(argument.as_bytes()))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let null = null().map_err(no_keeper)?;
    let launch = |path: CString, file: BorrowedFd<'_>, stack: &mut Stack| {
        let images = [Image { path, argv: argv.clone() }];
        let plain = Launch::plain(&images, [stdin, stdout, file]);
        launch(&Launch { directory, script: fourth, ..plain }, stack)
    };
    let stderr = stderr.unwrap_or(null.as_fd());
    match launch(text(path.as_os_str().as_bytes())?, stderr, stack) {
        Ok(pid) => Ok(pid),
        // The file may exist without being executable: on a file system mounted noexec, or without the mode
        // bits.
        Err(Failure { step: Step::Exec, error }) if is_refused(&error) => {
            let program = std::fs::read(path).map_err(|_| no_keeper(error))?;
            let copy = memory_program(c"forkline-keeper", &program).map_err(|error| {
                let subject = format!(
                    "{}, which may not be executed where it is (noexec?), from memory (memfd_create)",
                    path.display()
                );
                LaunchError::new(crate::command::errors::Step::Keeper, &error, &subject)
            })?;
            let launched = launch(CString::default(), copy.as_fd(), stack);
            launched.map_err(|failure| no_keeper(failure.error))
        }
        Err(failure) => Err(no_keeper(failure.error)),
    }
}

/// Returns whether the error is EACCES or EPERM.
pub fn is_refused(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}
