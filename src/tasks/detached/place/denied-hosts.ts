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
/** A command that tries everything has no more than this written down. */
const MOST = 100;
/** More than so many names of hosts can be. */
const LONGEST = 64 * 1024;

/** One after the other: whoever reads here waits for what is to be there. */
let writing: Promise<void> = Promise.resolve();

/**
 * Has it written down which hosts this process's proxy denies those in a command's sandbox, until nobody
 * of the command is left: by whoever reads that later, this process may be gone.
 *
 * @returns Stops it.
 */
export function noteDeniedHosts(directory: string, plan: string): () => void {
  const known = new Set<string>();
  const stop = onDeniedHost(plan, ({ host, rule }) => {
    if (known.has(`${rule} ${host}`) || known.size === MOST) return;
    known.add(`${rule} ${host}`);
    const line = `${JSON.stringify({ host, rule, at: Date.now() })}\n`;
    writing = writing.then(async () => {
      if ((await readRecord(directory))?.stage.kind === 'ended') stop();
      else await append(directory, line).catch(stop);
    });
  });
  return stop;
}

async function append(directory: string, line: string): Promise<void> {
  await appendFile(join(directory, NAME), line, { mode: 0o600, flag: FLAGS });
}

/** What was written down, and whether all is. */
interface NotedHosts {
  readonly hosts: readonly HostDenial[];
  readonly areAll: boolean;
}

/**
 * The hosts that a command was denied, by what its host has written down.
 *
 * @param until When nobody of it was left, in milliseconds since 1970.
 */
export async function readDeniedHosts(directory: string, until: number): Promise<NotedHosts> {
  await writing;
  try {
    const text = (await readOwnFile(join(directory, NAME), LONGEST)).toString();
    const lines = text.split('\n').filter((line) => line !== '');
    const noted = lines.map(parseLine);
    const hosts = noted.filter((one) => one !== undefined).filter(({ at }) => at <= until);
    const areWhole = text.endsWith('\n') && !noted.includes(undefined);
    return { hosts, areAll: areWhole && noted.length < MOST };
  } catch (error) {
    return { hosts: [], areAll: hasCode(error, 'ENOENT') };
  }
}

/** Undefined: it is none of ours. */
function parseLine(line: string): (HostDenial & { readonly at: number }) | undefined {
  try {
    const { host, rule, at } = JSON.parse(line);
    const isOne = typeof host === 'string' && typeof rule === 'string' && typeof at === 'number';
    return isOne ? { host, rule, at } : undefined;
  } catch {
    return undefined;
  }
}
