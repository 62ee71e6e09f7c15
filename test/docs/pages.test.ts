import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const read = (page: string) => readFileSync(join(root, page), 'utf8');

/** The reference, which is made when the package is: a page for each entry point. */
const { exports } = JSON.parse(read('package.json'));
const reference = [
  ...['index', 'other-types'],
  ...Object.keys(exports).map((name) => `forkline${name.slice(1)}`),
].map((name) => `docs/reference/${name}.md`);
const isThere = (target: string) => existsSync(join(root, target)) || reference.includes(target);

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
    if (!isThere(target)) return true;
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

/** The links of llms.txt, with what it says of each. */
const listed = [...read('llms.txt').matchAll(/^- \[([^\]]+)\]\(([^)]+)\): (.+)$/gm)].map(
  ([, title = '', target = '', what = '']) => ({ title, target, what }),
);

test('U: llms.txt has a title, a summary, and sections of nothing but links', () => {
  const [title, summary, , ...sections] = read('llms.txt').split(/\n\n/);
  expect(title).toBe('# forkline');
  expect(summary).toMatch(/^> /);
  const lines = sections.join('\n').split('\n');
  expect(lines.filter((line) => !/^(## .+|- \[.+\]\(.+\): .+|)$/.test(line))).toEqual([]);
  expect(lines.filter((line) => line.startsWith('- '))).toHaveLength(listed.length);
});

test('U: every link of llms.txt leads somewhere, and every page is listed', () => {
  const targets = listed.map(({ target }) => target);
  expect(targets.filter((target) => !isThere(target))).toEqual([]);
  expect(pages.filter((page) => !targets.includes(page))).toEqual([]);
});
