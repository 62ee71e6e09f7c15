/** Modes that are set at first; all others are reset. */
const SET_AT_FIRST: readonly number[] = [7, 25];
/** Modes that switch to the alternate screen. */
const SCREENS: readonly number[] = [47, 1047, 1049];
/** The longest sequence that is looked for, in characters. */
const LONGEST = 64;

/** Notes the modes that a command's output sets on a user's terminal, so that they can be taken back. */
export class ShownModes {
  readonly #modes = new Map<number, boolean>();
  #hasLongKeys = false;
  /** The end of the text before, in which a sequence may have begun. */
  #begun = '';

  /** Takes note of modes that were set by other means. */
  note(modes: ReadonlyMap<number, boolean>): void {
    for (const [mode, isSet] of modes) this.#modes.set(mode, isSet);
  }

  /** Takes note of shown output. */
  read(bytes: Uint8Array): void {
    const text = this.#begun + Buffer.from(bytes).toString('latin1');
    for (const [, modes = '', end] of text.matchAll(PRIVATE_MODES)) {
      for (const mode of modes.split(';')) this.#modes.set(Number(mode), end === 'h');
    }
    if (LONG_KEYS.test(text)) this.#hasLongKeys = true;
    const last = text.lastIndexOf('\x1b');
    this.#begun = last !== -1 && text.length - last < LONGEST ? text.slice(last) : '';
  }

  /** Returns what gives a terminal its usual modes again. */
  ending(): string {
    const changed = [...this.#modes].filter(([mode, is]) => is !== SET_AT_FIRST.includes(mode));
    const usual = (mode: number) => `\x1b[?${mode}${SET_AT_FIRST.includes(mode) ? 'h' : 'l'}`;
    const isScreen = ([mode]: readonly [number, boolean]) => SCREENS.includes(mode);
    return [
      // The rows that scroll, without a move of the cursor.
      '\x1b7\x1b[r\x1b8',
      ...changed.filter((one) => !isScreen(one)).map(([mode]) => usual(mode)),
      this.#hasLongKeys ? '\x1b[<9u\x1b[>4m' : '',
      ...changed.filter(isScreen).map(([mode]) => usual(mode)),
      '\x1b>\x1b(B\x1b[0m',
    ].join('');
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals obey them.
const PRIVATE_MODES = /\x1b\[\?([\d;]+)([hl])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals obey them.
const LONG_KEYS = /\x1b\[>\d*(?:;\d*)*[um]/;
