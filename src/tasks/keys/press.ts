import { InputError, showValue } from '../../support/errors.js';
import { pause } from '../../support/timing.js';
import type { TaskScreen } from '../screen.js';
import type { TaskSubject } from '../subject.js';
import { keyBytes } from './key-names.js';

/**
 * The time until the next key, in milliseconds. Within half a second after Escape, Node takes both for one key
 * with Alt; and what comes right after a key that sends a signal may be lost with what it interrupts.
 */
const PAUSES_MS: Readonly<Record<string, number>> = {
  '\x1b': 600,
  '\x03': 200,
  '\x1a': 200,
  '\x1c': 200,
};

/** Keys of a terminal that have a meaning on a pipe too. */
const ON_PIPE: Readonly<Record<string, 'end' | NodeJS.Signals | Uint8Array>> = {
  '\x03': 'SIGINT',
  '\x04': 'end',
  '\x1c': 'SIGQUIT',
  '\r': Buffer.from('\n'),
};

/**
 * Presses keys, by their names. Without a terminal, Ctrl-D closes stdin, Ctrl-C and Ctrl-\ signal the process
 * group, and Enter ends a line.
 *
 * @param field The name of the list, for errors.
 * @throws {InputError} There is no such key, or the task has no terminal for it; nothing was pressed.
 * @throws Error with `code: 'EPIPE'`: the command has ended, or closed its stdin.
 */
export async function pressKeys(
  subject: TaskSubject,
  screen: TaskScreen | undefined,
  keys: readonly string[],
  field: string,
): Promise<void> {
  // All names are checked before the first key is pressed.
  keys.forEach((key, index) => {
    keyBytes(key, `${field}[${index}]`, false);
  });
  if (screen === undefined) await pressOnPipe(subject, keys, field);
  else await pressOnTerminal(subject, screen, keys, field);
}

async function pressOnTerminal(
  subject: TaskSubject,
  screen: TaskScreen,
  keys: readonly string[],
  field: string,
): Promise<void> {
  for (let at = 0; at < keys.length; ) {
    const isApplicationMode = await screen.applicationCursorKeys();
    const sent = keys.slice(at).map((key) => keyBytes(key, field, isApplicationMode));
    const slow = sent.findIndex((key) => PAUSES_MS[key] !== undefined);
    const end = slow === -1 ? sent.length : slow + 1;
    await subject.write(Buffer.from(sent.slice(0, end).join(''), 'utf8'));
    at += end;
    if (at < keys.length) await pause(PAUSES_MS[sent[slow] ?? ''] ?? 0);
  }
}

async function pressOnPipe(
  subject: TaskSubject,
  keys: readonly string[],
  field: string,
): Promise<void> {
  const meanings = keys.map((key, index) => {
    const meaning = ON_PIPE[keyBytes(key, field, false)];
    if (meaning !== undefined) return meaning;
    const expected = 'ctrl-d, ctrl-c or enter, since it has no terminal';
    throw new InputError(
      `${field}[${index}]: expected ${expected} (start it again with \`pty: true\`), ` +
        `got ${showValue(key)}`,
    );
  });
  for (const meaning of meanings) {
    if (meaning === 'end') subject.closeInput();
    else if (typeof meaning === 'string') await subject.signal(meaning);
    else await subject.write(meaning);
  }
}
