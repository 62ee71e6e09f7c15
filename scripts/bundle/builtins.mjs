/** @import { Plugin } from 'rolldown' */

const REQUIRE = /\brequire\(("node:[\w/]+")\)/g;

/**
 * Takes Node's own modules from `process`, and not by `require()`: a bundler that makes one ES module of
 * a user's program leaves no `require()` in it.
 *
 * @type {Plugin}
 */
export const builtins = {
  name: 'builtins',
  renderChunk: (code) => code.replace(REQUIRE, 'globalThis.process.getBuiltinModule($1)'),
};
