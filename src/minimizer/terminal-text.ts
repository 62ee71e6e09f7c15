import { readSequence, type Sequence } from './escape-sequence.js';
import { type NumberedText, numberedText, toText } from './numbered-text.js';
import { toEnd } from './steps.js';
import { TerminalScreen } from './terminal-screen.js';

/** Characters between two pauses. */
const STEP = 16_384;

/**
 * Returns a text as a person would have read it: without escape sequences, with lines as they were drawn
 * last. Of the controls only newlines and tabs remain. Yields from time to time, so that the caller can
 * let other work run.
 *
 * For output of a command on a pipe, each line with its number in it. Output of a command on a terminal,
 * with a size and programs that fill the screen, is for `readableText()` of src/terminal.
 *
 * @returns Never more characters or bytes than `text` has.
 */
export function* renderTerminal(text: string): Generator<void, NumberedText> {
  // Most output has no controls.
  if (nextControl(text, 0, true) === text.length) return numberedText(text);
  const drawn = yield* draw(text, new TerminalScreen('row'));
  const shown = toText(drawn);
  const isLonger = shown.length > text.length || Buffer.byteLength(shown) > Buffer.byteLength(text);
  return isLonger ? yield* draw(text, new TerminalScreen('part')) : drawn;
}

/** Draws a text on a screen. */
function* draw(text: string, screen: TerminalScreen): Generator<void, NumberedText> {
  let start = 0;
  let pause = STEP;
  let at = nextControl(text, 0, false);
  while (at < text.length) {
    if (at > pause) {
      yield;
      pause = at + STEP;
    }
    if (at > start) screen.write(text.slice(start, at));
    start = control(screen, text, at);
    at = nextControl(text, start, false);
  }
  if (start < text.length) screen.write(text.slice(start));
  const { texts, numbers } = screen.lines();
  const endsWithNewline = texts.at(-1) === '' && texts.length > 0;
  if (endsWithNewline) {
    texts.pop();
    numbers.pop();
  }
  return { lines: texts, numbers, endsWithNewline: endsWithNewline || text.endsWith('\n') };
}

/** Returns the result of {@link renderTerminal} as a text. */
export function cleanTerminalText(text: string): string {
  return toText(toEnd(renderTerminal(text)));
}

/** Returns the position of the next control other than a tab; the text's length when there is none. */
function nextControl(text: string, from: number, skipNewlines: boolean): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x20 && (code < 0x7f || code > 0x9f)) continue;
    if (code === 0x09 || (skipNewlines && code === 0x0a)) continue;
    return at;
  }
  return text.length;
}

/** Applies the control at `at`; returns where the text goes on. */
function control(screen: TerminalScreen, text: string, at: number): number {
  const code = text.charCodeAt(at);
  switch (code) {
    case 0x08:
      screen.back(1);
      return at + 1;
    case 0x0a:
    case 0x0b:
    case 0x0c:
      screen.newline(code === 0x0a ? 'line' : 'row');
      return at + 1;
    case 0x0d:
      screen.return();
      return at + 1;
    default: {
      if (code !== 0x1b && code < 0x80) return at + 1;
      const sequence = readSequence(text, at);
      perform(screen, sequence);
      return sequence.end;
    }
  }
}

function perform(screen: TerminalScreen, sequence: Sequence): void {
  if (sequence.kind === 'newline') screen.newline('row');
  else if (sequence.kind === 'up') screen.vertical(-1);
  else if (sequence.kind === 'reset') screen.startBelow();
  if (sequence.kind !== 'csi' || sequence.isPrivate) return;
  const [first = 0] = sequence.numbers;
  MOVES.get(sequence.final)?.(screen, first || 1, first);
}

/** Sequences that move the cursor or erase, by their last letter; colours and modes do not. */
const MOVES = new Map<string, (screen: TerminalScreen, count: number, mode: number) => void>([
  ['A', (screen, count) => screen.vertical(-count)],
  ['B', (screen, count) => screen.vertical(count)],
  ['C', (screen, count) => screen.forward(count)],
  ['D', (screen, count) => screen.left(count)],
  ['E', (screen, count) => screen.toRow(count)],
  ['F', (screen, count) => screen.toRow(-count)],
  ['G', (screen, count) => screen.toColumn(count - 1)],
  ['H', (screen) => screen.startBelow()],
  ['J', (screen, _, mode) => (mode === 0 ? screen.eraseBelow() : screen.startBelow())],
  ['K', (screen, _, mode) => screen.eraseLine(mode)],
  ['d', (screen) => screen.startBelow()],
  ['f', (screen) => screen.startBelow()],
]);
