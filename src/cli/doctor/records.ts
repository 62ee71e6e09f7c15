import { lookAtStateDirectory } from '../../support/directories/state-directory.js';
import { type Finding, fine, limited } from './finding.js';

/** Tells where the records of detached tasks are, which need a system that has such tasks. */
export async function records(): Promise<Finding[]> {
  if (process.platform !== 'linux') return [];
  const name = 'detached tasks';
  const { path, reason } = await lookAtStateDirectory();
  if (path !== undefined) return [fine(name, path)];
  const cost = 'they are kept in the temporary directory, and found with the same TMPDIR alone';
  return [limited(name, reason, cost)];
}
