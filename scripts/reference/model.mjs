// The public interface as typedoc reads it: the exports of each entry point of package.json, with their
// docstrings.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application } from 'typedoc';
import { nameThrown } from './thrown.mjs';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The sources of the entry points, from `exports` of package.json. */
function entryPoints() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.values(exports).flatMap(({ import: { types } = {} }) =>
    types === undefined
      ? []
      : [join(root, types.replace('./dist/', 'src/').replace('.d.ts', '.ts'))],
  );
}

/**
 * Returns a module's name for users.
 * @param {string} path its path, without the file extension
 */
function nameOf(path) {
  if (path.startsWith('scripts/')) return 'other types';
  return path.replace(/^src|^index$/, 'forkline').replace(/\/index$/, '');
}

/**
 * Returns typedoc, with the project that it has read.
 * @throws {Error} The sources could not be read; typedoc has printed why.
 */
export async function readFace() {
  const application = await Application.bootstrap({
    name: 'forkline',
    entryPoints: [...entryPoints(), join(root, 'scripts/reference/named.ts')],
    tsconfig: join(root, 'scripts/reference/tsconfig.json'),
    readme: join(root, 'README.md'),
    disableGit: true,
    sourceLinkTemplate: '../../{path}#L{line}',
    hideGenerator: true,
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    // `tsc` has checked the types, with a newer compiler.
    skipErrorChecking: true,
    sort: ['source-order'],
    validation: { notExported: false, invalidLink: true, notDocumented: false },
    logLevel: 'Warn',
  });
  const project = await application.convert();
  if (project === undefined) throw new Error('typedoc could not read the sources');
  nameThrown(project, root);
  for (const module of project.children ?? []) module.name = nameOf(module.name);
  return { application, project };
}
