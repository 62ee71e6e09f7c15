import { disregard, messageOf } from '../support/errors.js';
import { DEFAULT_OUTPUT_FILTERS } from './default-filters.js';
import { describeErrorLine } from './error-lines.js';
import type { OutputFilter } from './filter.js';
import { isLineFilter } from './line-filter.js';
import { type NumberedText, toText } from './numbered-text.js';
import { Omissions } from './omissions.js';
import { isRuleFilter } from './rules/rule-filter.js';
import { LinesThatStay } from './stay/lines-that-stay.js';
import { Turns } from './steps.js';
import { renderTerminal } from './terminal-text.js';

/** The name, beside those of filters, for the removal of escape sequences and redrawn lines. */
export const CLEANING = 'terminal';

/** The settings of a minimizer; see `MinimizerOptions`. */
interface MinimizerSettings {
  readonly filters: readonly OutputFilter[];
  readonly repeats: boolean;
  readonly maxInputBytes: number;
}

/** The shortened versions of a text. */
export interface MinimizedText {
  /** Without escape sequences and redrawn lines; nothing else is left out. */
  readonly cleaned: NumberedText;
  /** Without the lines that filters leave out. */
  readonly minimized: NumberedText;
  /** Names of the filters that shortened it; `terminal` when cleaning did. */
  readonly filters: readonly string[];
}

/** Shortens outputs. A filter that fails is reported once, and does no harm. */
export class Minimizer {
  readonly settings: MinimizerSettings;
  readonly #warn: (message: string) => void;
  readonly #reported = new Set<OutputFilter>();
  #hasFailed = false;

  constructor(settings: MinimizerSettings, warn: (message: string) => void) {
    this.settings = settings;
    this.#warn = warn;
  }

  /**
   * Shortens one output of a shell command. The caller limits its length, which is all that limits the
   * work: the result for a text must not depend on other load of the machine.
   *
   * @param endedWell Whether the text ends where the command ended with exit code 0. If not, its last
   * lines stay.
   */
  async minimize(text: string, command: string, endedWell: boolean): Promise<MinimizedText> {
    const turns = new Turns();
    const cleaned = await turns.toEnd(renderTerminal(text));
    const staying = await turns.toEnd(LinesThatStay.find(cleaned.lines, { endedWell }));
    const omissions = new Omissions(cleaned, staying);
    for (const filter of this.settings.filters) {
      await turns.pause();
      this.#run(filter, command, cleaned, omissions, staying);
    }
    await turns.pause();
    const { text: minimized, filters } = omissions.apply(this.settings.repeats);
    const isCleaned = toText(cleaned) !== text;
    return { cleaned, minimized, filters: isCleaned ? [CLEANING, ...filters] : filters };
  }

  /** Reports a failure of the minimizer itself once; the output stays as it is. */
  report(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#warn(`The minimizer failed, the output is shown as it is: ${messageOf(error)}`);
  }

  #run(
    filter: OutputFilter,
    command: string,
    { lines }: NumberedText,
    omissions: Omissions,
    staying: LinesThatStay,
  ): void {
    try {
      const applies = filter.applies?.(command);
      disregard(applies);
      if (applies === false) return;
      const { indexes: rest, lines: left } = omissions.rest;
      // A filter of others may change what it gets.
      const own = isRuleFilter(filter) ? left : [...left];
      let stayed: string | undefined;
      const mustStay = (index: number): boolean => {
        if (staying.isError(rest[index])) stayed ??= lines[rest[index] ?? 0];
        return staying.has(rest[index]);
      };
      const omitted = filter.filter(own, mustStay);
      // A promise is refused, as it is not a list of omissions.
      disregard(omitted);
      omissions.add(filter.name, rest, omitted);
      if (
        stayed !== undefined &&
        isLineFilter(filter) &&
        !DEFAULT_OUTPUT_FILTERS.includes(filter)
      ) {
        this.#tell(
          filter,
          `could not leave out a line about an error: ${describeErrorLine(stayed)}`,
        );
      }
    } catch (error) {
      this.#tell(filter, `was not applied: ${messageOf(error)}`);
    }
  }

  /** Warns about a filter once, since it fails in the same way each time. */
  #tell(filter: OutputFilter, what: string): void {
    if (this.#reported.has(filter)) return;
    this.#reported.add(filter);
    this.#warn(`Output filter ${filter.name} ${what}`);
  }
}
