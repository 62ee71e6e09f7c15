import type { KeptOutput } from '../../../artifacts/keep-output.js';
import type { MergedResult } from '../../../engine/outcome.js';
import type { TerminalSize } from '../../../options/terminal.js';
import { makeReceipt, type Receipt } from '../../../receipt/receipt.js';
import { formatCount } from '../../../support/text.js';
import { readableCapture } from '../../../terminal/readable.js';
import { keptFile } from '../../call.js';
import { firstCharacters } from '../output.js';
import type { ShownTaskOutput } from './session-tasks.js';

/** The output of a command that has ended, as it is shown, and its receipt. */
export interface ShownEnd {
  readonly shown: ShownTaskOutput;
  readonly receipt: Receipt;
}

/**
 * Shows the output of a command that had a terminal as a person would have read it.
 *
 * @param size The size of its terminal at the end.
 * @param environment The environment block of the command.
 */
export async function shownTerminal(
  result: MergedResult,
  size: TerminalSize,
  maxCharacters: number,
  environment: string,
  kept: KeptOutput,
): Promise<ShownEnd> {
  const { output } = result;
  const whole = await readableCapture(output, size);
  const text = firstCharacters(whole, maxCharacters);
  const isCut = text.length < whole.length || output.kind === 'cut';
  const gap = text === '' || text.endsWith('\n') ? '' : '\n';
  const note = `[output truncated: the first ${formatCount(maxCharacters)} characters are shown]`;
  const cut = { output: isCut };
  return {
    shown: { kind: 'merged', text: isCut ? `${text}${gap}${note}` : text, isCut },
    receipt: await makeReceipt(result, { environment, cut, kept: keptFile(kept) }),
  };
}
