import {
  type BackgroundProcess,
  incompleteNotice,
  type RunResult,
  type SandboxReport,
  type SpillReport,
  sandboxNotices,
} from '../index.js';

/** Whether the last line of the terminal is a status line, to be wiped before the next output. */
let statusShown = false;

/** Prints a note to the user, which is no output of the command. */
export function note(text: string): void {
  clearStatus();
  process.stderr.write(`forkline: ${text}\n`);
}

/** Shows a status line on a terminal until the next output. */
export function showStatus(text: string): void {
  process.stderr.write(`\r\x1b[Kforkline: ${text}`);
  statusShown = true;
}

/** Removes the line of {@link showStatus}. */
export function clearStatus(): void {
  if (!statusShown) return;
  statusShown = false;
  process.stderr.write('\r\x1b[K');
}

/**
 * Prints what the exit code alone does not tell.
 *
 * @param endedBy The signal that has ended the command; its sender need not be told.
 */
export function noteResult(result: RunResult, endedBy: NodeJS.Signals | undefined): void {
  const incomplete = incompleteNotice(result.sandbox);
  if (incomplete !== undefined) note(incomplete);
  const ended = describeEnd(result, endedBy);
  if (ended !== undefined) note(ended);
  if (result.outOfMemory === 'yes') note('out of memory: the kernel ended a process for that');
  if (result.outOfMemory === 'likely') note('probably out of memory: the kernel ended a process');
  if (result.spill !== undefined) noteSpill(result.spill);
  noteSandbox(result.sandbox);
  if (result.background.length > 0) {
    note(`ending what it left running: ${result.background.map(describeProcess).join(', ')}`);
  }
}

/** Prints what the sandbox has denied a command, as tools tell a model. */
export function noteSandbox(sandbox: SandboxReport | undefined): void {
  for (const line of sandbox === undefined ? [] : sandboxNotices(sandbox)) note(line);
}

function describeEnd(
  { outcome }: RunResult,
  endedBy: NodeJS.Signals | undefined,
): string | undefined {
  switch (outcome.kind) {
    case 'exited':
      return undefined;
    case 'signaled':
      return outcome.signal === endedBy ? undefined : `ended by ${outcome.signal}`;
    case 'unknown':
      return 'ended in a way that is not known';
    case 'timedOut': {
      const forced = outcome.forced ? ', SIGKILL was needed' : '';
      return `timed out after ${outcome.timeoutMs / 1000} seconds${forced}`;
    }
    case 'cancelled':
      return outcome.forced ? 'SIGKILL was needed' : undefined;
  }
}

function noteSpill({ path, dropped, error }: SpillReport): void {
  if (error !== undefined) note(`cannot write the output to ${path}: ${error.message}`);
  if (dropped > 0) note(`${dropped} bytes of the output are missing in ${path}`);
}

function describeProcess({ pid, command }: BackgroundProcess): string {
  return `${pid} (${onOneLine(command)})`;
}

/** Returns a command's text without characters that a terminal obeys. */
export function onOneLine(command: string): string {
  return command.replace(UNSEEN, ' ');
}

const UNSEEN = /[\s\p{Cc}]+/gu;
