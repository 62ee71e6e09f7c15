import type { BashTool } from '../index.js';
import {
  checkMethod,
  checkObject,
  checkString,
  checkSwitch,
  isMissing,
  type OptionNames,
  readOptions,
  wholeFrom,
} from '../support/checks.js';
import type { CallLog } from './call-log.js';

/** Options of every MCP server. */
export interface McpOptions {
  /** The server's name. Default: `forkline`. */
  readonly name?: string | undefined;
  /** Instructions for a model, besides the tools' descriptions. Default: a few lines. */
  readonly instructions?: string | undefined;
  /**
   * Whether results of tools with an output schema are structured as well. Many clients then show a
   * model the structure in place of the text: JSON costs more tokens, and its escapes are hard to read.
   * Default: false.
   */
  readonly structured?: boolean | undefined;
  /**
   * UTF-16 units that the text of an answer may have, at least 1,000. Tools declare it, up to 500,000.
   * Default: nine tenths of what the client is known to show a model, and 36,000 bytes for others.
   */
  readonly maxCharacters?: number | undefined;
  /** Takes each call and its outcome. Default: none. */
  readonly log?: CallLog | undefined;
}

/** Room for the line that says what is left out, and for something beside it. */
const LEAST_CHARACTERS = 1000;

/** The names of those options. */
export const MCP_OPTION_NAMES: OptionNames<McpOptions> = {
  name: true,
  instructions: true,
  structured: true,
  maxCharacters: true,
  log: true,
};

/**
 * Reads the options of a server on any transport.
 *
 * @param names The names of all its options.
 * @throws {InputError} A name is not known, or an option that all servers have is not valid.
 */
export function readServerOptions<Options extends McpOptions>(
  given: Options,
  names: OptionNames<Options>,
): Options {
  const options = readOptions('options', given, names);
  checkString('name', options.name);
  checkString('instructions', options.instructions);
  checkSwitch('structured', options.structured);
  if (options.maxCharacters !== undefined) {
    wholeFrom('maxCharacters', LEAST_CHARACTERS, options.maxCharacters);
  }
  checkMethod('log', 'write', options.log);
  return options;
}

/**
 * Checks that a value is a tool.
 *
 * @throws {InputError} The value is not a tool.
 */
export function checkTool(tool: BashTool): void {
  if (isMissing(tool)) checkObject('tool', tool);
  checkMethod('tool', 'execute', tool);
}
