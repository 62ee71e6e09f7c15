import type { ListeningPort } from '../../receipt/ports.js';
import { wellFormed } from '../../support/text.js';
import type { LookAim } from '../../tasks/look/windows.js';
import type { Awaited, Until } from '../../tasks/wait.js';
import { formatSeconds } from '../notices.js';
import { waitText } from './wait-text.js';

/** Events that a model may wait for, all optional: the first ends the wait. Times in seconds. */
export interface UntilInput {
  /** Text in a line of the output. */
  readonly line?: string;
  /** TCP port on which the task listens. */
  readonly port?: number;
  /** Seconds without output. */
  readonly silent?: number;
  /** The longest wait, in seconds. */
  readonly seconds?: number;
}

/** The longest wait: most clients give up a call after 60 seconds. */
const LONGEST_WAIT_SECONDS = 50;

/** Fields of a tool's input for {@link UntilInput}. */
export const UNTIL_PROPERTIES = {
  line: { type: 'string', description: 'Wait until a line of its output has this in it' },
  port: { type: 'integer', minimum: 1, description: 'Wait until it listens on this TCP port' },
  silent: {
    type: 'number',
    minimum: 0,
    description: 'Wait until it is silent for so many seconds',
  },
  seconds: {
    type: 'number',
    minimum: 0,
    description: `Wait at most so long (at most ${LONGEST_WAIT_SECONDS})`,
  },
} satisfies Record<keyof UntilInput, object>;

/** Converts a model's input to what is waited for; the end of the task always counts. */
export function untilOf(
  { line, port, silent, seconds }: UntilInput,
  defaultSeconds: number,
): Until & { readonly atMostMs: number } {
  const atMost = Math.min(seconds ?? defaultSeconds, LONGEST_WAIT_SECONDS);
  return {
    ended: true,
    ...(line !== undefined && line !== '' && { line }),
    ...(port !== undefined && { port }),
    ...(silent !== undefined && { silentMs: silent * 1000 }),
    atMostMs: atMost * 1000,
  };
}

/** Returns whether something besides the end is waited for. */
export function namesSomething({ line, port, silentMs }: Until): boolean {
  return line !== undefined || port !== undefined || silentMs !== undefined;
}

/** Returns what a look is to show after a wait; undefined: what was printed last. */
export function aimOf(awaited: Awaited): LookAim | undefined {
  if (awaited.kind !== 'line') return undefined;
  const { from, cursor } = awaited;
  return { kind: 'line', from, cursor };
}

/** Characters of a line that are told. */
const TOLD_CHARACTERS = 400;

/** Shows a line on which a wait has ended; of a long one what is around the text that was waited for. */
function toldLine({ line, pattern }: Awaited & { readonly kind: 'line' }): string {
  if (line.length <= TOLD_CHARACTERS) return line;
  const at = typeof pattern === 'string' ? line.indexOf(pattern) : line.search(pattern);
  const from = Math.max(0, Math.min(at - TOLD_CHARACTERS / 4, line.length - TOLD_CHARACTERS));
  const to = from + TOLD_CHARACTERS;
  const told = wellFormed(line.slice(from, to));
  return `${from > 0 ? '…' : ''}${told}${to < line.length ? '…' : ''}`;
}

/** Describes in one line what ended a wait; undefined: the end of the task, which is told elsewhere. */
export function awaitedText(awaited: Awaited, until: Until): string | undefined {
  switch (awaited.kind) {
    case 'line':
      return `It has printed: ${toldLine(awaited)}`;
    case 'listening':
      return listeningText(awaited);
    case 'silent': {
      const seconds = Math.round(awaited.forMs / 100) / 10;
      const quiet = `It has printed nothing for ${formatSeconds(seconds)}`;
      return awaited.waitsFor === undefined ? `${quiet}.` : waitText(awaited.waitsFor, quiet);
    }
    case 'time': {
      if (!namesSomething(until)) return undefined;
      return `Nothing of that has happened within ${formatSeconds((until.atMostMs ?? 0) / 1000)}.`;
    }
    case 'ended':
    case 'gone':
    case 'lost':
      return undefined;
    default:
      return awaited satisfies never;
  }
}

function listeningText({ port, address, otherNetwork, url }: ListeningPort): string {
  const where = `It listens on port ${port} (${address})`;
  if (url !== undefined) return `${where} in its sandbox: from outside it is ${url}.`;
  if (!otherNetwork) return `${where}.`;
  return `${where} in a network of its own, that of its sandbox or container: it is reached only from inside.`;
}
