import { posix } from 'node:path';
import type { OptionsOf } from '../../../faces/options.js';
import { InputError } from '../../../support/errors.js';
import type { FarLine } from '../machine.js';
import { FarFiles } from './files.js';
import { startThere } from './start-there.js';

type Sandbox = OptionsOf<'remote'>['sandbox'];

/**
 * Returns the files of a tool.
 *
 * @param options The tool's options, as they are sent.
 * @param cwd Returns its directory now; empty: that can't be told.
 */
export function filesOfTool(
  line: FarLine,
  options: Readonly<Record<string, unknown>>,
  cwd: () => string,
): FarFiles {
  const place = {
    ...(typeof options.cwd === 'string' && { cwd: options.cwd }),
    sandbox: options.sandbox as Sandbox,
  };
  const start = startThere(line, () => ({ ...place, sandbox: withoutRecord(place.sandbox) }));
  return new FarFiles(start, (path) => {
    const now = cwd();
    // Else where the commands begin that reach them.
    return now === '' ? path : posix.resolve(now, path);
  });
}

/**
 * Returns a policy by which files are reached as the tool's commands reach them.
 *
 * @throws {InputError} What these change is held, apart from all others.
 */
function withoutRecord(sandbox: Sandbox): Sandbox {
  if (typeof sandbox !== 'object' || sandbox === null) return sandbox;
  const { changes, undo: _, ...policy } = sandbox;
  if (changes === undefined || changes === 'apply') return policy;
  throw new InputError(
    `files: not for a tool with sandbox.changes ${JSON.stringify(changes)}, whose files only its commands see`,
  );
}
