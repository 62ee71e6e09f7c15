// The public face as typedoc reads it: what each entry point of package.json offers, with its docstrings.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application } from 'typedoc';
import { nameThrown } from './thrown.mjs';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The sources of the entry points, from `exports` of package.json. */
function entryPoints() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.values(exports).flatMap(({ types }) =>
    types === undefined
      ? []
      : [join(root, types.replace('./dist/', 'src/').replace('.d.ts', '.ts'))],
  );
}

/**
 * What users call a module.
 * @param {string} path of it, without its ending
 */
function nameOf(path) {
  if (path.startsWith('scripts/')) return 'other types';
  return path.replace(/^src|^index$/, 'forkline').replace(/\/index$/, '');
}

/**
 * Typedoc, with what it has read.
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
