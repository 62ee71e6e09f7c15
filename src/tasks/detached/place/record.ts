import { join } from 'node:path';
import { decodeState, type KeeperState } from '../keeper/keeper-state.js';
import { readOwnFile } from './own-file.js';

/** More bytes than a keeper ever writes. */
const LONGEST = 64 * 1024;

/** Reads the last record of a command's keeper; returns undefined when there is none that can be trusted. */
export async function readRecord(directory: string): Promise<KeeperState | undefined> {
  try {
    return decodeState(await readOwnFile(join(directory, 'output.state'), LONGEST));
  } catch {
    return undefined;
  }
}
