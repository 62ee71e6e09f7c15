import { type ListeningPort, listeningPorts } from '../../receipt/ports.js';
import { settlesWithin } from '../../support/timing.js';
import type { TaskSubject } from '../subject.js';

/** The longest wait for the kernel's tables, in milliseconds. */
const LOOK_MS = 1000;

/** Returns the TCP ports on which a command's own processes listen now. */
async function portsOf(subject: TaskSubject): Promise<readonly ListeningPort[]> {
  return portsOfProcesses(((await subject.members()) ?? []).map(({ pid }) => pid));
}

/** Returns the TCP ports on which processes listen now; none where that takes too long. */
export async function portsOfProcesses(pids: readonly number[]): Promise<readonly ListeningPort[]> {
  if (pids.length === 0) return [];
  const looking = listeningPorts(pids);
  if (!(await settlesWithin(looking, LOOK_MS))) return [];
  return (await looking).flatMap((ports) => ports ?? []);
}

/** Reports ports as they are opened: each once, until it has been closed again. */
export class PortWatch {
  #known = new Set<string>();

  /** Returns the ports that were opened since the last look. */
  async look(subject: TaskSubject): Promise<ListeningPort[]> {
    const open = await portsOf(subject);
    const opened = open.filter((port) => !this.#known.has(keyOf(port)));
    this.#known = new Set(open.map(keyOf));
    return opened;
  }
}

function keyOf({ address, port, otherNetwork, url }: ListeningPort): string {
  return `${address} ${port} ${otherNetwork ?? ''} ${url ?? ''}`;
}
