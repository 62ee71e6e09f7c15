import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LaunchError, run, type SandboxPolicy, type SandboxReport } from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { type Finding, fine, limited } from './finding.js';
import { protections } from './protections.js';

/** Sandboxes that can be had where the whole one can't, the strongest first. */
const WEAKER: readonly { readonly policy: SandboxPolicy; readonly cost: string }[] = [
  {
    policy: { processes: 'host' },
    cost: "a sandbox needs `processes: 'host'`, and enforces all the rest",
  },
  {
    policy: { require: 'landlock' },
    cost: "a sandbox needs `require: 'landlock'`, which enforces less",
  },
];

/**
 * Checks whether a command can be run in a sandbox, and in which; and what enforces each of its protections, in a
 * workspace with a git repository.
 */
export async function sandboxTrial(): Promise<Finding[]> {
  const workspace = makeWorkspace();
  try {
    const mode = workspace === undefined ? 'read-only' : 'workspace-write';
    return await trialIn(workspace ?? '/', mode);
  } finally {
    if (workspace !== undefined) rmSync(workspace, { recursive: true, force: true });
  }
}

async function trialIn(cwd: string, mode: SandboxPolicy['mode']): Promise<Finding[]> {
  const name = 'sandbox';
  const whole = await sandboxOf(cwd, { mode });
  if (typeof whole === 'object') {
    const some = await sandboxOf(cwd, { mode, network: { allowedDomains: ['localhost'] } });
    return [fine(name, 'namespaces, Landlock and seccomp'), ...protections(whole), hosts(some)];
  }
  for (const { policy, cost } of WEAKER) {
    const weaker = await sandboxOf(cwd, { mode, ...policy });
    if (typeof weaker === 'object') return [limited(name, whole, cost), ...protections(weaker)];
  }
  const cost =
    'no command can run in a sandbox: a whole one needs Linux 5.13 or newer, one without namespaces Linux 6.2';
  return [limited(name, whole, cost)];
}

/** Returns what enforces the protections of a sandbox, or why it can't be made. */
async function sandboxOf(cwd: string, sandbox: SandboxPolicy): Promise<SandboxReport | string> {
  try {
    const { sandbox: report } = await run('true', { cwd, sandbox });
    return report ?? 'the command had no sandbox';
  } catch (error) {
    if (error instanceof LaunchError && error.step === 'sandbox') return error.message;
    return messageOf(error);
  }
}

function hosts(report: SandboxReport | string): Finding {
  const name = 'sandbox, some hosts';
  const cost = '`allowedDomains` and `secrets` are refused';
  if (typeof report === 'string') return limited(name, report, cost);
  return fine(name, 'by a proxy');
}

/** Makes a directory that commands may write to, with a git repository; `undefined`: none can be made. */
function makeWorkspace(): string | undefined {
  try {
    const path = mkdtempSync(join(tmpdir(), 'forkline-doctor-'));
    for (const part of ['objects', 'refs'])
      mkdirSync(join(path, '.git', part), { recursive: true });
    writeFileSync(join(path, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    return path;
  } catch {
    return undefined;
  }
}
