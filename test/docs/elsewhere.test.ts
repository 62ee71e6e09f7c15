// The pages for those who come from elsewhere name everything that the others' types have.
import * as execa from 'execa';
import { expect, test } from 'vitest';
import { read } from '../support/house.js';

/** Returns the names that a page's tables have in the first column, and in parentheses and lists there. */
function namedIn(page: string): Set<string> {
  const cells = [...read(page).matchAll(/^\| ([^|]*)\|/gm)].map(([, cell = '']) => cell);
  const code = cells.flatMap((cell) => [...cell.matchAll(/`+([^`]+)`+/g)].map(([, name]) => name));
  return new Set(code.flatMap((name = '') => name.replace(/^'(.*)'$/, '$1')));
}

/** Returns the body of a declaration of a `.d.ts` file, without comments. */
function bodyOf(text: string, declaration: string): string {
  const source = text.replaceAll(/\/\*.*?\*\//gs, '');
  const start = source.indexOf(declaration);
  expect(start, `${declaration} is not found: has it another name now?`).not.toBe(-1);
  const line = source.lastIndexOf('\n', start) + 1;
  const indent = /^\s*/.exec(source.slice(line))?.[0] ?? '';
  return source.slice(start, source.indexOf(`\n${indent}}`, start));
}

/** Returns the members of a declaration, by name. */
function membersOf(source: string, declaration: string): string[] {
  const body = bodyOf(source, declaration);
  const [, indent = ''] = /\n([\t ]+)\S/.exec(body.slice(body.indexOf('{'))) ?? [];
  const member = new RegExp(
    `\\n${indent}(?:readonly )?(?:\\[(Symbol\\.\\w+)\\]|(\\w+))[?(<:]`,
    'g',
  );
  const names = [...body.matchAll(member)].map(([, symbol, name = '']) => symbol ?? name);
  return [...new Set(names)];
}

/** Checks that a page has a row for each of these. */
function expectNamed(page: string, names: readonly string[]): void {
  expect(names).not.toEqual([]);
  const rows = namedIn(page);
  const missing = names.filter((name) => !rows.has(name));
  expect(missing, `${page} lacks a row for: ${missing.join(', ')}`).toEqual([]);
}

const NODE = read('node_modules/@types/node/child_process.d.ts');
const EXECA = 'node_modules/execa/types';

test.each([
  'ProcessEnvOptions ',
  'CommonOptions ',
  'CommonSpawnOptions ',
  'MessagingOptions ',
  'SpawnOptions ',
  'ExecOptions ',
  'ExecFileOptions ',
  'ForkOptions ',
  'SpawnSyncOptions ',
  'CommonExecOptions ',
])('U: docs/from-child_process.md names each option of %s', (name) => {
  expectNamed('docs/from-child_process.md', membersOf(NODE, `interface ${name}`));
});

test('U: docs/from-child_process.md names each member and event of a process', () => {
  const inherited = ['addListener', 'emit', 'on', 'once', 'prependListener', 'prependOnceListener'];
  const members = membersOf(NODE, 'class ChildProcess extends');
  expectNamed(
    'docs/from-child_process.md',
    members.filter((name) => !inherited.includes(name)),
  );
  const events = bodyOf(NODE, 'class ChildProcess extends').matchAll(/emit\(event: "(\w+)"/g);
  expectNamed(
    'docs/from-child_process.md',
    [...events].map(([, event = '']) => event),
  );
});

test('U: docs/from-child_process.md names each field of an error', () => {
  const page = read('docs/from-child_process.md');
  const fields = membersOf(NODE, 'interface ExecException ');
  expect(fields.filter((field) => !new RegExp(`\\b${field}\\b`).test(page))).toEqual([]);
});

test.each([
  ['option', 'arguments/options.d.ts', 'type CommonOptions<'],
  ['field of a result', 'return/result.d.ts', 'class CommonResult<'],
  ['member of a subprocess', 'subprocess/subprocess.d.ts', 'type ExecaCustomSubprocess<'],
])('U: docs/from-execa.md names each %s', (_, file, declaration) => {
  const names = membersOf(read(`${EXECA}/${file}`), declaration);
  expectNamed(
    'docs/from-execa.md',
    names.filter((name) => name !== 'Symbol.asyncIterator'),
  );
});

test('U: docs/from-execa.md names each method, each option of a pipe, and its version', () => {
  const page = read('docs/from-execa.md');
  const options = membersOf(read(`${EXECA}/pipe.d.ts`), 'type PipeOptions ');
  for (const name of [...options, ...Object.keys(execa)]) expect(page).toContain(name);
  const { version } = JSON.parse(read('node_modules/execa/package.json'));
  expect(page).toContain(`execa ${version.replace(/\.\d+$/, '')}`);
});

test.each([
  'interface IBasePtyForkOptions ',
  'interface IPtyForkOptions ',
  'interface IWindowsPtyForkOptions ',
  'interface IPty ',
])('U: docs/from-node-pty.md names each member of %s', (declaration) => {
  const source = read('node_modules/@lydell/node-pty/node-pty.d.ts');
  expectNamed('docs/from-node-pty.md', membersOf(source, declaration));
});

test('U: docs/from-tmux.md names what agents use of tmux', () => {
  const page = read('docs/from-tmux.md');
  const used =
    'new-session send-keys capture-pane pipe-pane wait-for list-sessions has-session kill-session ' +
    'kill-server attach-session detach-client resize-window paste-buffer display-message';
  for (const name of used.split(' ')) expect(page).toContain(`\`${name}`);
});
