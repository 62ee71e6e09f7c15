// A library that counts the allocations of each thread of a program.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('allocations.c', import.meta.url));
/** The size of what is counted, in bytes: two numbers for each of 256 threads. */
const SIZE = 256 * 16;

/**
 * Compiles the library. Returns variables for the program that is to be counted, and what removes it again;
 * undefined: there is no C compiler, or no glibc.
 */
export function allocationCounter() {
  const folder = mkdtempSync(join(tmpdir(), 'forkline-allocations-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const [library, counts] = [join(folder, 'count.so'), join(folder, 'counts')];
  try {
    const flags = ['-O2', '-shared', '-fPIC', '-fno-builtin', '-o', library, SOURCE];
    execFileSync('cc', flags, { stdio: 'ignore' });
  } catch {
    remove();
    return undefined;
  }
  writeFileSync(counts, Buffer.alloc(SIZE));
  return { variables: { LD_PRELOAD: library, FORKLINE_ALLOCATIONS: counts }, remove };
}

/**
 * Takes the library's variables out of the environment, which commands inherit. Returns a function that returns
 * the allocations so far, by thread; undefined: none are counted.
 * @returns {(() => Map<number, number>) | undefined}
 */
export function ownAllocations() {
  const { FORKLINE_ALLOCATIONS: file } = process.env;
  delete process.env.LD_PRELOAD;
  delete process.env.FORKLINE_ALLOCATIONS;
  if (file === undefined) return undefined;
  return () => {
    const numbers = readFileSync(file);
    /** @type {Map<number, number>} */
    const counts = new Map();
    for (let at = 0; at < numbers.length; at += 16)
      counts.set(Number(numbers.readBigUInt64LE(at)), Number(numbers.readBigUInt64LE(at + 8)));
    return counts;
  };
}
