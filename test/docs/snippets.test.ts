import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { attach, listTasks } from '../../src/index.js';
import { root } from '../support/house.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { installed, where } from '../support/needs.js';
import {
  fileOf,
  isAsSaid,
  isCompiled,
  isRun,
  printedBy,
  programOf,
  type Snippet,
  snippets,
  surroundingsIn,
  titleOf,
  toModule,
} from './snippets.js';

leavesNothingBehind();
const folder = useFolder();
const compiled = snippets.filter(isCompiled);

// Below `examples`, since from there the package's own name leads to it.
mkdirSync(join(root, 'examples/build'), { recursive: true });
const modules = mkdtempSync(join(root, 'examples/build/docs-'));
let env: NodeJS.ProcessEnv;
let errors = '';

/** Runs a program to its end; never rejects. */
function outputOf(program: string, args: readonly string[], cwd: string) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(program, args, { cwd, env, timeout: 30_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? error.signal), stdout, stderr }),
    );
    child.stdin?.end();
  });
}

beforeAll(async () => {
  env = surroundingsIn(folder.path);
  for (const each of compiled)
    writeFileSync(join(modules, fileOf(each)), toModule(each, folder.path));
  const compilerOptions = {
    ...{ rootDir: '.', outDir: 'out', allowJs: true, checkJs: true, noEmitOnError: false },
    declaration: false,
  };
  const config = { extends: '../../../tsconfig.json', compilerOptions, include: ['.'] };
  writeFileSync(join(modules, 'tsconfig.json'), JSON.stringify(config));
  const { stdout } = await outputOf(join(root, 'node_modules/.bin/tsc'), ['-p', modules], modules);
  errors = stdout;
}, 120_000);

afterAll(async () => {
  rmSync(modules, { recursive: true });
  // Detached commands that an example has started, on purpose, for later.
  vi.stubEnv('TMPDIR', env.TMPDIR ?? '');
  vi.stubEnv('XDG_STATE_HOME', env.XDG_STATE_HOME ?? '');
  for (const { id } of await listTasks()) await (await attach(id)).stop({ graceMs: 0 });
  vi.unstubAllEnvs();
});

test('U: the blocks are found, and each mark says why', () => {
  expect(compiled.length).toBeGreaterThan(40);
  expect(snippets.filter(isRun).length).toBeGreaterThan(40);
});

test('U: every program of the pages compiles', () => {
  // A parameter of plain JavaScript has no type.
  const lines = errors.split('\n').filter((line) => !/\.mjs\(.*TS70(06|31)/.test(line));
  expect(lines.join('\n').trim()).toBe('');
});

/** Compares what was printed with what a block says of it: these lines, in this order, among others. */
function expectPrinted(snippet: Snippet, stdout: string): void {
  const lines = stdout.split('\n');
  let at = 0;
  for (const said of printedBy(snippet)) {
    const found = lines.findIndex((line, index) => index >= at && isAsSaid(line, said));
    expect(found, `${titleOf(snippet)} says it prints "${said}", and printed:\n${stdout}`).not.toBe(
      -1,
    );
    at = found + 1;
  }
}

/** Checks that a block ended well; or failed, where its page says so. */
function expectEnd({ marks: { fails } }: Snippet, code: unknown, stderr: string): void {
  if (fails === undefined) {
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  } else {
    expect(code).toBe(1);
    expect(stderr).toContain(fails);
  }
}

describe('U: every program of the pages runs, and prints what it says', () => {
  const programs = snippets.filter((each) => isRun(each) && each.language !== 'sh');
  test.each(programs.map((each) => [titleOf(each), each] as const))('%s', async (_, snippet) => {
    const cwd = mkdtempSync(folder.file('run-'));
    const file = join(modules, 'out', programOf(snippet));
    const { code, stdout, stderr } = await outputOf(process.execPath, [file], cwd);
    expectEnd(snippet, code, stderr);
    expectPrinted(snippet, stdout);
  });
});

describe('U: every script of the pages runs, and prints what it says', () => {
  const scripts = snippets.filter((each) => isRun(each) && each.language === 'sh');
  const ofTmux = scripts.filter(({ text }) => /^tmux /m.test(text));
  const others = scripts.filter((each) => !ofTmux.includes(each));
  const runs = async (_: string, snippet: Snippet) => {
    const cwd = mkdtempSync(folder.file('run-'));
    const { code, stdout, stderr } = await outputOf('bash', ['-c', snippet.text], cwd);
    expectEnd(snippet, code, stderr);
    expectPrinted(snippet, stdout);
  };
  test.each(others.map((each) => [titleOf(each), each] as const))('%s', runs);
  test.each(ofTmux.map((each) => [titleOf(each), each] as const))(
    '%s',
    where(installed('tmux')),
    runs,
  );
});
