import type { BashTool } from '../index.js';
import {
  checkMethod,
  checkObject,
  checkString,
  checkSwitch,
  isMissing,
  type OptionNames,
  readOptions,
} from '../support/checks.js';
import type { CallLog } from './call-log.js';

/** What a server tells its client of itself, and others of what it does. */
export interface McpOptions {
  /** The server's name. Default: `forkline`. */
  readonly name?: string | undefined;
  /** What a model should know beside the tools' descriptions. Default: a few lines. */
  readonly instructions?: string | undefined;
  /**
   * Whether results of tools with an output schema are structured as well. Default: yes, but not
   * for clients that are known to show a model the structure in place of the text: JSON costs it
   * more, and its escapes are hard to read.
   */
  readonly structured?: boolean | undefined;
  /** Told of each call and its outcome. Default: nobody. */
  readonly log?: CallLog | undefined;
}

/** The names of those options. */
export const MCP_OPTION_NAMES: OptionNames<McpOptions> = {
  name: true,
  instructions: true,
  structured: true,
  log: true,
};

/**
 * Options of a server of any transport.
 *
 * @param names All that it has.
 * @throws {InputError} One is not known, or what all servers have is not valid.
 */
export function readServerOptions<Options extends McpOptions>(
  given: Options,
  names: OptionNames<Options>,
): Options {
  const options = readOptions('options', given, names);
  checkString('name', options.name);
  checkString('instructions', options.instructions);
  checkSwitch('structured', options.structured);
  checkMethod('log', 'write', options.log);
  return options;
}

/** @throws {InputError} It is not a tool. */
export function checkTool(tool: BashTool): void {
  if (isMissing(tool)) checkObject('tool', tool);
  checkMethod('tool', 'execute', tool);
}
