import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxBounds } from '../../../sandbox/denials/denials.js';
import { isNumberOrNothing, isSwitch, isTexts, keptFields } from './kept-fields.js';
import { readOwnFile } from './own-file.js';

const NAME = 'sandbox.json';
/** Policies are short; but each directory that can be written to has some that can't. */
const LONGEST = 4 * 1024 * 1024;

/**
 * Writes down what a command may do in its sandbox, for whoever reads later what that has denied it.
 *
 * @throws Of the system, when the disk is full for instance.
 */
export async function writeBounds(directory: string, bounds: SandboxBounds): Promise<void> {
  const { writable, kept, hidden, shown, sockets, ownTmp, network, proxyPort } = bounds;
  const text = { writable, kept, hidden, shown, sockets, ownTmp, network, proxyPort };
  await writeFile(join(directory, NAME), JSON.stringify(text), { mode: 0o600, flag: 'wx' });
}

/** Undefined: there is nothing that could be trusted. */
export async function readBounds(directory: string): Promise<SandboxBounds | undefined> {
  try {
    const text = await readOwnFile(join(directory, NAME), LONGEST);
    return parseBounds(JSON.parse(text.toString()));
  } catch {
    return undefined;
  }
}

/** @throws {Error} It was not written by {@link writeBounds}. */
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
