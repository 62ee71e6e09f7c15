//! Where a file has data, and where holes.

use std::fs::File;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// Returns the parts that are no holes, as (offset, length), in order.
pub(crate) fn extents(file: &File, size: u64, stored: u64) -> Result<Vec<(u64, u64)>, Errno> {
    if size == 0 {
        return Ok(Vec::new());
    }
    // Only a file that takes less than its length can have holes that are worth it.
    if stored >= size {
        return Ok(vec![(0, size)]);
    }
    let mut found = Vec::new();
    let mut from = 0;
    while from < size {
        let start = match seek(file, SeekFrom::Data(from)) {
            Ok(start) => start,
            Err(Errno::NXIO) => break,
            Err(Errno::INVAL) => return Ok(vec![(0, size)]),
            Err(errno) => return Err(errno),
        };
        let end = seek(file, SeekFrom::Hole(start))?.min(size);
        if start >= end {
            break;
        }
        found.push((start, end - start));
        from = end;
    }
    Ok(found)
}
