import { join } from 'node:path';
import { makeDirectoriesSync } from './make-directories.js';
import { makeUserDirectorySync, userDirectory } from './private-directory.js';

/**
 * Returns the directory of files that say which ports of sandboxes are published: processes of the same user
 * find the way to a port there. It may not exist.
 */
export function portRecords(): string {
  return join(userDirectory(), 'ports');
}

/** Makes that directory. Undefined: it can't be made, and processes find no way to published ports. */
export function makePortRecords(): string | undefined {
  try {
    makeUserDirectorySync();
    makeDirectoriesSync(portRecords(), 0o700);
    return portRecords();
  } catch {
    return undefined;
  }
}
