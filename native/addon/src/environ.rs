//! The process's environment in memory.

use std::cell::RefCell;
use std::ffi::c_char;
use std::io::IoSliceMut;
use std::mem::{size_of, size_of_val};

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// The most pieces that the kernel reads in one call.
const MOST_PIECES: usize = 1024;

thread_local! {
    /// Where the pointers and the entries were when they were last read one after the other.
    static LAST: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

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
    if array == 0 {
        return false;
    }
    LAST.with_borrow_mut(|last| {
        is_at(array, last, &entries, block) || find(array, last, &entries, block)
    })
}

/// Returns whether the array has these addresses, and the entries are there: one call of the kernel, where
/// nothing has changed since the last time.
fn is_at(array: usize, addresses: &[usize], entries: &[&[u8]], block: &[u8]) -> bool {
    if addresses.len() != entries.len() + 1 || addresses.last() != Some(&0) {
        return false;
    }
    let pointers = size_of_val(addresses);
    let mut all = vec![MemoryPiece { address: array, length: pointers }];
    all.extend(pieces(entries, &mut addresses.iter().copied()));
    let mut found = vec![0; pointers + length_of(block, entries)];
    if !read(&all, &mut found) {
        return false;
    }
    let (words, text) = found.split_at(pointers);
    is_array(words, addresses) && is_text(text, block)
}

/// Reads the addresses in the array, and then the entries.
fn find(array: usize, last: &mut Vec<usize>, entries: &[&[u8]], block: &[u8]) -> bool {
    let mut words = vec![0_u8; (entries.len() + 1) * size_of::<usize>()];
    if !read(&[MemoryPiece { address: array, length: words.len() }], &mut words) {
        return false;
    }
    *last = words.as_chunks().0.iter().map(|word| usize::from_ne_bytes(*word)).collect();
    let mut found = vec![0; length_of(block, entries)];
    last.last() == Some(&0)
        && read(&pieces(entries, &mut last.iter().copied()), &mut found)
        && is_text(&found, block)
}

/// Returns the length of the entries in memory, where each is followed by its NUL.
fn length_of(block: &[u8], entries: &[&[u8]]) -> usize {
    block.len() + usize::from(!entries.is_empty())
}

fn is_array(words: &[u8], addresses: &[usize]) -> bool {
    let (words, _) = words.as_chunks::<{ size_of::<usize>() }>();
    words.iter().map(|word| usize::from_ne_bytes(*word)).eq(addresses.iter().copied())
}

fn is_text(found: &[u8], block: &[u8]) -> bool {
    found.split_last().is_none_or(|(last, rest)| *last == 0 && rest == block)
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
            Some(last) if last.address.wrapping_add(last.length) == address => {
                last.length += length
            }
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
