import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LaunchError, run, type SandboxPolicy, type SandboxReport } from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { type Finding, fine, limited } from './finding.js';
import { protections } from './protections.js';

const NOWHERE = 'no command can run in a sandbox';
const NEEDS = 'a whole one needs Linux 5.13 or newer, one without namespaces Linux 6.2';

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
  if ('enforced' in whole) {
    const some = await sandboxOf(cwd, { mode, network: { allowedDomains: ['localhost'] } });
    const lines = protections(await withUndoTried(whole, cwd, { mode }));
    return [fine(name, 'namespaces, Landlock and seccomp'), ...lines, hosts(some)];
  }
  if (!whole.isOfSandbox) return [limited(name, whole.why, NOWHERE)];
  for (const { policy, cost } of WEAKER) {
    const weaker = await sandboxOf(cwd, { mode, ...policy });
    if ('enforced' in weaker) {
      const lines = protections(await withUndoTried(weaker, cwd, { mode, ...policy }));
      return [limited(name, whole.why, cost), ...lines];
    }
  }
  return [limited(name, whole.why, `${NOWHERE}: ${NEEDS}`)];
}

/** Adds to a report whether commands can be undone in this sandbox, which no policy asks for by itself. */
async function withUndoTried(
  report: SandboxReport,
  cwd: string,
  policy: SandboxPolicy,
): Promise<SandboxReport> {
  if (policy.require === 'landlock') return report;
  const tried = await sandboxOf(cwd, { ...policy, undo: true });
  const undo = 'enforced' in tried ? tried.enforced.undo : 'none';
  return { ...report, enforced: { ...report.enforced, undo } };
}

/** Why a sandbox can't be made. */
interface MissingSandbox {
  readonly why: string;
  /** Whether that is about the sandbox itself, and not about descriptors, say. */
  readonly isOfSandbox: boolean;
}

/** Returns what enforces the protections of a sandbox, or why it can't be made. */
async function sandboxOf(
  cwd: string,
  policy: SandboxPolicy,
): Promise<SandboxReport | MissingSandbox> {
  try {
    const { sandbox } = await run('true', { cwd, sandbox: policy });
    return sandbox ?? { why: 'the command was in no sandbox', isOfSandbox: false };
  } catch (error) {
    const isOfSandbox = error instanceof LaunchError && error.step === 'sandbox';
    return { why: messageOf(error), isOfSandbox };
  }
}

function hosts(some: SandboxReport | MissingSandbox): Finding {
  const name = 'sandbox, some hosts';
  const cost = '`allowedDomains` and `secrets` are refused';
  return 'enforced' in some ? fine(name, 'by a proxy') : limited(name, some.why, cost);
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
