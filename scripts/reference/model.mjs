// The public interface as typedoc reads it: the exports of each entry point of package.json, with their
// docstrings.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application } from 'typedoc';
import { nameThrown } from './thrown.mjs';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * The entry points: what users import, by the source that it is made of.
 * @type {ReadonlyMap<string, string>}
 */
export const entryPoints = new Map(
  Object.entries(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports).flatMap(
    ([name, target]) => {
      const [, path] = /"\.\/dist\/([^"]+)\.d\.[cm]?ts"/.exec(JSON.stringify(target)) ?? [];
      return path === undefined
        ? []
        : [[join(root, 'src', `${path}.ts`), `forkline${name.slice(1)}`]];
    },
  ),
);

/**
 * Returns a module's name for users.
 * @param {import('typedoc').DeclarationReflection} module
 */
function nameOf(module) {
  const [source] = module.sources ?? [];
  return entryPoints.get(source?.fullFileName ?? '') ?? 'other types';
}

/**
 * Returns typedoc, with the project that it has read.
 * @param {import('typedoc').TypeDocOptions & Record<string, unknown>} [options] more than those of every reference
 * @throws {Error} The sources could not be read; typedoc has printed why.
 */
export async function readFace(options = {}) {
  const application = await Application.bootstrapWithPlugins({
    name: 'forkline',
    entryPoints: [...entryPoints.keys(), join(root, 'scripts/reference/named.ts')],
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
    ...options,
  });
  const project = await application.convert();
  if (project === undefined) throw new Error('typedoc could not read the sources');
  nameThrown(project, root);
  for (const module of project.children ?? []) module.name = nameOf(module);
  return { application, project };
}
