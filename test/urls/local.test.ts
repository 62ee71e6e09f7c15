import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLocalResolver } from '../../src/urls/local.js';
import { fc } from '../support/properties.js';

let home = '';
let root = '';
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'forkline-local-')));
  root = join(home, 'root');
});
afterEach(() => rmSync(home, { recursive: true }));

async function pathOf(url: string): Promise<string> {
  const { path } = await createLocalResolver({ root }).resolve(url);
  return path;
}

describe('a URL is a path below the root', () => {
  test.each([
    ['local://x', '/x'],
    ['local:/x', '/x'],
    ['local:///x', '/x'],
    ['local://a/b/c.txt', '/a/b/c.txt'],
    ['local://a/../b', '/b'],
    ['local://a//./b', '/a/b'],
    ['local://..foo', '/..foo'],
    ['local://...', '/...'],
    ['local://..foo/..bar', '/..foo/..bar'],
    ['local://a%20b', '/a b'],
    ['local://a b', '/a b'],
    ['local://100%25', '/100%'],
    ['local://%2Fetc/passwd', '/etc/passwd'],
    ['local://~/x', '/~/x'],
    ['local://x?y#z', '/x?y#z'],
    ['local://a\\..\\b', '/a\\..\\b'],
    ['local://dir/', '/dir/'],
    ['local://', '/'],
  ])('%s is %s', async (url, path) => {
    expect(await pathOf(url)).toBe(root + path);
  });

  test('the directories that lead to the file are made, and no more', async () => {
    await pathOf('local://a/b/c');
    expect(readdirSync(join(root, 'a/b'))).toEqual([]);
    await pathOf('local://d/');
    expect(readdirSync(root)).toEqual(['a']);
  });

  test('the root itself may be a link', async () => {
    mkdirSync(join(home, 'elsewhere'));
    symlinkSync('elsewhere', root);
    expect(await pathOf('local://a/x')).toBe(join(root, 'a/x'));
    expect(existsSync(join(home, 'elsewhere/a'))).toBe(true);
  });
});

describe('a path may not lead out', () => {
  test.each([
    ...['local://..', 'local://../x', 'local://a/../../x', 'local:/../x', 'local://%2e%2e/x'],
    ...['local://%2e%2e%2fx', 'local://a%2f..%2f..%2fx', 'local://../root2/x'],
  ])('%s', async (url) => {
    await expect(pathOf(url)).rejects.toThrow(/^The path leads out of local:\/\/\.$/);
    expect(readdirSync(home)).toEqual([]);
  });

  test.each([
    ['to a directory', '../outside', 'local://link/x'],
    ['to a file', '../outside/file', 'local://link'],
    ['to nothing yet', '../outside/new', 'local://link'],
    ['to nothing yet, absolute', '/nowhere/x', 'local://link'],
    ['by way of another', 'second', 'local://link/x'],
  ])('by a link %s', async (_, target, url) => {
    mkdirSync(root);
    mkdirSync(join(home, 'outside'));
    writeFileSync(join(home, 'outside/file'), '');
    symlinkSync('../outside', join(root, 'second'));
    symlinkSync(target, join(root, 'link'));
    await expect(pathOf(url)).rejects.toThrow(
      /^The path leads out of local:\/\/ by a symbolic link\.$/,
    );
    expect(readdirSync(join(home, 'outside'))).toEqual(['file']);
  });

  test('for any URL, the path is below the root', async () => {
    const piece = fc.constantFrom('..', '.', '/', '%2e', '%2F', '%5c', '\\', 'a', ' ', '%00', '%');
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const path = await pathOf(`local://${pieces.join('')}`).catch(() => undefined);
        if (path !== undefined) expect(`${path}/`.startsWith(`${root}/`)).toBe(true);
        expect(readdirSync(home).filter((name) => name !== 'root')).toEqual([]);
      }),
    );
  });
});

test('links that stay inside are fine', async () => {
  mkdirSync(join(root, 'real'), { recursive: true });
  symlinkSync('real', join(root, 'link'));
  symlinkSync('real/new', join(root, 'dangling'));
  expect(await pathOf('local://link/x')).toBe(join(root, 'link/x'));
  expect(await pathOf('local://dangling')).toBe(join(root, 'dangling'));
});

test('a root that is no path is an error', async () => {
  await expect(pathOf('local://100%')).rejects.toThrow('percent-encoding is not valid');
  await expect(pathOf('local://a%00b')).rejects.toThrow('The path has a NUL character.');
  mkdirSync(root);
  symlinkSync('loop', join(root, 'loop'));
  await expect(pathOf('local://loop')).rejects.toThrow('ELOOP');
  writeFileSync(join(root, 'file'), '');
  await expect(pathOf('local://file/x')).rejects.toThrow('ENOTDIR');
  expect(() => createLocalResolver({ root: '' })).toThrow('root: expected a path, got ""');
});
