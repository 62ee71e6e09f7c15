import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOwner, run } from '../../src/index.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { useScenes } from '../support/sandbox.js';

// A developer's day as one transcript, of commands in a sandbox: each test goes on where the one before
// it ended. What is asked outside is asked as the user would.
leavesNothingBehind(4);
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

const needs = ['git', 'npm', 'ssh-agent', 'ssh-keygen'].map(installed);

/** The user's own configuration. */
const USERS = `[user]
	name = Dev
	email = dev@example.com
	signingKey = ~/.ssh/id.pub
[init]
	defaultBranch = main
[gpg]
	format = ssh
`;

describe('a day', where(...needs), () => {
  const place = { home: '', work: '', app: '', origin: '', socket: '' };
  const usersHome = process.env.HOME;
  let agent: ChildProcess | undefined;
  let env: Record<string, string> = {};

  /** Asks git outside, as the user would. */
  const outside = (...args: readonly string[]) =>
    execFileSync('git', args, {
      cwd: place.app,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: place.home, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();

  beforeAll(async () => {
    const root = join(scenes.path, 'day');
    Object.assign(place, {
      home: join(root, 'home'),
      work: join(root, 'work'),
      app: join(root, 'work/app'),
      origin: join(root, 'origin.git'),
      socket: join(root, 'agent'),
    });
    for (const each of [place.home, place.work]) mkdirSync(each, { recursive: true });
    // What is hidden of the user's home is found by the host's own.
    process.env.HOME = place.home;
    env = {
      GIT_CONFIG_NOSYSTEM: '1',
      npm_config_cache: join(place.work, '.npm-cache'),
      npm_config_update_notifier: 'false',
    };
    writeFileSync(join(place.home, '.gitconfig'), USERS);
    // The user's key, which an agent has.
    mkdirSync(join(place.home, '.ssh'), { mode: 0o700 });
    const key = join(place.home, '.ssh/id');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'dev', '-f', key]);
    writeFileSync(join(root, 'signers'), `dev@example.com ${readFileSync(`${key}.pub`, 'utf8')}`);
    agent = spawn('ssh-agent', ['-D', '-a', place.socket], { stdio: 'ignore' });
    await eventually(() => expect(existsSync(place.socket)).toBe(true));
    const asked = { ...process.env, SSH_AUTH_SOCK: place.socket };
    execFileSync('ssh-add', ['-q', key], { env: asked, stdio: 'ignore' });
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

  afterAll(async () => {
    process.env.HOME = usersHome;
    if (agent?.exitCode !== null) return;
    const ended = once(agent, 'exit');
    agent.kill();
    await ended;
  });

  /** What the user lets commands do, beside writing to the workspace. */
  const policy = () =>
    ({
      mode: 'workspace-write',
      filesystem: { allowWrite: [place.origin] },
      ports: { publish: 'auto' },
      sshAgent: { socket: place.socket },
    }) as const;

  /** Runs a command in the sandbox, whose remote can be written to as a server's could. */
  async function inSandbox(command: string, cwd = place.app) {
    const options = { cwd, env, sandbox: policy() };
    const { outcome, output, sandbox: report, heldBack } = await run(command, options);
    const text = output.kind === 'complete' ? output.text : output.head + output.tail;
    expect(outcome, text).toEqual({ kind: 'exited', exitCode: 0 });
    expect(report?.denials).toEqual([]);
    expect(report?.incomplete ?? []).toEqual([]);
    expect(heldBack).toEqual([]);
    return { text, signatures: report?.signatures ?? [] };
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
    const { text } = await inSandbox('npm ci --offline && npm ls');
    expect(text).toContain('greeting@1.2.3 -> ./vendor/greeting');
    expect(outside('status', '--short')).toBe('');
  });

  test('test', async () => {
    expect((await inSandbox('npm test')).text).toMatch(/pass 1\b/);
  });

  test('a dev server, which a browser outside reaches, and which sees edits from outside', async () => {
    const owner = createOwner();
    try {
      const started = 'node server.js >/dev/null 2>&1 & until [ -s port ]; do sleep 0.05; done';
      const options = { cwd: place.app, env, sandbox: policy(), owner };
      const { outcome, sandbox: report } = await run(started, options);
      expect(outcome).toEqual({ kind: 'exited', exitCode: 0 });
      const port = Number(readFileSync(join(place.app, 'port'), 'utf8'));
      expect(report?.ports).toMatchObject([{ inside: port, by: expect.stringContaining('node') }]);
      const [{ url = '' } = {}] = report?.ports ?? [];
      const browse = async () => (await fetch(url, { headers: { connection: 'close' } })).text();
      expect(await browse()).toBe('Hello, browser!');
      writeFileSync(join(place.app, 'page.js'), FILES['page.js'].replace("'!'", "'?'"));
      expect(await browse()).toBe('Hello, browser?');
      const ask = `node -e "fetch('http://127.0.0.1:${port}').then(async (a) => console.log(await a.text()))"`;
      expect((await inSandbox(ask)).text).toBe('Hello, browser?\n');
      writeFileSync(join(place.app, 'page.js'), FILES['page.js']);
    } finally {
      await owner.dispose();
    }
  });

  test('a signed commit, with the hook of the repository', async () => {
    const add = 'echo "export const more = 1;" >more.js && git add more.js';
    const { text, signatures } = await inSandbox(`ls ~/.ssh && ${add} && git commit -q -S -m more`);
    // The key stays where it is.
    expect(text).toBe('id.pub\n');
    expect(signatures).toMatchObject([{ agent: 'ssh', comment: 'dev', purpose: 'git' }]);
    expect(outside('log', '--format=%s %an', '-1')).toBe('more Dev');
    outside('-c', 'gpg.ssh.allowedSignersFile=../../signers', 'verify-commit', 'HEAD');
    expect(readFileSync(join(place.app, '.git/checks'), 'utf8')).toBe('checked\n');
    expect(outside('status', '--short')).toBe('');
  });

  test('push', async () => {
    await inSandbox('git push -q -u origin feature');
    expect(outside('--git-dir', place.origin, 'log', '--format=%s', 'feature')).toBe('more\nfirst');
    expect(outside('rev-parse', 'origin/feature')).toBe(outside('rev-parse', 'feature'));
  });

  test('worktree', async () => {
    const { text } = await inSandbox(
      'git worktree add -q review main && cd review && npm ci --offline --silent && npm test && git -C .. worktree list',
    );
    expect(text).toMatch(/pass 1\b[\s\S]*review +[0-9a-f]+ \[main\]/);
    expect(outside('-C', 'review', 'status', '--short', '--branch')).toBe('## main...origin/main');
    // Its hooks are kept, as those of the repository are.
    outside('worktree', 'remove', '--force', 'review');
    await inSandbox('git fetch -q --prune');
    expect(outside('worktree', 'list')).not.toContain('review');
  });

  test('and at its end all is as git alone would have left it', () => {
    expect(outside('fsck', '--strict')).toBe('');
    expect(outside('config', '--list', '--local', '--name-only').split('\n')).toContain(
      'core.hookspath',
    );
    expect(outside('status', '--short', '--branch')).toBe('## feature...origin/feature');
  });
});
