import type { SandboxPolicy } from '../../sandbox/policy.js';
import { reachedPorts } from '../../sandbox/ports/ports.js';
import { describePrograms } from './programs.js';

const SHOWN = 4;

/**
 * Describes a tool's sandbox for the model in one sentence, so that a denial does not come as a surprise:
 * where commands may write, what they reach, and which programs they may not run.
 *
 * @param policy The policy as the tool keeps it; undefined: there is no sandbox.
 * @returns Undefined when neither files, the network nor programs are confined.
 */
export function describeSandbox(policy: SandboxPolicy | undefined): string | undefined {
  if (policy === undefined) return undefined;
  const programs = describePrograms(policy.exec, shown);
  const rules = [describeFiles(policy), describeNetwork(policy), programs].filter(
    (rule) => rule !== undefined,
  );
  if (rules.length === 0) return undefined;
  return `Commands run in a sandbox: they ${rules.join(', and ')}.`;
}

/** What may be written; undefined: everything. Temporary directories can be written to in each mode. */
function describeFiles({
  mode = 'workspace-write',
  workspace,
  filesystem = {},
}: SandboxPolicy): string | undefined {
  const { allowWrite = [], denyWrite, tmp = 'private' } = filesystem;
  if (allowWrite.includes('/')) {
    return denyWrite?.length ? `can't write to ${shown(denyWrite)}` : undefined;
  }
  const own = mode === 'workspace-write' ? [workspace ?? 'their directory'] : [];
  const temporary = tmp === 'private' ? ['a /tmp of their own'] : [];
  const places = [...own, ...allowWrite, ...temporary];
  return places.length === 0 ? 'write no files' : `write only to ${shown(places)}`;
}

/** What is reached; undefined: everything. */
function describeNetwork({
  network = 'none',
  secrets = {},
  ports = {},
}: SandboxPolicy): string | undefined {
  if (network === 'full') return undefined;
  const allowed = network === 'none' ? [] : network.allowedDomains;
  const hosts = [...allowed, ...Object.values(secrets).flatMap(({ domains }) => domains)];
  const reached = reachedPorts(ports).map(({ inside }) => `localhost:${inside}`);
  const all = [...new Set([...hosts, ...reached])];
  const rule = all.length === 0 ? 'have no network' : `reach only ${shown(all)}`;
  return ports.publish === 'auto' ? `${rule}, while the user reaches the ports they open` : rule;
}

function shown(names: readonly string[]): string {
  const first = names.slice(0, names.length > SHOWN ? SHOWN - 1 : SHOWN);
  const more = names.length - first.length;
  return [...first, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
