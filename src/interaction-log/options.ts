import {
  atLeast,
  checkMethod,
  type OptionNames,
  readOptions,
  wholeFrom,
} from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import type { Logger } from '../support/logger.js';
import { absolutePath } from '../support/paths.js';

/** Options of an interaction log in a file. */
export interface InteractionLogOptions {
  /** Path of the file, which is created with mode 0600. Its directory must exist. */
  readonly path: string;
  /**
   * Bytes of a command's text that are written; a longer text is cut, and its length recorded. Default:
   * 1,048,576.
   */
  readonly maxCommandBytes?: number | undefined;
  /**
   * Bytes of lines that may wait for the disk. Lines beyond that are lost, and the next line says how
   * many. Default: 16,777,216 (16 MiB).
   */
  readonly maxPendingBytes?: number | undefined;
  /** The longest that `flush()` waits for the disk, in milliseconds. Default: 5,000. */
  readonly flushMs?: number | undefined;
  /** Called once when the file cannot be written. Default: process warnings. */
  readonly logger?: Logger | undefined;
}

const NAMES: OptionNames<InteractionLogOptions> = {
  path: true,
  maxCommandBytes: true,
  maxPendingBytes: true,
  flushMs: true,
  logger: true,
};

/** The options, with the defaults filled in. */
export interface InteractionLogSettings {
  readonly path: string;
  readonly maxCommandBytes: number;
  readonly maxPendingBytes: number;
  readonly flushMs: number;
}

/**
 * Fills in the defaults.
 *
 * @throws {InputError} An option is not valid.
 */
export function resolveLogOptions(given: InteractionLogOptions): InteractionLogSettings {
  const options = readOptions('options', given, NAMES);
  checkMethod('logger', 'warn', options.logger);
  const { path } = options;
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw new InputError(`path: expected the path of a file, got ${showValue(path)}`);
  }
  return {
    path: absolutePath('path', path),
    maxCommandBytes: wholeFrom('maxCommandBytes', 1, options.maxCommandBytes ?? 1024 ** 2),
    maxPendingBytes: wholeFrom('maxPendingBytes', 1, options.maxPendingBytes ?? 16 * 1024 ** 2),
    flushMs: atLeast('flushMs', 0, options.flushMs ?? 5000),
  };
}
