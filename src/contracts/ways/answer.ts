import { messageOf } from '../../support/errors.js';
import type { BashTool, ToolAnswer, ToolCall } from '../contract.js';
import { ToolAbortError, ToolError } from '../errors.js';

/** The text of an answer without any: model APIs refuse an empty one. */
const NOTHING = '(no output)';

/**
 * Answers a call as `BashTool.answer` does.
 *
 * @throws {ToolAbortError} The call was aborted.
 */
export async function answerTo<Details>(
  { execute }: Pick<BashTool<Details>, 'execute'>,
  input: unknown,
  call?: ToolCall<Details>,
): Promise<ToolAnswer<Details>> {
  try {
    const { content, details, structured, isError = false } = await execute(input, call);
    const text = shown(content.map((part) => part.text).join(''));
    return { text, isError, details, ...(structured && { structured }) };
  } catch (error) {
    if (error instanceof ToolAbortError) throw error;
    // The details of a tool's errors are those of its own contract.
    const { details } = error instanceof ToolError ? (error as ToolError<Details>) : {};
    return { text: shown(messageOf(error)), isError: true, details, error };
  }
}

function shown(text: string): string {
  return text.trim() === '' ? NOTHING : text;
}
