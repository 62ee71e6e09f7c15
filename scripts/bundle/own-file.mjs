/** @import { Plugin } from 'rolldown' */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Gives the code what a file of CommonJS knows of itself: its path in place of `import.meta.url`, where a
 * user's bundler has left one, and the package's version in place of its manifest.
 *
 * @param {string} root of the checkout
 * @returns {Plugin}
 */
export function ownFile(root) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const source = join(root, 'src');
  return {
    name: 'own-file',
    transform(code, id) {
      if (!id.startsWith(source)) return null;
      if (id === join(source, 'support/package/version.ts')) {
        return `export const packageVersion = () => ${JSON.stringify(version)};`;
      }
      if (!code.includes('import.meta.url')) return null;
      const own = "(typeof __filename === 'string' ? __filename : undefined)";
      return code.replaceAll('import.meta.url', own);
    },
  };
}
