import type { TextLimits } from '../../support/texts/bound-text.js';

/** The most that a client shows a model of one answer, as it is shipped. */
interface KnownClient {
  /** Matches the name that the client gives. */
  readonly name: RegExp;
  readonly limits: TextLimits;
}

/**
 * Clients that show a model less than about 50,000 characters, or not the end. Each was read in the
 * client itself, or where its makers say so; `docs/mcp.md` tells what each does with more.
 */
const CLIENTS: readonly KnownClient[] = [
  // @anthropic-ai/claude-code 2.1.332, and 2.1.91: more goes into a file, and the first 2,000 are shown.
  { name: /^claude/i, limits: { characters: 50_000 } },
  // @openai/codex 0.171.0: `truncation_policy` of its models is 10,000 tokens, of four bytes each.
  { name: /^codex/i, limits: { bytes: 40_000 } },
  // @google/gemini-cli 0.61.0: `DEFAULT_TRUNCATE_TOOL_OUTPUT_THRESHOLD`.
  { name: /^gemini-cli/i, limits: { characters: 40_000 } },
  // @qwen-code/qwen-code 0.24.4: the same, and `DEFAULT_TRUNCATE_TOOL_OUTPUT_LINES`.
  { name: /^qwen-/i, limits: { characters: 25_000, lines: 1000 } },
  // anomalyco/opencode, packages/opencode/src/tool/truncate.ts: the beginning is shown.
  { name: /^opencode/i, limits: { bytes: 50 * 1024, lines: 2000 } },
  // microsoft/vscode: `chat.agent.largeToolResultsToDisk.thresholdBytes`; more goes into a file.
  { name: /^visual studio code/i, limits: { bytes: 8 * 1024 } },
  // microsoft/vscode#329276 has the default of the Copilot CLI; more goes into a file.
  { name: /^github-copilot/i, limits: { bytes: 20_000 } },
];

/** The limits of a client that is not in the table: the least of the common ones. */
const UNKNOWN: TextLimits = { bytes: 40_000 };

/**
 * The part of a client's limit that an answer may fill: some count what they put around a text, or how it
 * is escaped.
 */
const FILLED = 0.9;

/** The key by which a tool tells Claude Code how long its answers may be. */
export const MAX_RESULT_KEY = 'anthropic/maxResultSizeChars';

/** The longest answer that Claude Code takes of a tool that declares it, in characters. */
const MOST_DECLARED = 500_000;

/**
 * The length that tools declare unless the user says otherwise, in characters: no answer is longer. A tool
 * that declares none is bound by tokens besides, of which some text has more.
 */
const DECLARED = 50_000;

/**
 * Returns the most that an answer may have.
 *
 * @param name The name that the client gives; undefined: it gives none.
 * @param maxCharacters A length that is asked for whatever the client, in UTF-16 units.
 */
export function answerLimits(
  name: string | undefined,
  maxCharacters: number | undefined,
): TextLimits {
  if (maxCharacters !== undefined) return { characters: maxCharacters };
  const known = CLIENTS.find((client) => client.name.test(name ?? ''));
  const { characters, bytes, lines } = known?.limits ?? UNKNOWN;
  return {
    ...(characters !== undefined && { characters: characters * FILLED }),
    ...(bytes !== undefined && { bytes: Math.floor(bytes * FILLED) }),
    ...(lines !== undefined && { lines: lines * FILLED }),
  };
}

/** Returns the length that tools declare, in characters. */
export function declaredCharacters(maxCharacters: number | undefined): number {
  return Math.min(maxCharacters ?? DECLARED, MOST_DECLARED);
}
