import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * The modules of optional packages that an entry point for `import` has imported, by their names: the
 * program's own copies, if it imports them too. See scripts/bundle/entries.mjs.
 */
export const imported = new Map<string, unknown>();

/**
 * Makes a loader for a module of an optional package, which is loaded at the first call, synchronously. An
 * import would fail where the package is missing or old, before any code could say so.
 *
 * @param name The module, such as `@langchain/core/tools`.
 * @param from The URL or path of the calling file; undefined after a bundler, which finds the module itself.
 */
export function latePeer<Module>(name: string, from: string | undefined): () => Module {
  return () => (imported.get(name) ?? createRequire(fileOf(from))(name)) as Module;
}

function fileOf(from = process.execPath): string {
  return from.startsWith('file:') ? fileURLToPath(from) : from;
}
