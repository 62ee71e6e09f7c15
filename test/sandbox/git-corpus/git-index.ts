const STAT_BYTES = 24;
const HASH_BYTES = 20;

/**
 * What an index says, but for times, sizes and numbers of files, which each copy has of its own: mode, hash,
 * flags and name of each entry, and its tree of directories. An index that is compressed (version 4), or no index, is
 * its bytes.
 */
export function meaningOf(index: Buffer): Buffer {
  if (index.toString('latin1', 0, 4) !== 'DIRC' || index.readUInt32BE(4) > 3) return index;
  const parts = [index.subarray(0, 12)];
  let at = 12;
  for (let count = index.readUInt32BE(8); count > 0; count -= 1) {
    const flags = index.readUInt16BE(at + 60);
    const name = at + 62 + (flags & 0x4000 ? 2 : 0);
    const end = index.indexOf(0, name);
    // The mode, then owners and the size, which are left out, then all the rest.
    parts.push(index.subarray(at + STAT_BYTES, at + STAT_BYTES + 4), index.subarray(at + 40, end));
    at += Math.ceil((end + 1 - at) / 8) * 8;
  }
  // The end is a hash of all the bytes.
  while (at < index.length - HASH_BYTES) {
    const size = index.readUInt32BE(at + 4);
    const kind = index.toString('latin1', at, at + 4);
    parts.push(Buffer.from(kind));
    if (kind === 'TREE' || kind === 'REUC') parts.push(index.subarray(at + 8, at + 8 + size));
    at += 8 + size;
  }
  return Buffer.concat(parts);
}
