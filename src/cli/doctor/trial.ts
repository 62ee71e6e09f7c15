import { readdirSync, readlinkSync } from 'node:fs';
import { createOwner, type RunResult, spawn } from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { ownRequire } from '../../support/package/own-require.js';
import { packageVersion } from '../../support/package/version.js';
import { readQuietly } from './files.js';
import { type Finding, failed, fine, limited } from './finding.js';
import { portableEngine } from './portable.js';
import { sandboxTrial } from './sandbox.js';

/**
 * The time limit of the trial command, in milliseconds: longer than any shell takes to start, and short
 * enough to wait for.
 */
const PATIENCE_MS = 10_000;

/** Runs a command, and describes what comes to light by that. */
export async function trial(): Promise<Finding[]> {
  const owner = createOwner();
  try {
    const started = performance.now();
    const live = await spawn('echo "$BASH_VERSION"; read x', {
      owner,
      stdin: 'pipe',
      timeoutMs: PATIENCE_MS,
    });
    const handles = processHandles();
    live.end();
    const result = await live.result;
    const ran = ranCommand(result, performance.now() - started);
    if (result.engine === 'portable') return [...portableEngine(), ran];
    return [fine('engine', 'native'), addon(), ran, ...handles, ...(await sandboxTrial())];
  } catch (error) {
    const cost = 'no command can run';
    return [addon(), ...noexec(error), failed('commands', messageOf(error), cost)];
  } finally {
    await owner.dispose();
  }
}

function ranCommand(result: RunResult, durationMs: number): Finding {
  const ms = Math.round(durationMs);
  const kept = 'output' in result && result.output.kind === 'complete' ? result.output : undefined;
  if (result.outcome.kind !== 'exited' || kept === undefined) {
    return failed(
      'commands',
      `a test command ended as ${result.outcome.kind}`,
      'commands do not end as usual',
    );
  }
  const version = kept.text.trim();
  if (version === '') {
    return limited('commands', `one ran in ${ms} ms, by sh`, 'without bash, only sh syntax works');
  }
  return fine('commands', `one ran in ${ms} ms, by bash ${version}`);
}

/** Describes the addon that was loaded, wherever it was found. */
function addon(): Finding {
  const loaded = Object.keys(ownRequire().cache);
  const path = loaded.find((name) => /\.node$/.test(name));
  const version = `forkline ${packageVersion()}`;
  if (path !== undefined) return fine('addon', `${version}, ${path}`);
  return failed('addon', `${version}, none loaded`, 'no command can be started');
}

/** Names the file system on which the addon may not be loaded. */
function noexec(error: unknown): Finding[] {
  if (!(error instanceof Error) || !('mount' in error)) return [];
  const cost = 'the addon there cannot be loaded; FORKLINE_BINDING can name a copy elsewhere';
  return [failed('noexec', `set for the file system at ${error.mount}`, cost)];
}

/**
 * Describes whether the keeper, which ends processes, holds a handle of the process that has started
 * it. Empty if that cannot be seen.
 */
function processHandles(): Finding[] {
  const links = childrenOf('self').filter(isKeeper).map(linksOf);
  if (links.length === 0 || links.includes(undefined)) return [];
  if (links.flat().some((link) => link?.includes('pidfd'))) return [fine('pidfd', 'in use')];
  const cost =
    'processes are signalled by id: another one that gets the id at that very moment is hit';
  return [limited('pidfd', 'denied here, or an older kernel', cost)];
}

function childrenOf(pid: string): string[] {
  const ofThread = (thread: string): string[] => {
    const children = readQuietly(`/proc/${pid}/task/${thread}/children`);
    return children?.split(' ').filter((child) => child !== '') ?? [];
  };
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap(ofThread);
  } catch {
    return [];
  }
}

function isKeeper(pid: string): boolean {
  return readQuietly(`/proc/${pid}/comm`) === 'forkline-keeper\n';
}

/** Returns the targets of a process's descriptors; `undefined`: they may not be seen. */
function linksOf(pid: string): string[] | undefined {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).map((name) => readlinkSync(`${folder}/${name}`));
  } catch {
    return undefined;
  }
}
