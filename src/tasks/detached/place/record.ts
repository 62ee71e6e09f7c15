import { join } from 'node:path';
import { decodeState, type KeeperState } from '../keeper/keeper-state.js';
import { readOwnFile } from './own-file.js';

/** More than a keeper ever writes. */
const LONGEST = 64 * 1024;

/** What the keeper of a command has written last; undefined: nothing that could be trusted. */
export async function readRecord(directory: string): Promise<KeeperState | undefined> {
  try {
    return decodeState(await readOwnFile(join(directory, 'output.state'), LONGEST));
  } catch {
    return undefined;
  }
}
