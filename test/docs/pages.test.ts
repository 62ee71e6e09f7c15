import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const read = (page: string) => readFileSync(join(root, page), 'utf8');

/** What a page's headings are called in links. */
function anchorsOf(page: string): string[] {
  const headings = [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}

test.each(pages)('every link of %s leads somewhere', (page) => {
  const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const broken = links.filter((link) => {
    if (/^https?:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : relative(root, join(root, dirname(page), path));
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(broken).toEqual([]);
});

test('every page can be reached from the README', () => {
  const seen = new Set<string>();
  const visit = (page: string): void => {
    if (seen.has(page) || !pages.includes(page)) return;
    seen.add(page);
    for (const [, path = ''] of read(page).matchAll(/\]\(([^)#\s]+)/g)) {
      visit(relative(root, join(root, dirname(page), path)));
    }
  };
  visit('README.md');
  expect(pages.filter((page) => !seen.has(page))).toEqual([]);
});

/** What the examples take from their surroundings. */
const SURROUNDINGS: Readonly<Record<string, string>> = {
  cwd: 'string',
  input: 'unknown',
  // Each framework has its own.
  model: 'never',
  onOutput: '(chunk: object) => void',
  onUpdate: '(update: object) => void',
  signal: 'AbortSignal',
  skills: 'Map<string, string>',
  tellModel: '(what: string, text: string) => void',
  tracer:
    '{ startSpan(name: string): { end(): void; recordException(error: string): void; ' +
    'setAttributes(attributes: Record<string, string | number | undefined>): unknown } }',
  transport: "import('@modelcontextprotocol/server').Transport",
};
const UNIMPORTED = ['createBashTool', 'TaskManager', 'spawn'];

/** An example as a module: with what it uses and does not say where from. */
function toModule(example: string): string {
  const uses = (name: string) => new RegExp(`(?<![.\\w])${name}\\b`).test(example);
  const declared = Object.entries(SURROUNDINGS)
    .filter(([name]) => uses(name) && !new RegExp(`(const|let) ${name}\\b`).test(example))
    .map(([name, type]) => `declare const ${name}: ${type};`);
  const imported = example.includes("from 'forkline'") ? [] : UNIMPORTED.filter(uses);
  return [`import { ${imported.join(', ')} } from 'forkline';`, ...declared, example].join('\n');
}

// Below `examples`, since from there the package's own name leads to it.
mkdirSync(join(root, 'examples/build'), { recursive: true });
const folder = mkdtempSync(join(root, 'examples/build/docs-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the examples compile', async () => {
  const names = pages.flatMap((page) =>
    [...read(page).matchAll(/^```ts\n(.*?)^```$/gms)].map(([, example = ''], index) => {
      const name = `${page.replace(/\W/g, '-')}-${index}.ts`;
      writeFileSync(join(folder, name), toModule(example));
      return name;
    }),
  );
  expect(names.length).toBeGreaterThan(10);
  const config = {
    extends: '../../../tsconfig.json',
    compilerOptions: { rootDir: '.', noEmit: true },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, include: ['.'] }));
  const compiler = join(root, 'node_modules/.bin/tsc');
  const compile = promisify(execFile)(compiler, ['-p', folder], { cwd: folder });
  const errors = await compile.then(
    () => '',
    ({ stdout }) => stdout,
  );
  expect(errors).toBe('');
});
