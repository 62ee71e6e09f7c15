// Makes the reference as Markdown, a page for each entry point: `node scripts/reference/markdown.mjs
// [DIRECTORY]`, by default build/reference. The published package has it in docs/reference: it is made when
// the package is, from the types that are published with it.

import { join, resolve } from 'node:path';
import { readFace, root } from './model.mjs';

const directory = resolve(process.argv[2] ?? join(root, 'build/reference'));
const { application, project } = await readFace({
  plugin: [import.meta.resolve('typedoc-plugin-markdown')],
  outputs: [{ name: 'markdown', path: directory }],
  router: 'module',
  entryFileName: 'index',
  readme: 'none',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  expandObjects: true,
  ...{ parametersFormat: 'table', interfacePropertiesFormat: 'table' },
  ...{ classPropertiesFormat: 'table', typeAliasPropertiesFormat: 'table' },
  tableColumnSettings: { hideSources: true, hideModifiers: true, hideInherited: true },
});
// No sources are published that a link could lead to.
for (const reflection of Object.values(project.reflections)) {
  if ('sources' in reflection) delete reflection.sources;
}
await application.generateOutputs(project);
if (application.logger.hasErrors()) process.exitCode = 1;
