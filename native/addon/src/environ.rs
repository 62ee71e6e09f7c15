//! The process's environment in memory.

use std::ffi::c_char;
use std::io::IoSliceMut;
use std::mem::size_of;

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// The most pieces that the kernel reads in one call.
const MOST_PIECES: usize = 1024;

/// Returns whether the environment consists of exactly these entries, separated by NUL, in this order.
///
/// Another thread may change the environment meanwhile (a worker with `SHARE_ENV`), under a lock of Node's
/// that other code can't take. Memory that is read here may be freed or reused. So the kernel does the
/// reading, which can't fault, and unexpected bytes only make the answer false. It is false as well where the
/// kernel may not read (a sandbox forbids it).
pub fn is(block: &[u8]) -> bool {
    let entries: Vec<&[u8]> = if block.is_empty() { vec![] } else { block.split(is_nul).collect() };
    // SAFETY: reads one word, which always exists. Its value is not dereferenced here.
    let array = unsafe { (&raw const environ).read_volatile() } as usize;
    let mut addresses = vec![0_u8; (entries.len() + 1) * size_of::<usize>()];
    let pointers = [MemoryPiece { address: array, length: addresses.len() }];
    if array == 0 || !read(&pointers, &mut addresses) {
        return false;
    }
    let (words, _) = addresses.as_chunks::<{ size_of::<usize>() }>();
    let mut addresses = words.iter().map(|word| usize::from_ne_bytes(*word));
    let pieces = pieces(&entries, &mut addresses);
    // Each entry is followed by its NUL.
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

/// Returns the memory that the entries should be in. Those that the process was started with are in one
/// piece.
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

/// Reads all pieces. Returns whether that succeeded.
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
    // SAFETY: the kernel writes to one borrowed slice, laid out as an iovec. The addresses to read from are
    // only numbers; the kernel returns EFAULT where there is no memory.
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
