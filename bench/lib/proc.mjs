// Figures of the kernel about this process. Linux only, like the engine.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** @param {string} path */
const read = (path) => readFileSync(path, 'utf8');

/**
 * A number from /proc/self/status, in its own unit (kB for memory).
 * @param {string} field
 */
function status(field) {
  const match = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(read('/proc/self/status'));
  if (!match) throw new Error(`/proc/self/status has no ${field}`);
  return Number(match[1]);
}

export const threads = () => status('Threads');
export const residentBytes = () => status('VmRSS') * 1024;
export const peakResidentBytes = () => status('VmHWM') * 1024;

/** Resets the peak to the memory that is resident now. */
export const resetPeakResident = () => writeFileSync('/proc/self/clear_refs', '5');

/**
 * The descriptors that a process has open; 0 of one that has ended.
 * @param {number | 'self'} pid
 */
export function openDescriptors(pid = 'self') {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** Bytes that a program could still touch without swapping. */
export function availableBytes() {
  const match = /^MemAvailable:\s+(\d+)/m.exec(read('/proc/meminfo'));
  return match ? Number(match[1]) * 1024 : 0;
}

/** The most descriptors this process may have open. */
export function descriptorLimit() {
  const match = /^Max open files\s+(\S+)/m.exec(read('/proc/self/limits'));
  return match?.[1] === 'unlimited' ? Number.POSITIVE_INFINITY : Number(match?.[1] ?? 1024);
}

/**
 * Nanoseconds that the main thread has been on a CPU. (process.cpuUsage counts every thread.) The kernel
 * updates it when the thread sleeps: wait for a timer before reading.
 */
export function mainThreadNanoseconds() {
  return Number(read(`/proc/self/task/${process.pid}/schedstat`).split(' ')[0]);
}

/** Counts the children that have ended and were not waited for. */
export function zombies() {
  const children = read(`/proc/self/task/${process.pid}/children`).trim();
  return children.split(' ').filter((pid) => pid !== '' && isZombie(pid)).length;
}

/** @param {string} pid */
function isZombie(pid) {
  try {
    return /^State:\s+Z/m.test(read(`/proc/${pid}/status`));
  } catch {
    return false; // reaped since the list was read
  }
}
