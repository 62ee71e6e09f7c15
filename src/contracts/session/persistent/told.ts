import type { Outcome, RunResult } from '../../../engine/outcome.js';
import type { ShellStop } from '../../../persistent-shell/shell.js';
import type { ToolResult } from '../../contract.js';
import type { SessionDetails } from '../result.js';

/** What is gone with a shell, and what is not. */
const LOST = 'variables and functions are gone';

/** Why a shell is of no use any more that waits for another line without a word of the last. */
const DEAF =
  'it runs no more commands, as after `set -n` or `enable -n`, with a DEBUG trap that skips them, ' +
  'with a function called `builtin` or a read-only `LINENO` or `_`';

/**
 * What a model is told when a call's shell has ended with it.
 *
 * @param reason Why we ended it; undefined: nobody here did.
 * @param hasBegun The call has; undefined: that is not known.
 */
export function lostNotice(
  cwd: string,
  reason: ShellStop | undefined,
  hasBegun: boolean | undefined,
): string {
  const what = reason === undefined ? 'The shell has ended' : 'The shell was ended';
  const why = reason === 'lost' ? `, since ${DEAF}` : '';
  const known = hasBegun === undefined ? ' Whether the command has run is not known.' : '';
  return `${what}${why}; the next command starts a new one in ${cwd}: ${LOST}.${known}`;
}

/** What it is told when the shell has ended since the call before. */
export function betweenNotice({ outcome }: RunResult, cwd: string): string {
  return `The shell had ended since the last command${howOf(outcome)}; this one ran in a new one, from ${cwd} on: ${LOST}.`;
}

/** The same when it was ended with a call that was cancelled, of which nobody may have been told. */
export function cancelledNotice(cwd: string): string {
  return `The shell was ended with the call before, which was cancelled; this one ran in a new one, from ${cwd} on: ${LOST}.`;
}

/** What a call is told that asks for a new shell. */
export function restartNotice(cwd: string): string {
  return `The shell was restarted in ${cwd}: ${LOST}, and what the old one had started was ended.`;
}

function howOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'exited':
      return ` (exit code ${outcome.exitCode})`;
    case 'signaled':
      return ` (killed by ${outcome.signal})`;
    default:
      return '';
  }
}

/** What is said of a shell that has ended before its first command. */
export function neverReady(shell: RunResult): string {
  const said =
    'stderr' in shell && shell.stderr.kind === 'complete' ? shell.stderr.text.trim() : '';
  const why = said === '' ? '' : `: ${said}`;
  return `Command could not be started: the shell has ended before its first command${howOf(shell.outcome)}${why}`;
}

/** What is said of a shell that could not open what a call is to print to, and has ended with that. */
export function notOpened(cwd: string): string {
  return (
    'Command could not be started: the shell could not open the pipes for its output, as when it ' +
    `may have no more descriptors. ${lostNotice(cwd, undefined, false)}`
  );
}

/** The trouble of a call of which nobody can see what it has left running. */
export const UNSEEN = 'what still runs of it could not be looked at';

/** The answer to a call that asks for a new shell and nothing else. */
export function restartedResult(cwd: string, notice: string): ToolResult<SessionDetails> {
  const structured = {
    ...{ stdout: '', stderr: '', stdout_characters: 0, stderr_characters: 0 },
    ...{ exit_code: null, timed_out: false, notices: [notice], cwd, status: 'completed' },
  };
  return { content: [{ type: 'text', text: notice }], details: { cwd }, structured };
}
