import type { Enforcement, SandboxLine, SandboxReport } from '../../index.js';
import { type Finding, fine, limited } from './finding.js';

/** The consequences when a protection of a sandbox is not enforced as it could be, by its means. */
type Costs = Readonly<Partial<Record<Enforcement, string>>> & { readonly none: string };

/**
 * One for each protection: a new one is told by `forkline doctor`, too, since this does not compile without it.
 */
const COSTS: Readonly<Record<SandboxLine, Costs>> = {
  write: {
    none: 'commands write wherever the user may',
    landlock:
      'in a writable directory nothing is kept: not what git obeys, nor settings of editors, nor `denyWrite`; /tmp is written too',
  },
  read: {
    none: "commands read hidden files, keys in ~/.ssh among them: run no command that must not see the user's keys",
    mount:
      'hidden files are hidden as they were when the sandbox was made: one that is replaced meanwhile shows until the next command. ' +
      'Overlays hide names for good, from Linux 5.11 on, and where nothing is mounted directly in the home directory',
  },
  tmp: { none: "commands find others' files and sockets in /tmp" },
  network: {
    none: 'commands reach the network',
    seccomp:
      'there is not even a loopback: servers and their tests fail, and `allowedDomains` is refused',
  },
  unixSockets: {
    none: "commands connect to others' sockets with a path: a Docker daemon's, an agent's",
  },
  processes: {
    none: "commands see and signal all processes of the user. Landlock keeps signals in from Linux 6.12 on; with namespaces they are the sandbox's own",
    landlock: 'commands see the processes of others, and their arguments',
  },
  socketFamilies: {
    none: 'commands make sockets of families that no namespace confines',
  },
  privileges: {
    none: 'commands gain no rights by set-user-id programs, but keep those that the user has',
  },
  settings: {
    none: 'commands change what git obeys, and settings of editors and agents, wherever they may write',
    mount:
      'what git obeys is read-only: `git config`, `git push -u` and `git submodule add` fail. ' +
      'Changes are judged where the user has a home directory, and git outside of the workspace',
  },
  caches: {
    none: "the caches of the user's tools are read-only: most tools fetch again, into a cache that is lost, or fail",
    memory:
      'what commands add to the caches of tools is lost with the sandbox: they fetch it again',
    mount: 'some tools have an empty cache of their own: they fetch what the user has',
  },
  undo: { none: 'what commands change can not be taken back' },
};

const MEANS: Readonly<Record<Enforcement, string>> = {
  namespace: 'by a namespace',
  mount: 'by mounts',
  gate: 'by a process that judges changes',
  landlock: 'by Landlock',
  seccomp: 'by seccomp',
  proxy: 'by a proxy',
  overlay: 'by a layer on disk',
  memory: 'by a layer in memory',
  journal: 'by a record of what was there before',
  none: 'not enforced',
};

/** Describes what enforces each protection of a sandbox that was asked to enforce all of them. */
export function protections({ enforced }: SandboxReport): Finding[] {
  const lines = Object.keys(COSTS) as SandboxLine[];
  return lines.map((line) => {
    const name = `sandbox, ${line}`;
    const cost = COSTS[line][enforced[line]];
    const found = MEANS[enforced[line]];
    return cost === undefined ? fine(name, found) : limited(name, found, cost);
  });
}
