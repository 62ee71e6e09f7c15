import { processesRunning } from './processes.js';

/**
 * A `sleep` that no other process on the machine has the like of, so that what is left of it can be
 * found by its arguments alone.
 */
export function longSleep(seconds: number): string {
  return `sleep ${seconds}.${process.pid}`;
}

/** Those of {@link longSleep} that run. */
export function sleeping(seconds: number): number[] {
  return processesRunning(longSleep(seconds));
}

/** A text as one word of a shell command. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Becomes a daemon in the classic way, writes its pid to a file, and stays. */
export function daemon(pidFile: string): string {
  return `perl -e ${quote(`
    use POSIX;
    fork and exit; POSIX::setsid; fork and exit;
    open F, ">", "${pidFile}.new"; print F $$; close F; rename "${pidFile}.new", "${pidFile}";
    POSIX::close($_) for 0 .. 255;
    sleep 300;`)}`;
}

/** Writes bytes exactly as they are. */
export function printBytes(bytes: Uint8Array): string {
  const escaped = [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
  return `printf '${escaped}'`;
}
