// docs/errors.md has what the code throws and reports: nothing is missing there, nothing is invented.
import { expect, test } from 'vitest';
import { read, typescript } from '../support/house.js';

const page = read('docs/errors.md');

/** The first cells of the table below a heading, without their backquotes. */
function rowsBelow(heading: string): string[] {
  const [, below = ''] = page.split(`\n## ${heading}\n`);
  const [section = ''] = below.split('\n## ');
  const [, rows = ''] = section.split(/^\| --- .*$/m);
  return [...rows.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name);
}

/** Checks that a table has these rows and no others. */
function expectRows(heading: string, names: readonly string[], where: string): void {
  const rows = rowsBelow(heading);
  const missing = names.filter((name) => !rows.includes(name));
  const invented = rows.filter((name) => !names.includes(name));
  const told =
    `docs/errors.md, "${heading}": add a row (name, when, what to do) for each that is missing, ` +
    `and take out each that ${where} has no more`;
  expect({ missing, invented }, told).toEqual({ missing: [], invented: [] });
  expect(names.length).toBeGreaterThan(0);
}

/** The words of a union of texts, by its name. */
function wordsOf(file: string, name: string): string[] {
  const [, union = ''] =
    new RegExp(`export type ${name} =\\n(.*?);\\n`, 's').exec(read(file)) ?? [];
  const bare = union.replaceAll(/\/\*\*.*?\*\//gs, '');
  return [...bare.matchAll(/'(\w+)'/g)].map(([, word = '']) => word);
}

test.each([
  ['`LaunchError`: `step`', 'src/engine/launch-error.ts', 'LaunchStep'],
  ['`ToolError`: `kind`', 'src/contracts/errors.ts', 'ToolErrorKind'],
  ['`plain`: `failure`', 'src/contracts/plain/result.ts', 'PlainFailureKind'],
  ['`PathError`: `kind`', 'src/adapters/local-machine/files/path-error.ts', 'PathErrorKind'],
])('U: docs/errors.md, %s, has the words of the type', (heading, file, name) => {
  expectRows(heading, wordsOf(file, name), `${name} in ${file}`);
});

/** Classes of errors that no caller sees: others take their place on the way. */
const INTERNAL = [
  'ClientTerminalError',
  'KeeperGone',
  'KeeperSilent',
  'OtherVersion',
  'OutputClosedError',
  'PipesError',
  'ProtocolFault',
  'WaitAborted',
];

test('U: docs/errors.md has every class of errors that a caller can see', () => {
  const classes = typescript.files.flatMap((file) =>
    [...read(file).matchAll(/^(?:export )?class (\w+)(?:<.*>)? extends \w*Error\b/gm)].map(
      ([, name = '']) => name,
    ),
  );
  expect(INTERNAL.filter((name) => !classes.includes(name))).toEqual([]);
  const seen = classes.filter((name) => !INTERNAL.includes(name));
  expectRows('Classes', seen, 'src (or add it to INTERNAL of this test, if no caller can see it)');
});

/** Names that begin as codes do: variables of the environment. */
const VARIABLES = [
  'FORKLINE_MARK',
  'FORKLINE_MCP_TOKEN',
  'FORKLINE_NATS_PASSWORD',
  'FORKLINE_NATS_TOKEN',
  'FORKLINE_NATS_USER',
  'FORKLINE_NO_PTY',
  'FORKLINE_PROBE',
];

test('U: docs/errors.md has every code of an error or a warning of forkline', () => {
  const found = typescript.files.flatMap((file) => {
    const source = read(file);
    return [...source.matchAll(/'(FORKLINE_[A-Z_]+)'/g)].map(([, code = '']) => code);
  });
  const codes = [...new Set(found)].filter((name) => !VARIABLES.includes(name));
  const rows = ['errors', 'warnings'].flatMap((kind) => rowsBelow(`Codes of ${kind}`));
  const documented = rows.filter((row) => row.startsWith('FORKLINE_'));
  expect(
    documented.toSorted(),
    'docs/errors.md, "Codes of errors" or "Codes of warnings": a row for each code in src, and for ' +
      'no other. A variable of the environment belongs to VARIABLES of this test instead',
  ).toEqual(codes.toSorted());
});

test('U: docs/errors.md names warnings where the code warns', () => {
  const warned = typescript.files.flatMap((file) =>
    [...read(file).matchAll(/warn\w*\((?:(?!\);).)*?'(FORKLINE_[A-Z_]+)'/gs)].map(
      ([, code = '']) => code,
    ),
  );
  expectRows('Codes of warnings', warned, 'src');
});

test('U: docs/errors.md has the codes of a spill file', () => {
  const [, own = ''] =
    /function fault\(code: ([^,]+),/.exec(read('src/command/after/spill-check.ts')) ?? [];
  const codes = [...own.matchAll(/'(\w+)'/g)].map(([, code = '']) => code);
  // The two that the system gives when the file is opened.
  expectRows(
    '`spill.error`: `code`',
    [...codes, 'ELOOP', 'EEXIST'],
    'src/command/after/spill-check.ts',
  );
});

test('U: docs/errors.md has the kinds that `forkline run --json` prints', () => {
  const kinds = read('src/cli/run/failure.ts').matchAll(/kind: '(\w+)'/g);
  expectRows(
    '`forkline run --json`: `error.kind`',
    [...kinds].map(([, kind = '']) => kind),
    'src/cli/run/failure.ts',
  );
});
