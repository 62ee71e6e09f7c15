//! The process's environment, as it lies in memory.

use std::ffi::c_char;
use std::io::IoSliceMut;
use std::mem::size_of;

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// More pieces than this the kernel does not read at once.
const MOST_PIECES: usize = 1024;

/// Whether the environment is exactly this: entries separated by NUL, in this order.
///
/// Another thread may change it meanwhile (a worker with `SHARE_ENV`), under a lock of Node's that
/// nobody else can take; memory that is read here may be gone or be something else. So the kernel
/// reads it, which does not fault, and what is not what was expected is simply not it. Where the
/// kernel may not (a sandbox forbids it), the answer is no.
pub fn is(block: &[u8]) -> bool {
    let entries: Vec<&[u8]> = if block.is_empty() { vec![] } else { block.split(is_nul).collect() };
    // SAFETY: one word, which is always there; it is read as a value, and not followed here.
    let array = unsafe { (&raw const environ).read_volatile() } as usize;
    let mut addresses = vec![0_u8; (entries.len() + 1) * size_of::<usize>()];
    let pointers = [MemoryPiece { address: array, length: addresses.len() }];
    if array == 0 || !read(&pointers, &mut addresses) {
        return false;
    }
    let (words, _) = addresses.as_chunks::<{ size_of::<usize>() }>();
    let mut addresses = words.iter().map(|word| usize::from_ne_bytes(*word));
    let pieces = pieces(&entries, &mut addresses);
    // With the NUL after each entry.
    let mut found = vec![0; block.len() + usize::from(!entries.is_empty())];
    addresses.next() == Some(0)
        && read(&pieces, &mut found)
        && found.split_last().is_none_or(|(last, rest)| *last == 0 && rest == block)
}

fn is_nul(byte: &u8) -> bool {
    *byte == 0
}

/// A piece of memory.
struct MemoryPiece {
    address: usize,
    length: usize,
}

/// Where the entries should lie; those that the process was started with lie in one piece.
fn pieces(entries: &[&[u8]], addresses: &mut impl Iterator<Item = usize>) -> Vec<MemoryPiece> {
    let mut pieces: Vec<MemoryPiece> = Vec::new();
    for (entry, address) in entries.iter().zip(addresses) {
        let length = entry.len() + 1;
        match pieces.last_mut() {
            Some(last) if last.address + last.length == address => last.length += length,
            _ => pieces.push(MemoryPiece { address, length }),
        }
    }
    pieces
}

/// Whether all of it could be read.
fn read(pieces: &[MemoryPiece], into: &mut [u8]) -> bool {
    let length = into.len();
    if length == 0 {
        return true;
    }
    if pieces.len() > MOST_PIECES {
        return false;
    }
    let remote: Vec<libc::iovec> = pieces
        .iter()
        .map(|piece| libc::iovec { iov_base: piece.address as *mut _, iov_len: piece.length })
        .collect();
    let mut local = [IoSliceMut::new(into)];
    // SAFETY: what it writes to is one borrowed slice, laid out as an iovec; what it reads from
    // are numbers to the kernel, which answers EFAULT where no memory is.
    let read = unsafe {
        libc::process_vm_readv(
            libc::getpid(),
            local.as_mut_ptr().cast(),
            1,
            remote.as_ptr(),
            remote.len() as libc::c_ulong,
            0,
        )
    };
    usize::try_from(read) == Ok(length)
}
