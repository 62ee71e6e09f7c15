import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createOwner, run } from '../../src/index.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { installed, where } from '../support/needs.js';
import { useScenes } from '../support/sandbox.js';

// A developer's day as one transcript, of commands in a sandbox: each test goes on where the one before
// it ended. What is asked outside is asked as the user would.
leavesNothingBehind(2);
const scenes = useScenes();

/** The files of the project, by their names. */
const FILES = {
  'package.json': JSON.stringify({
    name: 'app',
    version: '1.0.0',
    type: 'module',
    scripts: { test: 'node --test', dev: 'node server.js' },
    dependencies: { greeting: 'file:vendor/greeting' },
  }),
  'vendor/greeting/package.json': JSON.stringify({
    name: 'greeting',
    version: '1.2.3',
    main: 'i.js',
  }),
  'vendor/greeting/i.js': "module.exports = (name) => 'Hello, ' + name;\n",
  'page.js':
    "import greeting from 'greeting';\nexport const page = (name) => greeting(name) + '!';\n",
  'page.test.js': `import test from 'node:test'; import assert from 'node:assert';
import { page } from './page.js';
test('the page greets', () => assert.equal(page('you'), 'Hello, you!'));
`,
  // Serves the page as it is now; the port is the system's choice.
  'server.js': `import { createServer } from 'node:http'; import { writeFileSync } from 'node:fs';
let edits = 0;
const server = createServer(async (_, answer) => {
  const { page } = await import('./page.js?' + edits++);
  answer.end(page('browser'));
}).listen(0, '127.0.0.1', () => writeFileSync('port', String(server.address().port)));
`,
  '.gitignore': 'node_modules/\nport\n',
  '.npmrc': 'fund=false\naudit=false\n',
  '.githooks/pre-commit':
    '#!/bin/sh\nnpm test --silent >/dev/null && echo checked >>"$(git rev-parse --git-dir)/checks"\n',
};

describe('a day', where(installed('git'), installed('npm')), () => {
  const place = { home: '', work: '', app: '', origin: '' };
  let env: Record<string, string> = {};

  /** Asks git outside, as the user would. */
  const outside = (...args: readonly string[]) =>
    execFileSync('git', args, {
      cwd: place.app,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();

  beforeAll(() => {
    const root = join(scenes.path, 'day');
    Object.assign(place, {
      home: join(root, 'home'),
      work: join(root, 'work'),
      app: join(root, 'work/app'),
      origin: join(root, 'origin.git'),
    });
    for (const each of [place.home, place.work]) mkdirSync(each, { recursive: true });
    env = {
      HOME: place.home,
      GIT_CONFIG_NOSYSTEM: '1',
      npm_config_cache: join(place.work, '.npm-cache'),
      npm_config_update_notifier: 'false',
    };
    const config =
      '[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n';
    writeFileSync(join(place.home, '.gitconfig'), config);
    const seed = join(root, 'seed');
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(join(seed, name, '..'), { recursive: true });
      writeFileSync(join(seed, name), text, { mode: name.startsWith('.githooks') ? 0o755 : 0o644 });
    }
    const script = `npm install --package-lock-only --offline --silent && git init -q && git add -A && git commit -qm first
      git clone -q --bare . ../origin.git`;
    const variables = { ...process.env, ...env };
    execFileSync('bash', ['-ec', script], { cwd: seed, env: variables, stdio: 'ignore' });
  });

  /** Runs a command in the sandbox, whose remote can be written to as a server's could. */
  async function inSandbox(command: string, cwd = place.app) {
    const sandbox = {
      mode: 'workspace-write',
      filesystem: { allowWrite: [place.origin] },
    } as const;
    const { outcome, output, sandbox: report } = await run(command, { cwd, env, sandbox });
    const text = output.kind === 'complete' ? output.text : output.head + output.tail;
    expect(outcome, text).toEqual({ kind: 'exited', exitCode: 0 });
    expect(report?.denials).toEqual([]);
    expect(report?.incomplete ?? []).toEqual([]);
    return text;
  }

  test('clone', async () => {
    await inSandbox('git clone -q ../origin.git app', place.work);
    expect(outside('status', '--short', '--branch')).toBe('## main...origin/main');
    // The user's decision, not a command's.
    outside('config', 'core.hooksPath', '.githooks');
  });

  test('branch', async () => {
    await inSandbox('git switch -qc feature');
    expect(outside('branch', '--show-current')).toBe('feature');
  });

  test('install', async () => {
    const text = await inSandbox('npm ci --offline && npm ls');
    expect(text).toContain('greeting@1.2.3 -> ./vendor/greeting');
    expect(outside('status', '--short')).toBe('');
  });

  test('test', async () => {
    expect(await inSandbox('npm test')).toMatch(/pass 1\b/);
  });

  test('a dev server, which commands reach and which sees edits from outside', async () => {
    const owner = createOwner();
    try {
      const sandbox = {
        mode: 'workspace-write',
        filesystem: { allowWrite: [place.origin] },
      } as const;
      const started = 'node server.js >/dev/null 2>&1 & until [ -s port ]; do sleep 0.05; done';
      const { outcome } = await run(started, { cwd: place.app, env, sandbox, owner });
      expect(outcome).toEqual({ kind: 'exited', exitCode: 0 });
      const ask = `node -e "fetch('http://127.0.0.1:' + fs.readFileSync('port')).then(async (a) => console.log(await a.text()))"`;
      expect(await inSandbox(ask)).toBe('Hello, browser!\n');
      const edited = FILES['page.js'].replace("'!'", "'?'");
      writeFileSync(join(place.app, 'page.js'), edited);
      expect(await inSandbox(ask)).toBe('Hello, browser?\n');
      writeFileSync(join(place.app, 'page.js'), FILES['page.js']);
    } finally {
      await owner.dispose();
    }
  });

  test('commit, with the hook of the repository', async () => {
    await inSandbox(
      `echo "export const more = 1;" >more.js && git add more.js && git commit -qm 'more'`,
    );
    expect(outside('log', '--format=%s %an', '-1')).toBe('more Dev');
    expect(readFileSync(join(place.app, '.git/checks'), 'utf8')).toBe('checked\n');
    expect(outside('status', '--short')).toBe('');
  });

  test('push', async () => {
    await inSandbox('git push -q origin feature');
    expect(outside('--git-dir', place.origin, 'log', '--format=%s', 'feature')).toBe('more\nfirst');
    expect(outside('rev-parse', 'origin/feature')).toBe(outside('rev-parse', 'feature'));
  });

  test('worktree', async () => {
    const text = await inSandbox(
      'git worktree add -q review main && cd review && npm ci --offline --silent && npm test && git -C .. worktree list',
    );
    expect(text).toMatch(/pass 1\b[\s\S]*review +[0-9a-f]+ \[main\]/);
    expect(outside('-C', 'review', 'status', '--short', '--branch')).toBe('## main...origin/main');
    await inSandbox('git worktree remove --force review && git fetch -q --prune');
    expect(outside('worktree', 'list')).not.toContain('review');
  });

  test('and at its end all is as git alone would have left it', () => {
    expect(outside('fsck', '--strict')).toBe('');
    expect(outside('config', '--list', '--local', '--name-only').split('\n')).toContain(
      'core.hookspath',
    );
    expect(outside('status', '--short', '--branch')).toBe('## feature');
  });
});
