import type { ExecuteOptions } from '../options/command-options.js';
import { absolutePath, hostDirectory } from '../support/paths.js';

/**
 * A command's options as they are now, for a command that starts later. They must have been
 * checked.
 *
 * @throws {InputError} A path is relative to the host's own directory, and that was removed.
 */
export function optionsOfNow<Options extends ExecuteOptions>(options: Options): Options {
  const { spill, shell } = options;
  const cwd = options.cwd === undefined ? hostDirectory() : absolutePath('cwd', options.cwd);
  return {
    ...options,
    ...(cwd !== undefined && { cwd }),
    ...(spill !== undefined && { spill: spillOfNow(spill) }),
    ...(shell !== undefined && { shell: [...shell] }),
  };
}

function spillOfNow(spill: NonNullable<ExecuteOptions['spill']>): typeof spill {
  if (typeof spill === 'string') return absolutePath('spill', spill);
  return { ...spill, path: absolutePath('spill', spill.path) };
}
