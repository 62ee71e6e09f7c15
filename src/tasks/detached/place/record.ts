import { join } from 'node:path';
import { hasCode, messageOf } from '../../../support/errors.js';
import { decodeState, type KeeperState, OtherVersion } from '../keeper/keeper-state.js';
import { readOwnFile } from './own-file.js';

/** More bytes than a keeper ever writes. */
const LONGEST = 64 * 1024;

/** What a record tells; without a `trouble` that is all of the keeper's last state. */
export interface SeenRecord {
  /** Undefined: it tells nothing that can be trusted. */
  readonly state: KeeperState | undefined;
  /** Why the record does not tell all; undefined also when there is no record. */
  readonly trouble: string | undefined;
}

/** Reads the last record of a command's keeper, as far as it can be read and trusted. */
export async function lookAtRecord(directory: string): Promise<SeenRecord> {
  try {
    const state = decodeState(await readOwnFile(join(directory, 'output.state'), LONGEST));
    return { state, trouble: undefined };
  } catch (error) {
    if (error instanceof OtherVersion) return { state: error.begun, trouble: error.message };
    const isMissing = hasCode(error, 'ENOENT');
    const trouble = `the record of its keeper can't be read: ${messageOf(error)}`;
    return { state: undefined, trouble: isMissing ? undefined : trouble };
  }
}

/** Reads that record; returns undefined when there is none that can be trusted, and read whole. */
export async function readRecord(directory: string): Promise<KeeperState | undefined> {
  const { state, trouble } = await lookAtRecord(directory);
  return trouble === undefined ? state : undefined;
}
