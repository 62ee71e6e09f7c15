import type { InputWait } from '../../tasks/lookout/stdin-wait.js';

const PASSWORD = 'It asks for a password';
const WAITS = 'waits for input on its';

/**
 * Says in one line what a task waits for, after a sentence about its silence or alone.
 *
 * @param silence A sentence without its full stop.
 */
export function waitText(wait: InputWait, silence?: string): string {
  if (wait === 'password') {
    return (
      `${silence === undefined ? '' : `${silence}. `}${PASSWORD} (echo is off: what is typed is not shown). ` +
      'Type one only if the user has given it to you for this; else ask the user.'
    );
  }
  return `${silence === undefined ? 'It' : `${silence}, and`} ${WAITS} ${wait}.`;
}

/** Returns whether a line about a task says what it waits for. */
export function saysWait(line: string): boolean {
  return line.includes(` ${WAITS} `) || line.includes(PASSWORD);
}
