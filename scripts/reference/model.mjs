// The public face as typedoc reads it: what each entry point of package.json offers, with its docstrings.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application } from 'typedoc';

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
 * Typedoc, with what it has read.
 * @throws {Error} The sources could not be read; typedoc has printed why.
 */
export async function readFace() {
  const application = await Application.bootstrap({
    name: 'forkline',
    entryPoints: entryPoints(),
    tsconfig: join(root, 'tsconfig.json'),
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
  return { application, project };
}
