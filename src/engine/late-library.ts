import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { onBehalfOfNobody } from './caller.js';
import { LaunchError } from './launch-error.js';
import { ERRNO } from './system-error.js';

/** The number of files of a library that are open at once while Node loads its modules. */
const OPEN_AT_ONCE = 20;
/** The same for CommonJS, as in parts of this package, which is read file by file. */
export const OPEN_ONE_BY_ONE = 4;

/**
 * Makes a loader for a library that takes time to load, which is called when it is first needed.
 *
 * Node remembers for ever that a module was not found, and takes a shortage of file descriptors for that;
 * so Node is asked only when there are known to be enough.
 *
 * @param needed The number of file descriptors that loading takes.
 * @returns A function that loads it. Rejects with a {@link LaunchError} (`EMFILE`) when that cannot be
 * done now; the next call tries again.
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
 * Makes a loader for a part of this package in a file of its own, which is loaded at the first call,
 * synchronously. The bundler puts this in the place of imports: see scripts/late-parts.mjs.
 *
 * @param from The URL of the file that needs it.
 * @param path Relative to that file.
 * @returns A function that loads it.
 * @throws {LaunchError} (the returned function, `EMFILE`) As with {@link lateLibrary}.
 * @throws Error (the returned function, `FORKLINE_BUNDLED`) A bundler has moved the file.
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

/** A constructor of any class. */
type Class = abstract new (...given: never) => object;

/**
 * Makes a stand-in for a class of such a part, for `new`, `extends` and `instanceof`.
 *
 * @param load Called when it is first used.
 */
export function lateClass<T extends Class>(load: () => T): T {
  // A class's own prototype could not be replaced by the other one.
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
    // Wherever there are files, `/` can be opened, with or without a `/dev`.
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
 * Returns a function that loads modules that come with this package, by name or by path.
 *
 * @param from The URL of the calling file; undefined after a bundler that makes CommonJS.
 * @throws Error (`FORKLINE_BUNDLED`) `from` is undefined.
 */
export function requireOf(from: string | undefined): NodeJS.Require {
  if (!from) throw bundled();
  return createRequire(from);
}

/**
 * Loads a file of this package.
 *
 * @param from The URL of the calling file.
 * @param path Relative to that file, or by the package's own name.
 * @throws Error (`FORKLINE_BUNDLED`) The file does not exist.
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

/** Makes the error for a bundled package, whose files cannot find each other. */
function bundled(cause?: unknown): Error {
  const error = new Error(
    'forkline was bundled, and cannot find its own files: mark it as external, to be loaded from ' +
      'node_modules (esbuild, webpack, rollup: `external`; vite: `ssr.external`; Next: ' +
      '`serverExternalPackages`)',
    { cause },
  );
  return Object.assign(error, { code: 'FORKLINE_BUNDLED' });
}
