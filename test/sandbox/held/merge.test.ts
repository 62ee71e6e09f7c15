import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { heldIn, heldNow, useState, type WrittenChange } from '../../support/held.js';
import { leavesNothingBehind, useFolder, useFolders } from '../../support/leftovers.js';

// Changes of files that are no longer as they were when the changes were held back.
leavesNothingBehind();
const state = useFolder();
const folders = useFolders();
useState(() => state.path);

const held = (change: WrittenChange) => heldNow(state.path, change);

/** Makes a file of a folder, with its directory. */
function write(name: string, content: string): string {
  const path = join(folders(), name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** Holds a change of a configuration back, and accepts it once the file is another one. */
async function acceptConfig(was: string, content: string, now: string): Promise<string> {
  const path = write('.git/config', was);
  const one = await held({ path, was, content, keys: ['a.b'] });
  writeFileSync(path, now);
  const result = await one.accept();
  const text = readFileSync(path, 'utf8');
  if (result === 'conflict') {
    expect(text).toBe(now);
    expect(readdirSync(join(heldIn(state.path), one.id)).sort()).toEqual([
      ...['before', 'content', 'record'],
    ]);
    await one.drop();
  }
  return result === 'put' ? text : result;
}

const CORE = '[core]\n\tbare = false\n';

test('in a configuration git sets the keys that were shown, and nothing else', async () => {
  const was = `${CORE}[remote "a b"]\n\turl = x\n\tfetch = 1\n\tfetch = 2\n`;
  const now = `; mine\n[core]\n\tbare = true\n[remote "a b"]\n\turl = x\n\tfetch = 1\n\tfetch = 2\n`;
  const change = (from: string, to: string) => acceptConfig(was, was.replace(from, to), now);
  expect(await change('url = x', 'url = "y;\\n z"')).toBe(
    now.replace('url = x', 'url = "y;\\n z"'),
  );
  expect(await change('\tfetch = 2\n', '\tfetch = 2\n\tfetch = 3\n')).toBe(`${now}\tfetch = 3\n`);
  expect(await change('\tfetch = 1\n', '')).toBe(now.replace('\tfetch = 1\n', ''));
  expect(await change('[core]', '[alias]\n\tst = status\n[core]')).toBe(
    `${now}[alias]\n\tst = status\n`,
  );
  // It is there already.
  expect(await change('bare = false', 'bare = true')).toBe(now);
});

test('a key that has changed otherwise meanwhile is a conflict', async () => {
  const monitor = (value: string) => `${CORE}\tfsmonitor = ${value}\n`;
  expect(await acceptConfig(CORE, monitor('a'), monitor('b'))).toBe('conflict');
  expect(await acceptConfig(monitor('a'), monitor('b'), CORE)).toBe('conflict');
  expect(await acceptConfig(monitor('a'), CORE, monitor('c'))).toBe('conflict');
});

test('what git could not do as it was shown is a conflict', async () => {
  const other = `${CORE}[user]\n\tname = x\n`;
  for (const content of ['[include]\n\tpath = x\n', '\tlogAllRefUpdates\n', '[core\n']) {
    expect(await acceptConfig(CORE, `${CORE}${content}`, other)).toBe('conflict');
  }
  expect(await acceptConfig(CORE, `${CORE}[a]\n\tb = c\n`, '[core')).toBe('conflict');
  const keys = Array.from({ length: 65 }, (_, at) => `\tk${at} = v\n`).join('');
  expect(await acceptConfig(CORE, `${CORE}[a]\n${keys}`, other)).toBe('conflict');
});

test('of a configuration that was new, another change may have come first', async () => {
  const path = join(folders(), 'config.worktree');
  const one = await held({ path, content: '[core]\n\tfsmonitor = x\n' });
  const other = await held({ path, content: '[alias]\n\tst = status\n' });
  expect(await one.accept()).toBe('put');
  expect(await other.accept()).toBe('put');
  expect(readFileSync(path, 'utf8')).toBe('[core]\n\tfsmonitor = x\n[alias]\n\tst = status\n');
});

test('a git that commands can replace is not run', async () => {
  const path = write('.git/config', CORE);
  const top = join(path, '../..');
  const bin = join(top, 'node_modules/.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'git'), `#!/bin/sh\ntouch ${top}/run\nexec /usr/bin/git "$@"\n`);
  chmodSync(join(bin, 'git'), 0o755);
  vi.stubEnv('PATH', bin);
  const one = await held({ path, was: CORE, content: `${CORE}\tfsmonitor = x\n` });
  writeFileSync(path, `${CORE}[user]\n\tname = x\n`);
  expect(await one.accept()).toBe('conflict');
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
  expect(existsSync(join(top, 'run'))).toBe(false);
});

const SCRIPT = Array.from({ length: 12 }, (_, at) => `line ${at}\n`).join('');

test('of another text the lines that were shown are changed, where they are now', async () => {
  const path = write('.git/hooks/pre-commit', SCRIPT);
  const content = SCRIPT.replace('line 8', 'eight').replace('line 9\n', '');
  const one = await held({ path, was: SCRIPT, content, mode: '100755' });
  writeFileSync(path, `# mine\n${SCRIPT.replace('line 1\n', 'one\n')}`);
  expect(await one.accept()).toBe('put');
  expect(readFileSync(path, 'utf8')).toBe(`# mine\n${content.replace('line 1\n', 'one\n')}`);
  expect(existsSync(join(heldIn(state.path), one.id))).toBe(false);
});

test('lines at the end of a text are not put into the middle of another', async () => {
  for (const [content, now] of [
    [`${SCRIPT}end\n`, `${SCRIPT}more\n`],
    [`begin\n${SCRIPT}`, `more\n${SCRIPT}`],
    [SCRIPT.replace('line 5', 'five'), SCRIPT.replace('line 6', 'six')],
    [SCRIPT.replace('line 5', 'five'), SCRIPT.replace('line 5', '\0')],
  ] as const) {
    const path = write('.mcp.json', SCRIPT);
    const one = await held({ path, was: SCRIPT, content, reason: 'unknown-content' });
    writeFileSync(path, now);
    expect(await one.accept()).toBe('conflict');
    expect(readFileSync(path, 'utf8')).toBe(now);
  }
});
