import type { TimeoutReason } from '../engine/told/timeout-reason.js';
import { visibleText } from '../support/text.js';
import { describeProcess, timedOut } from './notices.js';

/** How a tool gives a command more time, as sentences for a model. */
export interface MoreTime {
  /** Advice on how to give a command more time. */
  readonly more: string;
  /** How a command is started in the background, to continue the sentence `Start it`. */
  readonly background: string;
}

/** The end of {@link MoreTime.background} for a tool that has no way of its own. */
export const BY_THE_SHELL = 'with `&` at its end and its output in a file';

/**
 * Says that a command's time was up, why it had not ended, as far as that was seen, and what to do.
 *
 * @param how A sentence on how it was ended, before the others.
 */
export function timeoutNotice(
  seconds: number,
  reason: TimeoutReason | undefined,
  ways: MoreTime,
  how?: string,
): string {
  const sentences = [how, ...adviceOf(reason, ways)].filter((one) => one !== undefined);
  return `${timedOut(seconds)}\n${sentences.join(' ')}`;
}

/** Says that a command's time was up, and why it had not ended, in one line. */
export function timeoutLine(seconds: number, reason: TimeoutReason | undefined): string {
  return reason === undefined ? timedOut(seconds) : `${timedOut(seconds)}: ${whyNotice(reason)}`;
}

/** Says why a command had not ended, if that was seen, and what to do, in two sentences or one. */
export function adviceOf(reason: TimeoutReason | undefined, ways: MoreTime): readonly string[] {
  return reason === undefined ? [ways.more] : [whyNotice(reason), adviceFor(reason, ways)];
}

/** Says what kept a command from ending: `4711 (vi notes) waited for keys at the terminal.` */
function whyNotice(reason: TimeoutReason): string {
  const { pid, command } = reason;
  const who = describeProcess({ pid, command });
  switch (reason.kind) {
    case 'asked':
      return `The user was asked about \`${visibleText(command)}\`, and had not answered.`;
    case 'terminal':
      return `${who} waited for keys at the terminal.`;
    case 'stdin':
      return `${who} waited for input on stdin.`;
    case 'lock': {
      const { path, holder } = reason;
      const of = path === undefined ? '' : ` of ${path}`;
      const by = holder === undefined ? '' : `, which ${describeProcess(holder)} held`;
      return `${who} waited for a lock${of}${by}.`;
    }
    case 'stopped':
      return `${who} was stopped, as by SIGSTOP or by using a terminal from the background.`;
    case 'endless':
      return `${who} goes on until it is ended.`;
    case 'cpu':
      return `${who} was computing, for ${(reason.cpuMs / 1000).toFixed(1)} seconds so far.`;
    case 'listening': {
      const { ports } = reason;
      const where = `port${ports.length === 1 ? '' : 's'} ${ports.join(', ')}`;
      return `${who} listened on ${where}: a server does not end by itself.`;
    }
  }
}

function adviceFor({ kind }: TimeoutReason, { more, background }: MoreTime): string {
  switch (kind) {
    case 'asked':
      return 'Do without it, or ask the user.';
    case 'terminal':
      return (
        'More time does not help: use a program that asks nothing, or options with which it ' +
        'asks nothing (`-y`).'
      );
    case 'stdin':
      return (
        'More time does not help: give it its input in the command (`printf … |`, `<file`), or ' +
        'none (`</dev/null`).'
      );
    case 'lock':
      return 'Run it again once the lock is free.';
    case 'stopped':
      return 'More time does not help.';
    case 'endless':
      return `To see what it prints at first, put \`timeout 10\` before it; or start it ${background}.`;
    case 'cpu':
      return more;
    case 'listening':
      return `Start it ${background}.`;
  }
}
