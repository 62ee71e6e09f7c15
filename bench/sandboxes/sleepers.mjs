// Processes that can be told from all others, whatever has become of their parents.

import { readdirSync, readFileSync } from 'node:fs';

/** How long they sleep, in seconds, which nobody else does. */
const seconds = process.env.SLEEP_SECONDS ?? `7200.${process.pid}`;

/** A command that sleeps. */
export function sleeper() {
  return `sleep ${seconds}`;
}

/** Those that run. */
export function running() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isSleeper(name))
    .map(Number);
}

/** @param {string} pid */
function isSleeper(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `sleep\0${seconds}\0`;
  } catch {
    return false;
  }
}
