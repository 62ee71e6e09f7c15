import { closeSync, openSync } from 'node:fs';
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
 * synchronously. The bundler puts this in the place of imports: see scripts/bundle/late-parts.mjs.
 *
 * @param load Loads it.
 * @returns A function that loads it once.
 * @throws {LaunchError} (the returned function, `EMFILE`) As with {@link lateLibrary}.
 */
export function latePart<T>(name: string, load: () => T): () => T {
  let part: T | undefined;
  return () => {
    part ??= onBehalfOfNobody(() => withDescriptors(name, OPEN_ONE_BY_ONE, load));
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
