import { open, readdir, readlink } from 'node:fs/promises';
import { endianness } from 'node:os';
import { inBatches } from '../support/batches.js';
import { hasCode } from '../support/errors.js';

/** A TCP port on which a process takes connections. */
export interface ListeningPort {
  /** The port's number. */
  readonly port: number;
  /** `127.0.0.1`, `::`, … */
  readonly address: string;
}

/** The ports of one process; undefined: it could not be looked at. */
export type ProcessPorts = readonly ListeningPort[] | undefined;

/** Whoever has more descriptors or sockets than this is looked at as far as that. */
const MOST_DESCRIPTORS = 4096;
const MOST_TABLE_BYTES = 256 * 1024;

/**
 * The TCP ports on which processes listen, of each process its own, in their order. Nothing of it
 * blocks the host's thread. A process that has ended meanwhile has none.
 */
export async function listeningPorts(pids: readonly number[]): Promise<readonly ProcessPorts[]> {
  const tables = new Map<string, Promise<Table>>();
  return inBatches(pids, async (pid) => {
    try {
      const sockets = await socketsOf(pid);
      if (sockets.length === 0) return [];
      // Nearly always that of the host: it is read once.
      const network = await readlink(`/proc/${pid}/ns/net`);
      const table = tables.get(network) ?? readTable(pid);
      tables.set(network, table);
      const listening = await table;
      return sockets.flatMap((inode) => listening.get(inode) ?? []);
    } catch (error) {
      return hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH') ? [] : undefined;
    }
  });
}

/** The sockets that a process has open, by their inodes. */
async function socketsOf(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const names = (await readdir(folder)).slice(0, MOST_DESCRIPTORS);
  // One that is closed meanwhile is none.
  const targets = await inBatches(names, (name) => readlink(`${folder}/${name}`).catch(() => ''));
  return targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []);
}

/** Who listens, by the inode of the socket. */
type Table = ReadonlyMap<string, ListeningPort>;

async function readTable(pid: number): Promise<Table> {
  const texts = await Promise.all([
    readStart(`/proc/${pid}/net/tcp`),
    // Without IPv6 there is no such table.
    readStart(`/proc/${pid}/net/tcp6`).catch(() => ''),
  ]);
  return new Map(texts.flatMap((text) => parseTable(text)));
}

/** Who listens comes first; of a busy machine's connections only the beginning is read. */
async function readStart(path: string): Promise<string> {
  const file = await open(path);
  try {
    const buffer = Buffer.alloc(MOST_TABLE_BYTES);
    let size = 0;
    for (let read = -1; read !== 0 && size < buffer.length; size += read) {
      read = (await file.read(buffer, size)).bytesRead;
    }
    return buffer.toString('latin1', 0, size);
  } finally {
    await file.close();
  }
}

/** A line of the table: number, own address, the other's, state (`0A`: it listens), …, inode. */
const ENTRY =
  /^ *\d+: ([\dA-F]{8}|[\dA-F]{32}):([\dA-F]{4}) [\dA-F]+:[\dA-F]{4} 0A (?:\S+ +){5}(\d+) /;

/** The listening sockets of `/proc/net/tcp` or `/proc/net/tcp6`, by their inodes. */
export function parseTable(text: string): [inode: string, port: ListeningPort][] {
  return text.split('\n').flatMap((line): [string, ListeningPort][] => {
    const [, address, port, inode] = ENTRY.exec(line) ?? [];
    if (address === undefined || port === undefined || inode === undefined) return [];
    return [[inode, { port: Number.parseInt(port, 16), address: readAddress(address) }]];
  });
}

/** The kernel writes each four bytes as one number of the machine. */
function readAddress(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  if (endianness() === 'LE') bytes.swap32();
  if (bytes.length === 4) return bytes.join('.');
  const address = bytes.toString('hex').replace(/(.{4})(?!$)/g, '$1:');
  // Shortened as is usual: `::1`.
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}
