import { existsSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { errnoOf } from '../failure.js';

/** The nice value added to the host's: on Linux, a tenth of its share. */
const BEHIND = 10;
const NICEST = 19;

/** Lowers the priority of a process and of all that it will start; returns the errno, or 0. */
export function comeBehind(pid: number): number {
  try {
    const nice = Math.min(NICEST, getPriority() + BEHIND);
    setPriority(pid, nice);
    // Where Linux shares processors between sessions, nice values count only within one.
    const session = `/proc/${pid}/autogroup`;
    if (existsSync(session)) writeFileSync(session, String(nice));
    return 0;
  } catch (error) {
    const { info = error } = error as { info?: unknown };
    return errnoOf(info);
  }
}
