import { open, readdir, readlink } from 'node:fs/promises';
import { endianness } from 'node:os';
import { inBatches } from '../support/batches.js';
import { hasCode } from '../support/errors.js';
import { type PublishedUrls, publishedIn } from './published.js';

/** A TCP port on which a process accepts connections. */
export interface ListeningPort {
  /** The port's number. */
  readonly port: number;
  /** The address, such as `127.0.0.1` or `::`. */
  readonly address: string;
  /**
   * Whether it is in another network namespace than this process, that of a sandbox or a container: it is not
   * reached from here but by `url`. Absent: it is in the same one, or that could not be seen.
   */
  readonly otherNetwork?: true;
  /** The way to it from here, where its sandbox publishes it: `http://127.0.0.1:3000`. Absent: there is none. */
  readonly url?: string;
}

/** The listening ports of one process; undefined when the process could not be examined. */
export type ProcessPorts = readonly ListeningPort[] | undefined;

/** Limits for the descriptors of a process and for a table of sockets; what lies beyond is not read. */
const MOST_DESCRIPTORS = 4096;
const MOST_TABLE_BYTES = 256 * 1024;

/**
 * Finds the TCP ports on which processes listen, for each process in the order of `pids`. Nothing in it
 * blocks the host's thread. A process that has ended meanwhile has no ports.
 */
export async function listeningPorts(pids: readonly number[]): Promise<readonly ProcessPorts[]> {
  const tables = new Map<string, Promise<ListeningTable>>();
  const published = new Map<string, Promise<PublishedUrls>>();
  const ownNetwork = await readlink('/proc/self/ns/net').catch(() => undefined);
  return inBatches(pids, async (pid) => {
    try {
      const sockets = await socketsOf(pid);
      if (sockets.length === 0) return [];
      // Nearly always the network namespace of the host, so each is read once.
      const network = await readlink(`/proc/${pid}/ns/net`);
      const table = tables.get(network) ?? readTable(pid);
      tables.set(network, table);
      const listening = await table;
      const ports = sockets.flatMap((inode) => listening.get(inode) ?? []);
      const isOther = ownNetwork !== undefined && network !== ownNetwork;
      if (!isOther || ports.length === 0) return ports;
      const urls = published.get(network) ?? publishedIn(network);
      published.set(network, urls);
      const ways = await urls;
      return ports.map((port) => asSeenOutside(port, ways.get(port.port)));
    } catch (error) {
      return hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH') ? [] : undefined;
    }
  });
}

function asSeenOutside(port: ListeningPort, url: string | undefined): ListeningPort {
  return { ...port, otherNetwork: true, ...(url !== undefined && { url }) };
}

/** Returns the inodes of the sockets that a process has open. */
async function socketsOf(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const names = (await readdir(folder)).slice(0, MOST_DESCRIPTORS);
  // A descriptor that was closed meanwhile is skipped.
  const targets = await inBatches(names, (name) => readlink(`${folder}/${name}`).catch(() => ''));
  return targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []);
}

/** Listening ports, by the inode of the socket. */
type ListeningTable = ReadonlyMap<string, ListeningPort>;

async function readTable(pid: number): Promise<ListeningTable> {
  const texts = await Promise.all([
    readStart(`/proc/${pid}/net/tcp`),
    // Without IPv6 there is no such table.
    readStart(`/proc/${pid}/net/tcp6`).catch(() => ''),
  ]);
  return new Map(texts.flatMap((text) => parseTable(text)));
}

/**
 * Reads the beginning of a table, where listening sockets come first; a busy machine's connections are
 * left out.
 */
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

/** A line of the table: number, local address, remote address, state (`0A`: listening), …, inode. */
const ENTRY =
  /^ *\d+: ([\dA-F]{8}|[\dA-F]{32}):([\dA-F]{4}) [\dA-F]+:[\dA-F]{4} 0A (?:\S+ +){5}(\d+) /;

/** Parses the listening sockets of `/proc/net/tcp` or `/proc/net/tcp6`, by their inodes. */
export function parseTable(text: string): [inode: string, port: ListeningPort][] {
  return text.split('\n').flatMap((line): [string, ListeningPort][] => {
    const [, address, port, inode] = ENTRY.exec(line) ?? [];
    if (address === undefined || port === undefined || inode === undefined) return [];
    return [[inode, { port: Number.parseInt(port, 16), address: readAddress(address) }]];
  });
}

/**
 * Converts an address, of which the kernel writes each four bytes as one number in the machine's byte
 * order.
 */
function readAddress(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  if (endianness() === 'LE') bytes.swap32();
  if (bytes.length === 4) return bytes.join('.');
  const address = bytes.toString('hex').replace(/(.{4})(?!$)/g, '$1:');
  // The usual short form: `::1`.
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}
