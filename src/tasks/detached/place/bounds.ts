import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxBounds } from '../../../sandbox/denials/denials.js';
import { isNumberOrNothing, isSwitch, isTexts, keptFields } from './kept-fields.js';
import { readOwnFile } from './own-file.js';

const NAME = 'sandbox.json';
/**
 * The most bytes of a policy's file; a policy is short, but writable directories contain some that are
 * not.
 */
const LONGEST = 4 * 1024 * 1024;

/**
 * Records a command's rights in its sandbox, from which a later reader can tell what was denied.
 *
 * @throws The system's error, for instance when the disk is full.
 */
export async function writeBounds(directory: string, bounds: SandboxBounds): Promise<void> {
  const { writable, kept, hidden, shown, sockets, ownTmp, network, proxyPort } = bounds;
  const text = { writable, kept, hidden, shown, sockets, ownTmp, network, proxyPort };
  await writeFile(join(directory, NAME), JSON.stringify(text), { mode: 0o600, flag: 'wx' });
}

/** Returns undefined when there is no record that can be trusted. */
export async function readBounds(directory: string): Promise<SandboxBounds | undefined> {
  try {
    const text = await readOwnFile(join(directory, NAME), LONGEST);
    return parseBounds(JSON.parse(text.toString()));
  } catch {
    return undefined;
  }
}

/** @throws {Error} `value` was not written by {@link writeBounds}. */
function parseBounds(value: unknown): SandboxBounds {
  const read = keptFields<keyof SandboxBounds>('sandbox', value);
  return {
    writable: read('writable', isTexts),
    kept: read('kept', isTexts),
    hidden: read('hidden', isTexts),
    shown: read('shown', isTexts),
    sockets: read('sockets', isTexts),
    ownTmp: read('ownTmp', isSwitch),
    network: read('network', isSwitch),
    proxyPort: read('proxyPort', isNumberOrNothing),
  };
}
