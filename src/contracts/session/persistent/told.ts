import type { Outcome, RunResult } from '../../../engine/outcome.js';
import type { ShellStop } from '../../../persistent-shell/shell.js';
import type { ToolResult } from '../../contract.js';
import type { SessionDetails } from '../result.js';

/** The part of a notice about what is lost with a shell. */
const LOST = 'variables and functions are gone';

/** The reason of a shell that waits for the next line and has not reported the last one. */
const DEAF =
  'it runs no more commands, as after `set -n` or `enable -n`, with a DEBUG trap that skips them, ' +
  'with a function called `builtin` or a read-only `LINENO` or `_`';

/**
 * Says that the shell has ended together with a call.
 *
 * @param reason Why the host ended the shell; undefined: it ended by itself.
 * @param hasBegun Whether the shell had begun with the call; undefined: not known.
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

/** Says that the shell has ended since the call before. */
export function betweenNotice({ outcome }: RunResult, cwd: string): string {
  return `The shell had ended since the last command${howOf(outcome)}; this one ran in a new one, from ${cwd} on: ${LOST}.`;
}

/** Says that the shell was ended when the call before was cancelled, which the model may not know. */
export function cancelledNotice(cwd: string): string {
  return `The shell was ended with the call before, which was cancelled; this one ran in a new one, from ${cwd} on: ${LOST}.`;
}

/** Says that a call with `restart` has a new shell. */
export function restartNotice(cwd: string): string {
  return `The shell was restarted in ${cwd}: ${LOST}, and everything that the old one had started was ended.`;
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

/** Says that a shell has ended before its first command. */
export function neverReady(shell: RunResult): string {
  const said =
    'stderr' in shell && shell.stderr.kind === 'complete' ? shell.stderr.text.trim() : '';
  const why = said === '' ? '' : `: ${said}`;
  return `Command could not be started: the shell has ended before its first command${howOf(shell.outcome)}${why}`;
}

/** Says that a shell has ended since it could not open the pipes for a call's output. */
export function notOpened(cwd: string): string {
  return (
    'Command could not be started: the shell could not open the pipes for its output, as when it ' +
    'may have no more descriptors, or after `enable -n exec`. ' +
    `${lostNotice(cwd, undefined, false)}`
  );
}

/** The receipt's trouble of a call whose remaining processes cannot be seen. */
export const UNSEEN = 'the processes that still run could not be looked at';

/** Makes the answer to a call that asks only for a new shell. */
export function restartedResult(cwd: string, notice: string): ToolResult<SessionDetails> {
  const structured = {
    ...{ stdout: '', stderr: '', stdout_characters: 0, stderr_characters: 0 },
    ...{ exit_code: null, timed_out: false, notices: [notice], cwd, status: 'completed' },
  };
  return { content: [{ type: 'text', text: notice }], details: { cwd }, structured };
}
