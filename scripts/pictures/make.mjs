// Draws the pictures of the documentation: `npm run docs:pictures` (build first). The plots of
// measurements come from `npm run bench -- --svg`, the recorded terminal from terminal.mjs.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cut } from './cut.mjs';
import { processes } from './processes.mjs';
import { states } from './states.mjs';

/**
 * The pictures, by the names of their files in docs/pictures.
 * @returns {Promise<Record<string, string>>}
 */
export const draw = async () => ({
  'cut.svg': await cut(),
  'processes.svg': processes,
  'states.svg': states,
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
  for (const [name, svg] of Object.entries(await draw())) writeFileSync(join(directory, name), svg);
}
