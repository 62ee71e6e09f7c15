// What a suite compares with and is not on this machine: its column is left out, and why is told.
import { execFileSync } from 'node:child_process';
import { absence, notInstalled } from './not-measured.mjs';

/** @type {Set<string>} */
const reasons = new Set();

/** @param {string} reason what is missing, and where to get it */
export const leaveOut = (reason) => void reasons.add(reason);

/** Returns why columns were left out of this process's report. */
export const leftOut = () => [...reasons];

/**
 * Returns whether a package is installed; if not, it is left out.
 * @param {string} name
 */
export function hasPackage(name) {
  const reason = absence(name);
  if (reason !== undefined) leaveOut(reason);
  return reason === undefined;
}

/**
 * Returns whether a program runs; if not, it is left out.
 * @param {string} name
 * @param {readonly string[]} words a call of it that succeeds: the program and its arguments
 * @param {string} from where to get it
 */
export function hasProgram(name, [file = '', ...args], from) {
  try {
    execFileSync(file, args, { stdio: 'ignore' });
    return true;
  } catch (error) {
    const isThere = !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
    leaveOut(isThere ? `${name} does not work here` : notInstalled(name, from));
    return false;
  }
}
