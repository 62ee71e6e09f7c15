//! A call that executes a program: the file, and the arguments in the caller's memory.

use std::os::fd::OwnedFd;

use crate::sandbox::filter::calls::{self, Executing};
use crate::sandbox::notices::Notice;
use crate::sandbox::warden::caller::{Caller, PathBase};

/// The most bytes of arguments; the kernel allows no more.
const MOST_BYTES: usize = 6 * 1024 * 1024;
/// The smallest page size, of which every other one is a multiple.
const PAGE: u64 = 4096;

/// A program that is to be executed.
pub struct Attempt {
    /// The file, as the caller would open it (O_PATH).
    pub file: OwnedFd,
    /// The path by which the kernel tells a script's interpreter of it.
    pub called: Vec<u8>,
    pub argv: Vec<Vec<u8>>,
}

impl Attempt {
    /// Reads a call. The error is the errno for the caller.
    pub fn read(caller: &Caller, notice: &Notice, how: Executing) -> Result<Attempt, i32> {
        let [first, second, third, _, fifth, _] = notice.arguments;
        let (base, path, argv, flags) = match how {
            Executing::Path => (libc::AT_FDCWD, first, second, 0),
            Executing::PathAt => (first as i32, second, third, fifth as i32),
        };
        let path = caller.text(path)?;
        let argv = arguments(caller, argv, calls::is_native(notice.architecture))?;
        if path.is_empty() && flags & libc::AT_EMPTY_PATH != 0 {
            let file = if base == libc::AT_FDCWD {
                caller.act(|| caller.place_at(PathBase::Directory, b".")?.open())?
            } else {
                caller.descriptor(base)?
            };
            return Ok(Attempt { file, called: format!("/dev/fd/{base}").into_bytes(), argv });
        }
        let place = caller.place_at(PathBase::of(base), &path)?;
        let file = caller.act(|| place.open())?;
        let is_relative = base != libc::AT_FDCWD && !path.starts_with(b"/");
        let called = match is_relative {
            true => [format!("/dev/fd/{base}/").as_bytes(), &path].concat(),
            false => path,
        };
        Ok(Attempt { file, called, argv })
    }
}

/// Reads the array of arguments. The kernel gives a program at least one.
fn arguments(caller: &Caller, address: u64, is_native: bool) -> Result<Vec<Vec<u8>>, i32> {
    let size = if is_native { size_of::<u64>() } else { size_of::<u32>() };
    let mut memory = CallerMemory { caller, pages: Vec::new() };
    let (mut argv, mut used) = (Vec::new(), 0);
    let mut next = Some(address).filter(|address| *address != 0);
    while let Some(at) = next {
        let mut number = [0; 8];
        for (to, byte) in number.iter_mut().zip(memory.take(at, size)?) {
            *to = byte;
        }
        let pointer = u64::from_le_bytes(number);
        if pointer == 0 {
            break;
        }
        let text = memory.text(pointer, MOST_BYTES)?;
        used += text.len() + 1 + size;
        if used > MOST_BYTES {
            return Err(libc::E2BIG);
        }
        argv.push(text);
        next = Some(at.checked_add(size as u64).ok_or(libc::EFAULT)?);
    }
    if argv.is_empty() {
        argv.push(Vec::new());
    }
    Ok(argv)
}

/// The memory of a caller, read by pages: what is wanted next mostly lies in one of the last two.
struct CallerMemory<'caller> {
    caller: &'caller Caller,
    pages: Vec<(u64, Vec<u8>)>,
}

impl CallerMemory<'_> {
    /// Returns the bytes from an address to the end of its page.
    fn rest(&mut self, at: u64) -> Result<&[u8], i32> {
        let page = at - at % PAGE;
        let known = self.pages.iter().position(|(known, _)| *known == page);
        let number = match known {
            Some(number) => number,
            None => {
                let bytes = self.caller.read(page, PAGE as usize).map_err(|_| libc::EFAULT)?;
                if self.pages.len() > 1 {
                    self.pages.remove(0);
                }
                self.pages.push((page, bytes));
                self.pages.len() - 1
            }
        };
        let (_, bytes) = self.pages.get(number).ok_or(libc::EFAULT)?;
        bytes.get((at - page) as usize..).ok_or(libc::EFAULT)
    }

    fn take(&mut self, mut at: u64, length: usize) -> Result<Vec<u8>, i32> {
        let mut taken = Vec::with_capacity(length);
        while taken.len() < length {
            let rest = self.rest(at)?;
            let part = rest.get(..rest.len().min(length - taken.len())).unwrap_or_default();
            taken.extend_from_slice(part);
            at = at.checked_add(part.len() as u64).ok_or(libc::EFAULT)?;
        }
        Ok(taken)
    }

    /// Returns the text at an address, without the NUL at its end.
    fn text(&mut self, mut at: u64, most: usize) -> Result<Vec<u8>, i32> {
        let mut text = Vec::new();
        loop {
            let rest = self.rest(at)?;
            let end = rest.iter().position(|byte| *byte == 0);
            let part = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            text.extend_from_slice(part);
            if end.is_some() {
                return Ok(text);
            }
            if text.len() > most {
                return Err(libc::E2BIG);
            }
            at = at.checked_add(part.len() as u64).ok_or(libc::EFAULT)?;
        }
    }
}
