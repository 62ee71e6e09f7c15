import { realpath } from 'node:fs/promises';
import type { Held } from '../../engine/sandbox-report.js';
import { type OptionNames, readOptions } from '../../support/checks.js';
import { messageOf } from '../../support/errors.js';
import { warnHost } from '../../support/logger.js';
import { absolutePath } from '../../support/paths.js';
import { isAmong } from '../paths.js';
import { HeldBack } from './held-back.js';
import { heldDirectory, listRecords } from './store.js';

/** Which held changes are listed. */
export interface HeldBackOptions {
  /** A directory: only changes in it, by its real path. Default: all of the user. */
  readonly workspace?: string | URL | undefined;
}

const NAMES: OptionNames<HeldBackOptions> = { workspace: true };

/**
 * Lists the changes that sandboxes of this user have held back, the oldest first, also those of hosts that have
 * ended. A change that can't be read, as one of a later version, is a warning of the process.
 *
 * ```ts
 * for (const held of await heldBack({ workspace: '/work/project' })) {
 *   console.log(held.path, held.keys, held.diff);
 *   if (await userAllows(held)) await held.accept();
 * }
 * ```
 *
 * @throws {InputError} An option is not valid.
 * @throws {Error} The directory of the changes belongs to another user, or is open to others; or the system's
 * error.
 */
export async function heldBack(options: HeldBackOptions = {}): Promise<readonly Held[]> {
  const { workspace } = readOptions('options', options, NAMES);
  const given = workspace === undefined ? undefined : absolutePath('workspace', workspace);
  const within = given === undefined ? undefined : await realpath(given).catch(() => given);
  const directory = heldDirectory();
  if (directory === undefined) return [];
  const { records, unreadable } = await listRecords(directory);
  for (const { id, reason } of unreadable) {
    warnHost(`The change that is held back as ${id} can't be read: ${reason}`);
  }
  const wanted = records.filter(({ path }) => within === undefined || isAmong(path, [within]));
  const all: Held[] = [];
  for (const record of wanted) {
    // It may have been dropped meanwhile, or its files can't be read.
    const held = await HeldBack.of(directory, record).catch((error: unknown) =>
      warnHost(`The change of ${record.path} that is held back can't be read: ${messageOf(error)}`),
    );
    if (held) all.push(held);
  }
  return all;
}
