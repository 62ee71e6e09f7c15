import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A package on this disk. */
export interface FoundPackage {
  /** The name in its manifest: another one than that of its directory under an alias. */
  readonly name: unknown;
  readonly version: string;
  /** The directory of the package. */
  readonly directory: string;
}

/**
 * Finds the package that a file gets when it imports this name; undefined: there is none, or nothing can
 * be told, as in a bundle.
 *
 * Directories are searched as Node does it, since `package.json` is often not among a package's exports.
 * Where a package manager does without `node_modules`, `require.resolve()` is asked.
 *
 * @param from The path or URL of the file.
 */
export function findPackage(name: string, from: string): FoundPackage | undefined {
  const file = pathOf(from);
  if (file === undefined) return undefined;
  for (const folder of foldersAbove(file)) {
    const found = packageIn(join(folder, 'node_modules', name));
    if (found !== undefined) return found;
  }
  const resolved = resolvedFrom(file, name);
  if (resolved === undefined) return undefined;
  // A folder within the package may have a manifest without a version, which tells only the type.
  for (const folder of foldersAbove(resolved)) {
    const found = packageIn(folder);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Finds the same package under other names, beside the one that was found: `npm install ai-7@npm:ai@7`.
 * Takes time, since all packages there are looked at.
 */
export function aliasesOf(name: string, { directory }: FoundPackage): FoundPackage[] {
  const folder = directory.slice(0, -name.length);
  const all = namesIn(folder).flatMap((each) =>
    each.startsWith('@') ? namesIn(join(folder, each)).map((inner) => join(each, inner)) : [each],
  );
  return all.flatMap((each) => {
    const found = packageIn(join(folder, each));
    return found?.name === name && each !== name ? [found] : [];
  });
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Returns whether a file lies in an installed package of this name, and not in a bundle. */
export function isWithin(name: string, from: string): boolean {
  const file = pathOf(from);
  if (file === undefined) return false;
  return [...foldersAbove(file)].some((folder) => packageIn(folder)?.name === name);
}

/** The used fields of a manifest, which may be any JSON. */
interface Manifest {
  readonly name?: unknown;
  readonly version?: unknown;
}

/** Yields the directories above a file, the nearest one first. */
function* foldersAbove(file: string): Generator<string> {
  for (let path = file; path !== dirname(path); path = dirname(path)) yield dirname(path);
}

function packageIn(directory: string): FoundPackage | undefined {
  try {
    const manifest: Manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    const { name, version } = manifest;
    return typeof version === 'string' ? { name, version, directory } : undefined;
  } catch {
    return undefined;
  }
}

function resolvedFrom(file: string, name: string): string | undefined {
  const { resolve } = createRequire(file);
  for (const request of [`${name}/package.json`, name]) {
    try {
      return resolve(request);
    } catch {
      // The package is not there, or does not export this.
    }
  }
  return undefined;
}

function pathOf(from: string): string | undefined {
  try {
    return from.startsWith('file:') ? fileURLToPath(from) : from;
  } catch {
    return undefined;
  }
}
