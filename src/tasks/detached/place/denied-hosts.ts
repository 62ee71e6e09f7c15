import { constants } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostDenial } from '../../../sandbox/denials/denials.js';
import { onDeniedHost } from '../../../sandbox/served.js';
import { hasCode } from '../../../support/errors.js';
import { readOwnFile } from './own-file.js';
import { readRecord } from './record.js';

const NAME = 'denied-hosts';
/** Not through a link. */
const FLAGS = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW;
/** The most hosts that are recorded for a command. */
const MOST = 100;
/** The most bytes that the names of these hosts can take. */
const LONGEST = 64 * 1024;

/** Writes one line after the other; a reader in this process waits for the pending ones. */
let writing: Promise<void> = Promise.resolve();

/**
 * Records which hosts this process's proxy denies in a command's sandbox, until no process of the command
 * is left: this process may have exited when another one reads that.
 *
 * @returns A function that stops recording.
 */
export function noteDeniedHosts(directory: string, plan: string): () => void {
  const known = new Set<string>();
  const stop = onDeniedHost(plan, ({ host, rule }) => {
    if (known.has(`${rule} ${host}`) || known.size === MOST) return;
    known.add(`${rule} ${host}`);
    const line = `${JSON.stringify({ host, rule, at: Date.now() })}\n`;
    const write = async (): Promise<void> => {
      if ((await readRecord(directory))?.stage.kind === 'ended') stop();
      else await append(directory, line);
    };
    // A record that cannot be read or written, as in a removed directory, concerns no other command.
    writing = writing.then(write).catch(stop);
  });
  return stop;
}

async function append(directory: string, line: string): Promise<void> {
  await appendFile(join(directory, NAME), line, { mode: 0o600, flag: FLAGS });
}

/** The recorded hosts, and whether the record is complete. */
interface NotedHosts {
  readonly hosts: readonly HostDenial[];
  readonly isComplete: boolean;
}

/**
 * Reads the hosts that a command was denied, as its host has recorded them.
 *
 * @param until When the last process of the command ended, in milliseconds since 1970.
 */
export async function readDeniedHosts(directory: string, until: number): Promise<NotedHosts> {
  await writing;
  try {
    const text = (await readOwnFile(join(directory, NAME), LONGEST)).toString();
    const lines = text.split('\n').filter((line) => line !== '');
    const noted = lines.map(parseLine);
    const hosts = noted.filter((one) => one !== undefined).filter(({ at }) => at <= until);
    const areWhole = text.endsWith('\n') && !noted.includes(undefined);
    return { hosts, isComplete: areWhole && noted.length < MOST };
  } catch (error) {
    return { hosts: [], isComplete: hasCode(error, 'ENOENT') };
  }
}

/** Returns undefined for a line in another format. */
function parseLine(line: string): (HostDenial & { readonly at: number }) | undefined {
  try {
    const { host, rule, at } = JSON.parse(line);
    const isOne = typeof host === 'string' && typeof rule === 'string' && typeof at === 'number';
    // A rule that another version has written is reported as it is.
    return isOne ? { host, rule: rule as HostDenial['rule'], at } : undefined;
  } catch {
    return undefined;
  }
}
