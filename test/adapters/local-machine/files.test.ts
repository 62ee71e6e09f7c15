import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LocalFiles } from '../../../src/adapters/local-machine/files/local-files.js';

let base: string;
let root: string;
let secret: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'local-files-')));
  root = join(base, 'root');
  secret = join(base, 'outside', 'secret');
  mkdirSync(root);
  mkdirSync(join(base, 'outside'));
  writeFileSync(secret, 'secret');
});

afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

const descriptors = () => readdirSync('/proc/self/fd').length;

describe.each(['descriptor', 'path'] as const)('with directories held by %s', (hold) => {
  const open = () => LocalFiles.open(root, hold);
  const text = async (path: string) => String(await (await open()).read(path));

  test('a file is written, with the directories on the way, and read', async () => {
    const files = await open();
    await files.write('a/b/c.txt', Buffer.from('hello'));
    expect(await text('a/b/c.txt')).toBe('hello');
    expect(await text(join(root, 'a/./b/../b//c.txt'))).toBe('hello');
    expect(readFileSync(join(root, 'a/b/c.txt'), 'utf8')).toBe('hello');
    expect(await files.list('a')).toEqual([{ name: 'b', type: 'directory' }]);
  });

  test('a shorter text leaves nothing of a longer one', async () => {
    const files = await open();
    await files.write('f', Buffer.from('a long text'));
    await files.write('f', Buffer.from('short'));
    expect(await text('f')).toBe('short');
  });

  test.each([
    'a b',
    "quo'te",
    'new\nline',
    '-rf',
    '$(touch pwned)',
    '*',
    'ü𝕏',
    '.hidden',
    '~',
    'back\\slash',
  ])('a name is a name: %j', async (name) => {
    const files = await open();
    await files.write(name, Buffer.from(name));
    expect(readdirSync(root)).toEqual([name]);
    expect(await text(name)).toBe(name);
    expect(await files.list('.')).toEqual([{ name, type: 'file' }]);
    expect(await files.remove(name)).toBe(true);
    expect(readdirSync(root)).toEqual([]);
  });

  test.each([
    ['two dots', '../outside/secret'],
    ['two dots after a directory', 'd/../../outside/secret'],
    ['an absolute path', '/etc/passwd'],
    ['a path that begins with that of the root', 'SIBLING/secret'],
    ['a symlink to a file', 'file-link'],
    ['a symlink to a directory', 'directory-link/secret'],
    ['a relative symlink', 'd/relative-link/secret'],
    ['a symlink to a symlink', 'second-link/secret'],
    ['a symlink to the root of all', 'all-link/etc/passwd'],
    ['the kernel’s link to its own root', 'proc-link/etc/passwd'],
  ])('no way leads out of the root: %s', async (_, given) => {
    mkdirSync(join(root, 'd'));
    mkdirSync(`${root}-sibling`);
    writeFileSync(`${root}-sibling/secret`, 'secret');
    symlinkSync(secret, join(root, 'file-link'));
    symlinkSync(join(base, 'outside'), join(root, 'directory-link'));
    symlinkSync('../../outside', join(root, 'd/relative-link'));
    symlinkSync('directory-link', join(root, 'second-link'));
    symlinkSync('/', join(root, 'all-link'));
    symlinkSync('/proc/self/root', join(root, 'proc-link'));
    const path = given.replace('SIBLING', `${root}-sibling`);
    const files = await open();
    const escapes = { name: 'PathError', kind: 'outside', code: 'EXDEV' };
    await expect(files.read(path)).rejects.toMatchObject(escapes);
    await expect(files.readStream(path)).rejects.toMatchObject(escapes);
    await expect(files.write(path, Buffer.from('x'))).rejects.toMatchObject(escapes);
    await expect(files.edit(path, () => 'x')).rejects.toMatchObject(escapes);
    await expect(files.status(path)).rejects.toMatchObject(escapes);
    await expect(files.list(path)).rejects.toMatchObject(escapes);
    await expect(files.makeDirectory(path)).rejects.toMatchObject(escapes);
    await expect(files.directory(path)).rejects.toMatchObject(escapes);
    await expect(files.walk(path, () => true)).rejects.toMatchObject(escapes);
    expect(readFileSync(secret, 'utf8')).toBe('secret');
  });

  test('symlinks that stay inside are followed, also absolute ones', async () => {
    const files = await open();
    await files.write('d/f', Buffer.from('inside'));
    symlinkSync('d', join(root, 'relative'));
    symlinkSync(join(root, 'd'), join(root, 'absolute'));
    symlinkSync('../d/f', join(root, 'd/back'));
    expect(await text('relative/f')).toBe('inside');
    expect(await text('absolute/back')).toBe('inside');
    symlinkSync('new', join(root, 'dangling'));
    await files.write('dangling', Buffer.from('made'));
    expect(readFileSync(join(root, 'new'), 'utf8')).toBe('made');
  });

  test('symlinks in a circle are an error', async () => {
    symlinkSync('b', join(root, 'a'));
    symlinkSync('a', join(root, 'b'));
    await expect((await open()).read('a')).rejects.toThrow('"a": too many symlinks');
  });

  test('a symlink is removed itself, and what a directory holds by links stays', async () => {
    const files = await open();
    mkdirSync(join(root, 'd/e'), { recursive: true });
    symlinkSync(join(base, 'outside'), join(root, 'd/e/link'));
    symlinkSync(secret, join(root, 'link'));
    expect(await files.remove('link')).toBe(true);
    await expect(files.remove('d')).rejects.toMatchObject({ kind: 'isDirectory' });
    expect(await files.remove('d', { recursive: true })).toBe(true);
    expect(await files.remove('d')).toBe(false);
    expect(readdirSync(root)).toEqual([]);
    expect(existsSync(secret)).toBe(true);
    await expect(files.remove('.', { recursive: true })).rejects.toThrow(
      'the root cannot be removed',
    );
  });

  test('a named pipe does not block, and is no file', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const files = await open();
    await expect(files.read('pipe')).rejects.toMatchObject({ kind: 'notFile' });
    await expect(files.write('pipe', Buffer.from('x'))).rejects.toMatchObject({ kind: 'notFile' });
    expect(await files.status('pipe')).toMatchObject({ type: 'other' });
  });

  test('errors have a kind, and a message of one line', async () => {
    const files = await open();
    await files.write('d/f', Buffer.from('x'));
    await expect(files.read('nothing')).rejects.toMatchObject({
      kind: 'missing',
      code: 'ENOENT',
      message: '"nothing": no such file or directory',
    });
    await expect(files.read('d')).rejects.toMatchObject({ kind: 'isDirectory' });
    await expect(files.write('d', Buffer.from('x'))).rejects.toMatchObject({ kind: 'isDirectory' });
    await expect(files.list('d/f')).rejects.toMatchObject({ kind: 'notDirectory' });
    await expect(files.read('d/f/g')).rejects.toMatchObject({ kind: 'notDirectory' });
    await expect(files.write('d/f', Buffer.from('x'), { exclusive: true })).rejects.toMatchObject({
      kind: 'exists',
    });
    await expect(files.read('d/f', { maxBytes: 0 })).rejects.toMatchObject({ kind: 'tooLarge' });
    await expect(files.read('a\0b')).rejects.toThrow('path: expected a path, got "a\\u0000b"');
    expect(await files.status('nothing')).toBeUndefined();
  });

  test('a file is changed in its place, and stays as it was when that fails', async () => {
    const files = await open();
    writeFileSync(join(root, 'f'), 'one two');
    chmodSync(join(root, 'f'), 0o754);
    await files.edit('f', (was) => was.replace('two', '2'));
    expect(await text('f')).toBe('one 2');
    await expect(
      files.edit('f', () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    writeFileSync(join(root, 'binary'), Buffer.from([0xff, 0xfe]));
    await expect(files.edit('binary', () => '')).rejects.toThrow('it is not text in UTF-8');
    expect(await text('f')).toBe('one 2');
  });

  test('no descriptor stays open', async () => {
    const files = await open();
    await files.write('a/b/f', Buffer.from('x'));
    const before = descriptors();
    await files.read('a/b/../b/f');
    await files.read('a/nothing').catch(() => {});
    await files.list('a').catch(() => {});
    await files.walk('.', () => false);
    const stream = await files.readStream('a/b/f');
    await stream.cancel();
    for await (const _ of await files.readStream('a/b/f'));
    expect(descriptors()).toBe(before);
  });
});

test('replacing a directory by a symlink meanwhile leads nowhere', async () => {
  const files = await LocalFiles.open(root);
  expect(files.hold).toBe('descriptor');
  mkdirSync(join(root, 'd'));
  writeFileSync(join(root, 'd/secret'), 'mine');
  let over = false;
  const swap = (async () => {
    while (!over) {
      renameSync(join(root, 'd'), join(root, 'e'));
      symlinkSync(join(base, 'outside'), join(root, 'd'));
      await new Promise(setImmediate);
      rmSync(join(root, 'd'));
      renameSync(join(root, 'e'), join(root, 'd'));
      await new Promise(setImmediate);
    }
  })();
  const seen = new Set<string>();
  for (let count = 0; count < 2000; count += 1) {
    seen.add(await files.read('d/secret').then(String, (error) => error.kind));
  }
  over = true;
  await swap;
  expect(readlinkSync('/proc/self/cwd')).not.toBe('');
  expect(seen).not.toContain('secret');
  expect(seen).toContain('mine');
});

test('the root may be called by a symlink, and paths by that name are in it', async () => {
  symlinkSync(root, join(base, 'alias'));
  const files = await LocalFiles.open(join(base, 'alias'));
  await files.write(join(base, 'alias/f'), Buffer.from('x'));
  expect(files.root).toBe(root);
  expect(String(await files.read(join(root, 'f')))).toBe('x');
});

test('a root that is no directory is refused', async () => {
  await expect(LocalFiles.open(join(base, 'nothing'))).rejects.toMatchObject({ kind: 'missing' });
  await expect(LocalFiles.open(secret)).rejects.toMatchObject({ kind: 'notDirectory' });
});
