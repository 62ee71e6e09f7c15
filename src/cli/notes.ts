import type { BackgroundProcess, RunResult, SpillReport } from '../index.js';

/** Tells the user something that is not the command's output. */
export function note(text: string): void {
  process.stderr.write(`forkline: ${text}\n`);
}

/** Tells what the exit code alone does not. */
export function noteResult(result: RunResult): void {
  if (result.outcome.kind === 'timedOut') {
    const seconds = result.outcome.timeoutMs / 1000;
    const forced = result.outcome.forced ? ', SIGKILL was needed' : '';
    note(`timed out after ${seconds} seconds${forced}`);
  }
  if (result.spill !== undefined) noteSpill(result.spill);
  if (result.background.length > 0) {
    note(`ending what it left running: ${result.background.map(describeProcess).join(', ')}`);
  }
}

function noteSpill({ path, dropped, error }: SpillReport): void {
  if (error !== undefined) note(`cannot write the output to ${path}: ${error.message}`);
  if (dropped > 0) note(`${dropped} bytes of the output are missing in ${path}`);
}

/** On one line, however the command was written. */
function describeProcess({ pid, command }: BackgroundProcess): string {
  return `${pid} (${command.replace(/\s+/g, ' ')})`;
}
