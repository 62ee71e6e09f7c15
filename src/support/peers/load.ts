import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Makes a loader for a module of an optional package, which is loaded at the first call, synchronously. An
 * import would fail where the package is missing or old, before any code could say so.
 *
 * @param name The module, such as `@langchain/core/tools`.
 * @param importer `import.meta` of the calling file.
 */
export function latePeer<Module>(name: string, importer: ImportMeta): () => Module {
  const require = createRequire(importer.url);
  let loaded: Module | undefined;
  return () => {
    if (loaded !== undefined) return loaded;
    try {
      // The ES module, which is the program's own copy if that imports the package.
      loaded = require(fileURLToPath(importer.resolve(name))) as Module;
      return loaded;
    } catch {
      // Node refuses while the program is importing the same module, and some loaders always do. What the
      // package has for `require()` serves until then.
      return require(name) as Module;
    }
  };
}
