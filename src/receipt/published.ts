import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SandboxPort, toSandboxPort } from '../engine/sandbox-report.js';
import { inBatches } from '../support/batches.js';
import { portRecords } from '../support/directories/port-records.js';

/** The ways to published ports, by the port inside. */
export type PublishedUrls = ReadonlyMap<number, string>;

const NONE: PublishedUrls = new Map();
/** Files that are looked at: more sandboxes than one user has. */
const MOST_RECORDS = 512;

/**
 * Finds out which ports of a network are published.
 *
 * @param network The link to the network in `/proc`: `net:[4026531840]`.
 */
export async function publishedIn(network: string): Promise<PublishedUrls> {
  const [, inode] = /^net:\[(\d+)\]$/.exec(network) ?? [];
  if (inode === undefined) return NONE;
  const directory = portRecords();
  const names = await readdir(directory).catch(() => []);
  const relays = names.filter((name) => /^\d+$/.test(name)).slice(0, MOST_RECORDS);
  const found = await inBatches(relays, (relay) => readRecord(directory, relay, inode));
  return found.find((urls) => urls !== undefined) ?? NONE;
}

/** Reads the record of a relay; undefined: it is of another network, or of a relay that has ended. */
async function readRecord(
  directory: string,
  relay: string,
  inode: string,
): Promise<PublishedUrls | undefined> {
  const text = await readFile(join(directory, relay), 'latin1').catch(() => '');
  const [head = '', ...lines] = text.split('\n');
  const [network, started] = head.split(' ');
  if (network !== inode || started !== (await startOf(relay))) return undefined;
  const ports = lines.flatMap((line): SandboxPort[] => {
    const port = line.startsWith('port=') ? toSandboxPort(line.slice('port='.length)) : undefined;
    return port === undefined ? [] : [port];
  });
  return new Map(ports.flatMap(({ inside, url }) => (url === undefined ? [] : [[inside, url]])));
}

/** When a process was started, in ticks since the machine was; undefined: there is none. */
async function startOf(pid: string): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // Its name, in parentheses, may have blanks and parentheses. After it, the start is the 20th field.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
}
