import { existsSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { errnoOf } from '../failure.js';

/** How much nicer than its host: a tenth of its share, on Linux. */
const BEHIND = 10;
const NICEST = 19;

/** Has a process come after its host, with all it will start; errno of why that can't be had, or 0. */
export function comeBehind(pid: number): number {
  try {
    const nice = Math.min(NICEST, getPriority() + BEHIND);
    setPriority(pid, nice);
    // Where Linux shares out processors by session, those within one say nothing about the others.
    const session = `/proc/${pid}/autogroup`;
    if (existsSync(session)) writeFileSync(session, String(nice));
    return 0;
  } catch (error) {
    const { info = error } = error as { info?: unknown };
    return errnoOf(info);
  }
}
