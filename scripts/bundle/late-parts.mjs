// Parts of the package that are loaded when they are first called, and not when it is imported: the time
// that V8 takes for a module grows with its text, and most programs use one contract or none.
//
// In the source these are plain imports. In the bundle each of those modules is a file of its own, and
// its importers get functions of the same names that load it, by a plain `require()` of CommonJS: that is
// synchronous, every loader keeps one copy of such a file, and every bundler can follow it.

/** @import { CodeSplittingNameFunction, Plugin } from 'rolldown' */
import { readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';

/** The modules that call parts, of which they take only functions and classes; and the parts' names for users. */
const PARTS = [
  { by: 'engine/process', part: 'engine/portable/engine', title: 'the portable engine' },
  { by: 'engine/owner', part: 'engine/portable/engine', title: 'the portable engine' },
  { by: 'command/hosts', part: 'command/after/in-sandbox', title: 'the sandbox' },
  { by: 'command/after/checks', part: 'command/after/in-sandbox', title: 'the sandbox' },
  { by: 'command/promise', part: 'command/limits/groups', title: 'the limits' },
  { by: 'command/after/checks', part: 'command/limits/groups', title: 'the limits' },
  { by: 'command/hosts', part: 'command/encoding/decoding', title: 'the decoder' },
  { by: 'command/promise', part: 'receipt/trace', title: 'the receipts' },
  { by: 'command/execute', part: 'sandbox/read-policy', title: 'the sandbox' },
  { by: 'options/table', part: 'sandbox/read-policy', title: 'the sandbox' },
  { by: 'sandbox/denials/again', part: 'sandbox/read-policy', title: 'the sandbox' },
  { by: 'sandbox/denials/again', part: 'sandbox/undo/report', title: 'the changes' },
  { by: 'sandbox/changes/of-all', part: 'sandbox/undo/list', title: 'the changes' },
  { by: 'sandbox/changes/of-all', part: 'sandbox/pending/list', title: 'the changes' },
  { by: 'sandbox/pending/of-tool', part: 'sandbox/pending/list', title: 'the changes' },
  { by: 'sandbox/resolve', part: 'sandbox/secrets/kept', title: 'the secrets' },
  { by: 'sandbox/of-command', part: 'sandbox/resolve', title: 'the sandbox' },
  { by: 'contracts/options', part: 'sandbox/resolve', title: 'the sandbox' },
  { by: 'sandbox/held/held-back', part: 'sandbox/held/put', title: 'the held changes' },
  { by: 'sandbox/held/held-back', part: 'sandbox/pins/present', title: 'the held changes' },
  { by: 'contracts/create-bash-tool', part: 'contracts/workspace/tool', title: 'the tool' },
  { by: 'contracts/create-bash-tool', part: 'contracts/modes/tool', title: 'the tool' },
  { by: 'contracts/create-bash-tool', part: 'contracts/session/tool', title: 'the tool' },
  { by: 'contracts/create-bash-tool', part: 'contracts/plain/tool', title: 'the tool' },
  { by: 'index', part: 'artifacts/directory-store', title: 'the artifact store' },
  { by: 'index', part: 'contracts/sandbox/denial-notices', title: 'the notices' },
  { by: 'index', part: 'interaction-log/file-log', title: 'the interaction log' },
  { by: 'index', part: 'minimizer/error-lines', title: 'the minimizer' },
  { by: 'index', part: 'receipt/checkout-notice', title: 'the notices' },
  { by: 'index', part: 'receipt/receipt', title: 'the receipts' },
  { by: 'index', part: 'sandbox/held/list', title: 'the held changes' },
  { by: 'index', part: 'sandbox/undo/list', title: 'the changes' },
  { by: 'index', part: 'tasks/manager', title: 'the task manager' },
  { by: 'index', part: 'tasks/detached/public', title: 'the tasks' },
  { by: 'index', part: 'terminal/run-in-console', title: 'the terminal' },
  { by: 'tasks/followed-task', part: 'tasks/screen', title: 'the terminal' },
  { by: 'index', part: 'terminal/tty-ui', title: 'the terminal' },
];

/** The bundle's entries for the parts, by file name. */
export const lateEntries = Object.fromEntries(
  PARTS.map(({ part }) => [fileOf(part), `src/${part}.ts`]),
);

/** @param {string} part */
function fileOf(part) {
  return `parts/${part.replaceAll('/', '-')}`;
}

/** @param {string} root of the checkout */
export function lateParts(root) {
  const source = join(root, 'src');
  /** @param {string} path */
  const nameOf = (path) => relative(source, path).replace(/\.[jt]s$/, '');

  /** @type {Plugin} */
  const plugin = {
    name: 'late-parts',
    resolveId(id, importer) {
      if (id.startsWith('late:')) return { id, external: true };
      if (importer === undefined || !id.startsWith('.')) return null;
      const by = nameOf(importer);
      const part = nameOf(join(dirname(importer), id));
      const found = PARTS.find((one) => one.by === by && one.part === part);
      return found === undefined ? null : `\0late:${part}`;
    },
    load(id) {
      const found = PARTS.find(({ part }) => id === `\0late:${part}`);
      if (found === undefined) return null;
      const text = readFileSync(join(source, `${found.part}.ts`), 'utf8');
      const library = JSON.stringify(join(source, 'engine/late-library.ts'));
      const part = `() => require('late:${found.part}')`;
      return [
        `import { lateClass, latePart } from ${library};`,
        `const load = latePart(${JSON.stringify(found.title)}, ${part});`,
        ...functionsOf(text),
      ].join('\n');
    },
    // Here the functions' file is known.
    renderChunk(code, chunk) {
      return code.replace(/(["'`])late:([\w/-]+)\1/g, (_, __, part) => {
        const path = posix.relative(posix.dirname(chunk.fileName), `${fileOf(part)}.cjs`);
        return JSON.stringify(path.startsWith('.') ? path : `./${path}`);
      });
    },
  };
  return plugin;
}

/**
 * Makes the replacement of a part: functions of the same names, which load it, and for a class a stand-in
 * for `new`, `extends` and `instanceof`.
 * @param {string} text
 */
function functionsOf(text) {
  const exported = [...text.matchAll(/^export (?!type |interface )(.*)$/gm)];
  return exported.map(([, declaration = '']) => {
    const [, isAsync = '', isMany = '', name] =
      /^(async )?function(\*)? (\w+)/.exec(declaration) ?? [];
    if (name !== undefined) {
      if (isMany !== '')
        return `export function* ${name}(...given) { return yield* load().${name}(...given); }`;
      return `export ${isAsync}function ${name}(...given) { return load().${name}(...given); }`;
    }
    const [, type] = /^class (\w+)/.exec(declaration) ?? [];
    // Without a replacement: that it is missing ends the build of a module that takes it.
    if (type === undefined) return '';
    return `export const ${type} = lateClass(() => load().${type});`;
  });
}

/**
 * Names the chunk of all modules that are loaded together with the entries, and of no others.
 * @param {readonly string[]} entries
 * @param {string} name
 * @returns {CodeSplittingNameFunction}
 */
export function atOnce(entries, name) {
  /** @type {Set<string> | undefined} */
  let needed;
  return (id, modules) => {
    if (needed === undefined) {
      needed = new Set(entries);
      // Iteration over a set includes elements that are added on the way.
      for (const module of needed) {
        for (const imported of modules.getModuleInfo(module)?.importedIds ?? [])
          needed.add(imported);
      }
    }
    return needed.has(id) ? name : null;
  };
}
