import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { meaningOf } from './git-index.js';

/** All that lies below a folder: kind, mode and a hash of the bytes of each name. */
export type Snapshot = ReadonlyMap<string, string>;

const hash = (bytes: string | Buffer) => createHash('sha1').update(bytes).digest('hex');

/** Leaves out the names by chance that git gives to the sides of a conflict. */
function withoutChance(bytes: Buffer): Buffer {
  if (!bytes.includes('.merge_file_')) return bytes;
  const text = bytes.toString('latin1').replaceAll(/\.merge_file_\w{6}/g, '.merge_file');
  return Buffer.from(text, 'latin1');
}

const isIndex = (path: string) => basename(path) === 'index' && /\.git\//.test(path);

/** Looks at a folder. */
export function snapshotOf(root: string): Snapshot {
  const found = new Map<string, string>();
  const look = (path: string): void => {
    // Names by chance, which git-lfs removes when it is next started.
    if (path.endsWith('.git/lfs/tmp')) return;
    // An empty directory of the sandbox's own, for as long as that stands.
    if (basename(path).startsWith('.forkline-gate-')) return;
    const stat = lstatSync(path);
    const told = (what: string) =>
      found.set(relative(root, path), `${stat.mode.toString(8)} ${what}`);
    if (stat.isDirectory()) {
      told('');
      for (const name of readdirSync(path).sort()) look(join(path, name));
    } else if (stat.isSymbolicLink()) {
      told(readlinkSync(path));
    } else if (stat.isFile()) {
      const bytes = readFileSync(path);
      told(hash(isIndex(path) ? meaningOf(bytes) : withoutChance(bytes)));
    } else {
      told('special');
    }
  };
  look(root);
  return found;
}

/** The names by which two looks differ, each with `+` (more), `-` (less) or `~`, and what is there. */
export function changesBetween(before: Snapshot, after: Snapshot) {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name) => {
    const [one, other] = [before.get(name), after.get(name)];
    if (one === other) return [];
    const sign = one === undefined ? '+' : other === undefined ? '-' : '~';
    return [{ name, detail: `${sign} ${name} (${one} but ${other})` }];
  });
}

/** What a file is to git. */
export const PARTS = ['config', 'hooks', 'refs', 'index', 'git', 'outside', 'tree'] as const;
export type Part = (typeof PARTS)[number];

/** Which part of a repository a name in its folder belongs to. */
export function partOf(name: string, workspace: string): Part {
  const [, inside] = /(?:^|\/)[^/]*\.git\/(.*)$/.exec(name) ?? [];
  const isOutside = name !== workspace && !name.startsWith(`${workspace}/`);
  if (inside === undefined) return isOutside ? 'outside' : 'tree';
  if (/(?:^|\/)config(?:\.worktree)?$/.test(inside)) return 'config';
  if (/(?:^|\/)hooks(?:\/|$)/.test(inside)) return 'hooks';
  if (/(?:^|\/)(?:refs|logs)(?:\/|$)|(?:^|\/)(?:[A-Z_]*HEAD|packed-refs)$/.test(inside)) {
    return 'refs';
  }
  return isIndex(name) ? 'index' : 'git';
}
