import type { BashTool, ToolResult } from '../../src/index.js';

/** The text that the model reads. */
export function textOf(result: ToolResult<unknown>): string {
  return result.content.map(({ text }) => text).join('');
}

/** What a call that must fail is rejected with. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('expected the call to fail');
}

/** The text for a command, with the wall time made the same each time. */
export async function answerTo(tool: BashTool, input: unknown): Promise<string> {
  return textOf(await tool.execute(input)).replace(/Wall time: \d+\.\d\d/, 'Wall time: T');
}
