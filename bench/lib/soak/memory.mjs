// Resident memory by what it is for, as the kernel counts it.
import { readFileSync } from 'node:fs';

/**
 * A sum over all mappings, in bytes.
 * @param {string} text of smaps or smaps_rollup
 * @param {string} field
 */
function sumOf(text, field) {
  const found = text.matchAll(new RegExp(`^${field}:\\s+(\\d+) kB`, 'gm'));
  return [...found].reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0);
}

/** @param {number | 'self'} pid */
export function rollup(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const [rss, anonymous] = [sumOf(text, 'Rss'), sumOf(text, 'Anonymous')];
  return {
    rss,
    pss: sumOf(text, 'Pss'),
    anonymous,
    privateDirty: sumOf(text, 'Private_Dirty'),
    files: rss - anonymous,
  };
}

/**
 * What a process has for itself alone, in bytes; 0 of one that has ended.
 * @param {number} pid
 */
export function privateBytes(pid) {
  try {
    return rollup(pid).privateDirty;
  } catch {
    return 0;
  }
}

/** How much of malloc's main arena is resident in this process, in bytes: the mapping that the kernel calls heap. */
export function mainArenaBytes() {
  const text = readFileSync('/proc/self/smaps', 'utf8');
  const heap = /^\S+ \S+ \S+ \S+ \S+ +\[heap\]\n(?:[A-Z]\w+:.*\n)+/m.exec(text)?.[0] ?? '';
  return sumOf(heap, 'Rss');
}
