import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { ownFiles, ownRequire } from '../../support/package/own-require.js';

/** The C library that a binary is built for. */
type Libc = 'gnu' | 'musl';

/** The program that is beside the addon. */
const KEEPER = 'forkline-keeper';

let ownFound: readonly string[] | undefined;

/**
 * Returns the directories and files that this process loads, or starts as programs, later: the addon with
 * the keeper, and the package's own code. Real paths.
 */
export function ownPlaces(): readonly string[] {
  ownFound ??= findOwnPlaces();
  return ownFound;
}

function findOwnPlaces(): readonly string[] {
  const override = process.env.FORKLINE_BINDING;
  const root = packageRoot();
  const addons = override
    ? [resolve(override)]
    : [...placesOf(root, 'gnu'), ...placesOf(root, 'musl')].flatMap(fileOf);
  // The directory of a bundle may be the user's own, so only files in it are named.
  const isOurs = (file: string) => override !== undefined || !isBeside(file);
  const found = addons.flatMap((file) =>
    isOurs(file) ? [dirname(file)] : [file, join(dirname(file), KEEPER)],
  );
  const code = root === undefined ? ownFiles().flatMap(realPath).slice(0, 1) : [join(root, 'dist')];
  return [...code, ...found].flatMap(realPath);
}

/** Leaves out what does not exist, and files within one of Bun's executables: those have names alone. */
function realPath(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

function fileOf(place: string): string[] {
  try {
    return [ownRequire().resolve(place)];
  } catch {
    return [];
  }
}

const isBeside = (file: string) => ownFiles().some((own) => dirname(own) === dirname(file));

/** Returns the directory of this package or checkout; undefined: its code is in a user's bundle, alone. */
export function packageRoot(): string | undefined {
  try {
    return dirname(ownRequire().resolve('forkline/package.json'));
  } catch {
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

/**
 * Returns where the addon can be: in a checkout, in the package with the binaries of a platform, beside the
 * program. Paths, and names of packages.
 *
 * @param root Of this package or checkout.
 */
export function placesOf(root: string | undefined, libc: Libc): string[] {
  const machine = `${process.platform}-${process.arch}-${libc}`;
  const file = `forkline.${machine}.node`;
  const local = root && join(root, `native/prebuilt/${machine}/${file}`);
  const beside = new Set(ownFiles().map((own) => join(dirname(own), file)));
  return [...(local ? [local] : []), installed(root, `@forkline/engine-${machine}`), ...beside];
}

/** Finds a package that this one depends on; a bundle may lie where it can't be found. */
function installed(root: string | undefined, name: string): string {
  if (root === undefined) return name;
  try {
    return createRequire(join(root, 'package.json')).resolve(name);
  } catch {
    return name;
  }
}
