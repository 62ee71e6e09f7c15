import { constants } from 'node:fs';
import { type FileHandle, lstat, open, stat } from 'node:fs/promises';

/**
 * How a directory is held during work in it: `descriptor`, by an open descriptor, so that renaming or
 * replacing the directory changes nothing; `path`, by its name alone, where there is no /proc.
 */
export type Hold = 'descriptor' | 'path';

/** A directory that is held during work in it. */
export interface HeldDirectory {
  /** Returns the path for system calls on one of its entries; `.` is the directory itself. */
  at(name: string): string;
  close(): Promise<void>;
}

/**
 * A flag of Linux that Node does not name: an open descriptor to go on from, also where reading is not
 * allowed.
 */
const O_PATH = 0o10_000_000;

const DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens and holds a directory. A symlink is refused.
 *
 * @throws The system's error: `ENOTDIR` for a symlink, and for anything else that is not a directory.
 */
export async function holdDirectory(path: string, hold: Hold): Promise<HeldDirectory> {
  if (hold === 'path') return nameDirectory(path);
  const handle = await open(path, DIRECTORY);
  return { at: (name) => inDescriptor(handle, name), close: () => handle.close() };
}

/** Uses the kernel's link to an open directory, since Node has no openat(2). */
function inDescriptor({ fd }: FileHandle, name: string): string {
  return `/proc/self/fd/${fd}/${name}`;
}

async function nameDirectory(path: string): Promise<HeldDirectory> {
  if (!(await lstat(path)).isDirectory()) {
    throw Object.assign(new Error('ENOTDIR: not a directory'), { code: 'ENOTDIR' });
  }
  return { at: (name) => `${path}/${name}`, close: () => Promise.resolve() };
}

/** Returns whether directories can be held by descriptor here, by trying it on `directory`. */
export async function bestHold(directory: string): Promise<Hold> {
  if (process.platform !== 'linux') return 'path';
  const held = await holdDirectory(directory, 'descriptor');
  try {
    const [there, here] = await Promise.all([stat(held.at('.')), stat(directory)]);
    return there.ino === here.ino && there.dev === here.dev ? 'descriptor' : 'path';
  } catch {
    return 'path';
  } finally {
    await held.close();
  }
}
