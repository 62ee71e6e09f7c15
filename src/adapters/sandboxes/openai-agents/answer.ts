import type { SandboxExecResult } from '@openai/agents/sandbox';
import { uniqueName } from '../../../support/random.js';
import { firstBytes, lastBytes } from '../../../support/text.js';

/** Bytes that the Agents SDK counts as a token. */
const TOKEN_BYTES = 4;

/**
 * Shortens an output to a number of tokens: its beginning and its end, and how much is missing.
 *
 * @param maxTokens Tokens at most. Default: no limit.
 */
export function fitted(
  text: string,
  maxTokens: number | undefined,
): { readonly output: string; readonly originalTokenCount?: number } {
  const bytes = Buffer.byteLength(text);
  if (maxTokens === undefined || bytes <= maxTokens * TOKEN_BYTES) return { output: text };
  const half = Math.max(0, Math.floor((maxTokens * TOKEN_BYTES) / 2));
  const [head, tail] = [firstBytes(text, half), lastBytes(text, half)];
  const left = bytes - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return {
    output: `${head}…${Math.ceil(left / TOKEN_BYTES)} tokens truncated…${tail}`,
    originalTokenCount: Math.ceil(bytes / TOKEN_BYTES),
  };
}

/** Describes the end of a command in the lines that the Agents SDK's own sandboxes write. */
export function execAnswer(result: Omit<SandboxExecResult, 'stdout' | 'stderr'>): string {
  const { wallTimeSeconds, sessionId, exitCode, originalTokenCount, output } = result;
  return [
    `Chunk ID: ${uniqueName().slice(0, 6)}`,
    `Wall time: ${wallTimeSeconds.toFixed(4)} seconds`,
    ...(sessionId === undefined ? [] : [`Process running with session ID ${sessionId}`]),
    ...(typeof exitCode === 'number' ? [`Process exited with code ${exitCode}`] : []),
    ...(originalTokenCount === undefined ? [] : [`Original token count: ${originalTokenCount}`]),
    'Output:',
    output,
  ].join('\n');
}
