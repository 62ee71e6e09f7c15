import { closeSync, openSync, readFileSync } from 'node:fs';

/**
 * Explains why a binary that exists could not be loaded: about a file system that lets nothing be executed, the
 * dynamic linker says only that it "failed to map segment".
 *
 * @param locate Returns the path of the binary.
 * @returns An error with the code `FORKLINE_NOEXEC` and the mount point; or the given error, if it has another
 * reason.
 */
export function explainLoad(error: unknown, locate: () => string): unknown {
  const path = attempt(locate);
  const mount = path && noexecMountOf(path);
  if (!mount) return error;
  const message =
    `${path} cannot be loaded: the file system at ${mount} is mounted noexec; install forkline on another ` +
    'one, or copy that file, with forkline-keeper beside it, and set FORKLINE_BINDING to the copy';
  return Object.assign(new Error(message, { cause: error }), { code: 'FORKLINE_NOEXEC', mount });
}

function attempt(locate: () => string): string | undefined {
  try {
    return locate();
  } catch {
    return undefined;
  }
}

/**
 * Returns the mount point of the file system that contains a file, if nothing on it may be executed or loaded as
 * a library. Undefined: it may, or that cannot be seen (without /proc, or the file cannot be read).
 */
function noexecMountOf(path: string): string | undefined {
  try {
    const id = mountIdOf(path);
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    // Fields: mount id, parent, device, root, mount point, options.
    const fields = mounts.map((line) => line.split(' ')).find(([mount]) => mount === id);
    const [, , , , point, options] = fields ?? [];
    return options?.split(',').includes('noexec') ? unescaped(point ?? '') : undefined;
  } catch {
    return undefined;
  }
}

/** Asks the kernel, since mounts may be on top of each other. */
function mountIdOf(path: string): string | undefined {
  const file = openSync(path, 'r');
  try {
    return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'utf8'))?.[1];
  } finally {
    closeSync(file);
  }
}

/** Blanks and the like are octal numbers in the table of mounts. */
function unescaped(point: string): string {
  return point.replace(/\\(\d{3})/g, (_, digits) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
