import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { onBehalfOfNobody } from './caller.js';
import { LaunchError } from './launch-error.js';
import { ERRNO } from './system-error.js';

/** So many files of one library are open at once while Node loads its modules. */
const OPEN_AT_ONCE = 20;
/** CommonJS, of which parts of this package are, is read file by file. */
export const OPEN_ONE_BY_ONE = 4;

/**
 * A library that takes time to load, and is when it is first needed.
 *
 * Node remembers for ever that a module was not found, and takes a shortage of descriptors for that;
 * so nothing is asked of it before it is known that there are enough.
 *
 * @param needed How many descriptors that takes.
 * @returns Loads it. Rejects with a {@link LaunchError} (`EMFILE`) when that cannot be done now; the
 *   next call tries again.
 */
export function lateLibrary<T>(
  name: string,
  load: () => Promise<T>,
  needed: number = OPEN_AT_ONCE,
): () => Promise<T> {
  let loading: Promise<T> | undefined;
  const start = async (): Promise<T> => withDescriptors(name, needed, load);
  return () => {
    loading ??= onBehalfOfNobody(start).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/**
 * A part of this package in a file of its own, loaded when it is first needed, and then at once. The
 * bundler puts this in the place of imports: see scripts/late-parts.mjs.
 *
 * @param from The URL of the file that needs it.
 * @param path Relative to that file.
 * @returns Loads it.
 * @throws {LaunchError} (the made function, `EMFILE`) As with {@link lateLibrary}.
 * @throws Error (the made function, `FORKLINE_BUNDLED`) A bundler has taken it for its own.
 */
export function latePart<T>(name: string, from: string, path: string): () => T {
  let part: T | undefined;
  return () => {
    part ??= onBehalfOfNobody(() =>
      withDescriptors<T>(name, OPEN_ONE_BY_ONE, () => loadOwn(from, path)),
    );
    return part;
  };
}

/** A constructor of anything. */
type Class = abstract new (...given: never) => object;

/**
 * A class of such a part: its like for `new`, `extends` and `instanceof`.
 *
 * @param load Called when it is first used.
 */
export function lateClass<T extends Class>(load: () => T): T {
  // A class's own prototype could not be passed off as another one.
  // biome-ignore lint/complexity/useArrowFunction: an arrow function can't be constructed.
  const stand = function () {} as unknown as T;
  const late: T = new Proxy(stand, {
    construct(_, given, target) {
      const type = load();
      return Reflect.construct(type, given, target === late ? type : target);
    },
    get: (_, name) => Reflect.get(load(), name),
  });
  return late;
}

function withDescriptors<T>(name: string, needed: number, load: () => T): T {
  const open: number[] = [];
  try {
    // Wherever there are files, this is one, with or without a `/dev`.
    while (open.length < needed) open.push(openSync('/', 'r'));
  } catch {
    const message = `Too many open files: there are none left to load ${name} with`;
    throw new LaunchError({ step: 'descriptors', errno: ERRNO.EMFILE, subject: name, message });
  } finally {
    for (const descriptor of open) closeSync(descriptor);
  }
  return load();
}

/**
 * What loads by name or by place what comes with this package.
 *
 * @param from The URL of the file that asks; a bundler that makes CommonJS leaves none.
 * @throws Error (`FORKLINE_BUNDLED`) There is none.
 */
export function requireOf(from: string | undefined): NodeJS.Require {
  if (!from) throw bundled();
  return createRequire(from);
}

/**
 * Loads a file of this package.
 *
 * @param from The URL of the file that asks.
 * @param path Relative to that file, or by the package's own name.
 * @throws Error (`FORKLINE_BUNDLED`) It is not there.
 */
function loadOwn<T>(from: string | undefined, path: string): T {
  const load = requireOf(from);
  let found: string;
  try {
    found = load.resolve(path);
  } catch (error) {
    throw bundled(error);
  }
  return load(found);
}

/** The package has been taken apart: its files look for each other. */
function bundled(cause?: unknown): Error {
  const error = new Error(
    'forkline was bundled, and does not find its own files: leave it to be loaded from ' +
      'node_modules (esbuild, webpack, rollup: `external`; vite: `ssr.external`; Next: ' +
      '`serverExternalPackages`)',
    { cause },
  );
  return Object.assign(error, { code: 'FORKLINE_BUNDLED' });
}
