import { constants } from 'node:fs';
import { type FileHandle, lstat, open, stat } from 'node:fs/promises';

/**
 * How a directory is held while something is done in it: `descriptor`, open, so that who renames or
 * replaces it meanwhile changes nothing; `path`, by its name alone, where there is no /proc.
 */
export type Hold = 'descriptor' | 'path';

/** A directory in which something is done. */
export interface HeldDirectory {
  /** What the system is to be called with for one of its entries; `.` is itself. */
  at(name: string): string;
  close(): Promise<void>;
}

/** Linux's, which Node does not name: enough to go on from, also where reading is not allowed. */
const O_PATH = 0o10_000_000;

const DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Holds a directory. A symlink is none.
 *
 * @throws The system's error: `ENOTDIR` for a symlink, and whatever else is no directory.
 */
export async function holdDirectory(path: string, hold: Hold): Promise<HeldDirectory> {
  if (hold === 'path') return nameDirectory(path);
  const handle = await open(path, DIRECTORY);
  return { at: (name) => inDescriptor(handle, name), close: () => handle.close() };
}

/** Node has no openat(2). The kernel's link to an open directory does the same. */
function inDescriptor({ fd }: FileHandle, name: string): string {
  return `/proc/self/fd/${fd}/${name}`;
}

async function nameDirectory(path: string): Promise<HeldDirectory> {
  if (!(await lstat(path)).isDirectory()) {
    throw Object.assign(new Error('ENOTDIR: not a directory'), { code: 'ENOTDIR' });
  }
  return { at: (name) => `${path}/${name}`, close: () => Promise.resolve() };
}

/** Whether directories can be held by descriptor here: this one is tried. */
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
