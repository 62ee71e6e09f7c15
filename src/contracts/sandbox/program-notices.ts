import type { ExecReason } from '../../engine/executed.js';
import type { Denial } from '../../engine/sandbox-report.js';
import { firstBytes, visibleText } from '../../support/text.js';

/** Arguments may be whole texts. */
const SHOWN_BYTES = 200;

/** Returns the target of a denial for one line. */
export function shownTarget({ kind, target }: Denial): string {
  const shown = kind === 'exec' ? firstBytes(target, SHOWN_BYTES) : target;
  return shown === target ? visibleText(target) : `${visibleText(shown)}…`;
}

/** Describes a program that was not executed, why, and what can be done instead, in one line. */
export function describeDeniedProgram(denial: Denial): string {
  const { by, say, why = 'rule' } = denial;
  const runBy = by === undefined ? '' : ` (run by ${visibleText(by)})`;
  // Another version's far side may have a reason that is not known here.
  const advice = Object.hasOwn(ADVICE, why) ? ADVICE[why] : ADVICE.rule;
  const instead = say === undefined ? advice.instead : visibleText(say);
  const told = [advice.reason, instead].filter((text) => text !== '').join(' ');
  return `The sandbox's rules denied: \`${shownTarget(denial)}\`${runBy}. ${told}`;
}

interface Advice {
  /** Why it was not executed; empty: the rules say it. */
  readonly reason: string;
  /** What can be done, unless the rule says it. */
  readonly instead: string;
}

const DO_WITHOUT = 'Do without it, or ask the user.';

const ADVICE: Readonly<Record<ExecReason, Advice>> = {
  rule: { reason: '', instead: DO_WITHOUT },
  otherwise: { reason: 'No rule allows it.', instead: DO_WITHOUT },
  asked: { reason: 'The user has not allowed it.', instead: 'Do without it.' },
  unanswered: {
    reason: 'The user was asked, and has not answered in time.',
    instead: DO_WITHOUT,
  },
  unasked: { reason: 'Nobody was there to be asked, so it is not allowed.', instead: DO_WITHOUT },
  raced: {
    reason:
      'It became another program, or got other arguments, while it was started, and was killed.',
    instead: 'Run it without changing it meanwhile.',
  },
  traced: {
    reason: 'It is traced by another process, and so the rules could not be kept.',
    instead: 'Run it without a tracer.',
  },
  unread: {
    reason: 'Its content is hidden from its user, and so the rules could not hold.',
    instead: DO_WITHOUT,
  },
  long: {
    reason: 'Its arguments are too long for the user to be asked about.',
    instead: 'Give it fewer at a time.',
  },
};
