import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { requireOf } from '../late-library.js';

/** The C library that a binary is built for. */
type Libc = 'gnu' | 'musl';

let ownFound: readonly string[] | undefined;

/**
 * Returns the directories of files that this process loads, or starts as programs, later: the addon with
 * the keeper, and the package's own code. Real paths.
 */
export function ownPlaces(): readonly string[] {
  ownFound ??= findOwnPlaces();
  return ownFound;
}

function findOwnPlaces(): readonly string[] {
  const require = requireOf(import.meta.url);
  const override = process.env.FORKLINE_BINDING;
  const root = rootOf(require);
  const addons = override
    ? [resolve(override)]
    : [...placesOf(root, 'gnu'), ...placesOf(root, 'musl')];
  const found = addons.map((place) => {
    try {
      return dirname(require.resolve(place));
    } catch {
      return undefined;
    }
  });
  const all = [root && join(root, 'dist'), ...found].filter((path) => path !== undefined);
  return all.filter((path) => existsSync(path)).map((path) => realpathSync(path));
}

/** Returns the directory of this package or checkout, wherever the bundler has put this file in it. */
export function rootOf(require: NodeJS.Require): string | undefined {
  try {
    return dirname(require.resolve('forkline/package.json'));
  } catch {
    // A user's bundler has put this file elsewhere; the binaries may be found all the same.
    return undefined;
  }
}

/**
 * Returns the C library of this process, as far as it can be guessed. Node knows it, but takes 7 ms to
 * tell; so a musl at an unusual path is taken for glibc, and its binaries are tried after those.
 */
export function libc(): Libc {
  const machine = { x64: 'x86_64', arm64: 'aarch64' }[process.arch as string] ?? process.arch;
  try {
    const musl = realpathSync(`/lib/ld-musl-${machine}.so.1`);
    return readFileSync('/proc/self/maps', 'latin1').includes(musl) ? 'musl' : 'gnu';
  } catch {
    // There is no musl, or nothing can be examined.
    return 'gnu';
  }
}

export function placesOf(root: string | undefined, libc: Libc): string[] {
  const machine = `${process.platform}-${process.arch}-${libc}`;
  const local = root && join(root, `native/prebuilt/${machine}/forkline.${machine}.node`);
  return [...(local ? [local] : []), `@forkline/engine-${machine}`];
}
