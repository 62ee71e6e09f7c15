import { join } from 'node:path';
import { aliasesOf, type FoundPackage, findPackage, isWithin } from './find.js';
import { type EntryPoint, PEERS, type Peer, takenBy } from './table.js';

/**
 * Checks the package that an entry point works with, when the entry point is imported. Where nothing can be
 * told, as in a bundle, nothing is refused.
 *
 * @param from The URL of the entry point's file; undefined after a bundler that makes CommonJS.
 * @throws Error `FORKLINE_PEER_VERSION`: the version is not taken. `FORKLINE_PEER_MISSING`: see
 *   {@link missingPeer}.
 */
export function checkPeer(entry: EntryPoint, from: string | undefined): void {
  if (from === undefined || process.env.FORKLINE_ANY_PEER) return;
  const peer: Peer = PEERS[entry];
  const isTaken = ({ version }: FoundPackage) => isFrom(peer.from, version);
  const refused: FoundPackage[] = [];
  for (const place of placesFor(peer, from)) {
    const found = findPackage(peer.name, place);
    if (found === undefined) continue;
    if (isTaken(found)) return;
    refused.push(found);
  }
  const [first] = refused;
  if (first !== undefined) {
    const others = peer.isNeeded ? [] : refused.flatMap((each) => aliasesOf(peer.name, each));
    if (others.some(isTaken)) return;
    throw wrongVersion(entry, first);
  }
  if (peer.isNeeded && isWithin('forkline', from)) throw missingPeer(entry);
}

/**
 * Makes the error for a missing package: its name, and how it is installed (`FORKLINE_PEER_MISSING`).
 *
 * @param cause The error of the loader, if one was thrown.
 */
export function missingPeer(entry: EntryPoint, cause?: unknown): Error {
  const { name } = PEERS[entry];
  const message =
    `${entry} needs ${name} ${takenBy(entry)}, which is not installed: ` + `npm install ${name}`;
  return Object.assign(new Error(message, { cause }), { code: 'FORKLINE_PEER_MISSING' });
}

function wrongVersion(entry: EntryPoint, { version, directory }: FoundPackage): Error {
  const { name } = PEERS[entry];
  const message = `${entry} takes ${name} ${takenBy(entry)}; found ${version} in ${directory}`;
  return Object.assign(new Error(message), { code: 'FORKLINE_PEER_VERSION' });
}

/**
 * Yields the files whose imports count. A package that is loaded is the one that this package gets. One that
 * is taken by its shape is loaded by the program, which may have another one than this package.
 */
function* placesFor({ isNeeded }: Peer, from: string): Generator<string> {
  yield from;
  if (isNeeded) return;
  const [, program] = process.argv;
  if (program !== undefined) yield program;
  try {
    yield join(process.cwd(), 'program.js');
  } catch {
    // The working directory was removed.
  }
}

/** Returns whether a version is the lowest one or newer; an early version counts as what it precedes. */
function isFrom(lowest: string, version: string): boolean {
  const own = numbersOf(version);
  const least = numbersOf(lowest);
  const differing = least.findIndex((each, index) => each !== own[index]);
  return differing === -1 || (own[differing] ?? 0) > (least[differing] ?? 0);
}

function numbersOf(version: string): readonly number[] {
  return version.split('.', 3).map((part) => Number.parseInt(part, 10));
}
