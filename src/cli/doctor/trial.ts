import { readdirSync, readlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createOwner, type RunResult, spawn } from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { packageVersion } from '../../support/version.js';
import { type Finding, failed, fine, limited } from './finding.js';
import { portableEngine } from './portable.js';
import { sandboxTrial } from './sandbox.js';

/** Longer than any shell takes to start, and short enough to be waited for. */
const PATIENCE_MS = 10_000;

/** What comes to light when a command is run. */
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
    return [fine('engine', 'native'), addon(), ran, ...handles, await sandboxTrial()];
  } catch (error) {
    const cost = 'no command can run';
    return [addon(), failed('commands', messageOf(error), cost)];
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
      `one ended as ${result.outcome.kind}`,
      'commands do not end as usual',
    );
  }
  const version = kept.text.trim();
  if (version === '') {
    return limited('commands', `one ran in ${ms} ms, by sh`, 'without bash, its syntax is missing');
  }
  return fine('commands', `one ran in ${ms} ms, by bash ${version}`);
}

/** The file that was loaded, however it was found. */
function addon(): Finding {
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  const path = loaded.find((name) => /\.node$/.test(name));
  const version = `forkline ${packageVersion()}`;
  if (path !== undefined) return fine('addon', `${version}, ${path}`);
  return failed('addon', `${version}, none loaded`, 'nothing can be started');
}

/** Nothing, where it cannot be seen whether there are any. */
function processHandles(): Finding[] {
  let links: string[];
  try {
    links = readdirSync('/proc/self/fd').flatMap((name) => linkOf(name) ?? []);
  } catch {
    return [];
  }
  if (links.some((link) => link.includes('pidfd'))) return [fine('pidfd', 'in use')];
  const cost = 'processes are signalled by number, and their end is noticed later';
  return [limited('pidfd', 'denied here, or an older kernel', cost)];
}

function linkOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // It was the one by which the directory was read.
    return undefined;
  }
}
