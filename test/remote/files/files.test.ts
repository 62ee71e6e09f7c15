import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { InputError } from '../../../src/index.js';
import { type Connection, connect, FarFileError } from '../../../src/remote/index.js';
import { listedEntries } from '../../../src/remote/near/files/listing.js';
import { FAR_BUILT, FAR_SIDE, STATIC_FAR } from '../../support/far.js';
import { root } from '../../support/house.js';
import { leavesNothingBehind, makeFolder, useFolders } from '../../support/leftovers.js';
import { installed, need, programPath, where } from '../../support/needs.js';
import { fc } from '../../support/properties.js';
import { failureOf } from '../../support/results.js';

// Files of a far side: the same with Node and without.

leavesNothingBehind();
const newFolder = useFolders();
const small = makeFolder();

async function codeOf(made: Promise<unknown>): Promise<string> {
  const error = await failureOf(made);
  expect(error).toBeInstanceOf(FarFileError);
  return (error as FarFileError).code;
}

async function* pieces(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

/** A folder with the programs of a small system alone. */
function busybox(): NodeJS.ProcessEnv {
  const program = programPath('busybox') ?? '';
  const applets =
    'sh cat find stat xargs tar gzip rm rmdir ls head tail mkdir chmod wc mv ln readlink sha256sum';
  for (const applet of applets.split(' ')) symlinkSync(program, join(small, applet));
  return { ...process.env, PATH: small };
}

const SIDES = [
  { name: 'with Node', command: FAR_SIDE, needed: need(true, '') },
  { name: 'of a small system', command: FAR_SIDE, needed: installed('busybox'), env: busybox },
  { name: 'without Node', command: [STATIC_FAR, 'serve', '--stdio'], needed: FAR_BUILT },
];

describe.each(SIDES)('at a far side $name', ({ command, needed, env }) => {
  let far: Connection;
  const given = (title: string, body: () => Promise<void>): void =>
    test(title, where(needed), body);
  const files = async (): Promise<Connection['files']> => {
    far ??= await connect({ command, ...(env && { env: env() }) });
    return far.files;
  };
  afterAll(async () => {
    await far?.dispose();
  });

  given('what is written is there, with the permissions of what it replaces', async () => {
    const path = join(newFolder(), 'new', 'file\nwith a line');
    const there = await files();
    await there.write(path, 'héllo\n', { mode: 0o750 });
    await there.write(path, Buffer.from([0, 255, 10]));
    expect([...(await there.read(path))]).toEqual([0, 255, 10]);
    expect(statSync(path).mode & 0o777).toBe(0o750);
    expect(readdirSync(join(path, '..'))).toEqual(['file\nwith a line']);
  });

  given('a part of a file is read, and more than is wanted is refused', async () => {
    const path = join(newFolder(), 'file');
    writeFileSync(path, '0123456789');
    const there = await files();
    expect(String(await there.read(path, { offset: 3 }))).toBe('3456789');
    expect(String(await there.read(path, { offset: 3, length: 2 }))).toBe('34');
    expect(String(await there.read(path, { offset: 30, length: 2 }))).toBe('');
    expect(await codeOf(there.read(path, { maxBytes: 9 }))).toBe('ETOOLARGE');
    expect(await codeOf(there.read('/dev/zero'))).toBe('ETOOLARGE');
  });

  given('32 MiB go there and come back, byte for byte', async () => {
    const folder = newFolder();
    const large = Buffer.alloc(32 << 20);
    for (let at = 0; at < large.length; at += 4) large.writeUInt32LE((at * 2654435761) >>> 0, at);
    writeFileSync(join(folder, 'here'), large);
    const there = await files();
    await there.write(join(folder, 'there'), { file: join(folder, 'here') });
    expect(readFileSync(join(folder, 'there')).equals(large)).toBe(true);
    const back = await there.read(join(folder, 'there'), { maxBytes: large.length });
    expect(back.equals(large)).toBe(true);
  });

  given('nothing is replaced by a part, or where it is not to be', async () => {
    const folder = newFolder();
    const path = join(folder, 'file');
    const there = await files();
    await there.write(path, pieces('ab', 'c'), { size: 3, ifAbsent: true });
    expect(await codeOf(there.write(path, 'other', { ifAbsent: true }))).toBe('EEXIST');
    expect(await codeOf(there.write(path, pieces('ab'), { size: 3 }))).toBe('ECUT');
    expect(await codeOf(there.write(path, pieces('ab', 'cd'), { size: 3 }))).toBe('ECUT');
    expect(await failureOf(there.write(path, pieces('ab')))).toBeInstanceOf(InputError);
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a');
      throw new Error('mine');
    }
    expect(await failureOf(there.write(path, broken(), { size: 3 }))).toMatchObject({
      message: 'mine',
    });
    expect(readFileSync(path, 'utf8')).toBe('abc');
    expect(readdirSync(folder)).toEqual(['file']);
  });

  given('a link is followed by a write, and none out of an archive', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'file'), 'before');
    symlinkSync('file', join(folder, 'link'));
    const there = await files();
    await there.write(join(folder, 'link'), 'after');
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('after');
    const listing = await there.list(folder);
    expect(listing).toMatchObject({
      entries: [
        { path: 'file', type: 'file', size: 5 },
        { path: 'link', type: 'link', size: 4 },
      ],
      isCut: false,
    });
  });

  given('a directory is listed, to a limit, and what is none is refused', async () => {
    const folder = newFolder();
    const there = await files();
    for (const name of ['a', 'sub/b', 'sub/new\nline']) await there.write(join(folder, name), name);
    expect((await there.list(folder)).entries.map(({ path }) => path)).toEqual(['a', 'sub']);
    const all = await there.list(folder, { recursive: true });
    const paths = ['a', 'sub', 'sub/b', 'sub/new\nline'];
    expect(all.entries.map(({ path }) => path)).toEqual(paths);
    expect(all.entries[1]).toMatchObject({ type: 'directory' });
    expect(await there.list(folder, { recursive: true, max: 4 })).toEqual(all);
    const cut = await there.list(folder, { recursive: true, max: 2 });
    expect(cut).toMatchObject({ isCut: true, entries: { length: 2 } });
    expect(await there.list(newFolder())).toEqual({ entries: [], isCut: false });
    expect(await codeOf(there.list(join(folder, 'a')))).toBe('ENOTDIR');
    expect(await codeOf(there.list(join(folder, 'none')))).toBe('ENOENT');
  });

  given('an archive writes nothing outside of its directory', async () => {
    const folder = newFolder();
    const there = await files();
    const from = join(folder, 'from');
    const outside = join(folder, 'outside');
    for (const path of [from, outside]) mkdirSync(path);
    const archive = join(folder, 'archive');
    const tar = (...args: readonly string[]): void =>
      void execFileSync('tar', ['-P', ...args], { cwd: from });
    symlinkSync(outside, join(from, 'link'));
    tar('-cf', archive, 'link');
    rmSync(join(from, 'link'));
    mkdirSync(join(from, 'link'));
    for (const path of ['link/new', '../above', '../outside/absolute']) {
      writeFileSync(join(from, path), 'x');
    }
    tar('-rf', archive, 'link/new', '../above', join(outside, 'absolute'));
    for (const path of ['above', 'outside/absolute']) rmSync(join(folder, path));
    const to = join(folder, 'sub', 'to');
    await failureOf(there.unpack(to, readFileSync(archive)));
    expect(readdirSync(outside)).toEqual([]);
    expect(readdirSync(join(folder, 'sub'))).toEqual(['to']);
    expect(existsSync(join(folder, 'above'))).toBe(false);
  });

  given('a tree is packed and unpacked, compressed or not, and removed', async () => {
    const folder = newFolder();
    const there = await files();
    await there.write(join(folder, 'from/sub/b'), 'b', { mode: 0o755 });
    await there.write(join(folder, 'from/a'), 'a', { mode: 0o6755 });
    for (const gzip of [false, true]) {
      const to = join(folder, `to ${gzip}`);
      await there.unpack(to, there.pack(join(folder, 'from'), { gzip }));
      expect(readFileSync(join(to, 'sub/b'), 'utf8')).toBe('b');
      expect(statSync(join(to, 'sub/b')).mode & 0o777).toBe(0o755);
      // busybox keeps them.
      if (env === undefined) expect(statSync(join(to, 'a')).mode & 0o7777).toBe(0o755);
    }
    expect(await codeOf(there.unpack(join(folder, 'no'), Buffer.from('no archive')))).toBe(
      'EFAILED',
    );
    expect(await codeOf(there.remove(join(folder, 'from')))).toBe('ENOTEMPTY');
    await there.remove(join(folder, 'from'), { recursive: true });
    expect(await codeOf(there.remove(join(folder, 'from'), { recursive: true }))).toBe('ENOENT');
  });

  given('what can not be read or written has the code of the system', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'file'), '');
    const there = await files();
    expect(await codeOf(there.read(join(folder, 'none')))).toBe('ENOENT');
    expect(await codeOf(there.read(join(folder, 'none'), { offset: 3 }))).toBe('ENOENT');
    expect(await codeOf(there.read(folder))).toBe('EISDIR');
    expect(await codeOf(there.write(folder, 'x'))).toBe('EISDIR');
    expect(await codeOf(there.write(join(folder, 'file/below'), 'x'))).toMatch(
      /^(ENOTDIR|EEXIST)$/,
    );
    const shallow = { makeDirectories: false };
    expect(await codeOf(there.write(join(folder, 'no/below'), 'x', shallow))).toBe('ENOENT');
    for (const path of ['', 'a\0b']) {
      expect(await failureOf(there.read(path))).toBeInstanceOf(InputError);
    }
    // What is not known would do nothing.
    const unknown = { maxByte: 1 } as object;
    for (const refused of [
      there.read(folder, unknown),
      there.write(join(folder, 'file'), 'x', unknown),
      there.write(join(folder, 'file'), 'x', { ifAbsent: 'yes' as never }),
      there.list(folder, unknown),
      there.remove(folder, { recursive: 1 as never }),
      there.unpack(folder, Buffer.alloc(0), unknown),
    ]) {
      expect(await failureOf(refused)).toBeInstanceOf(InputError);
    }
    expect(() => there.pack(folder, unknown)).toThrow(InputError);
    expect(() => there.readStream(folder, unknown)).toThrow(InputError);
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('');
  });

  given('a call that is cancelled ends, and leaves nothing', async () => {
    const folder = newFolder();
    const there = await files();
    const signal = AbortSignal.timeout(100);
    const begun = performance.now();
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        yield Buffer.alloc(1000);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
    const writing = there.write(join(folder, 'file'), endless(), { size: 1 << 30, signal });
    expect(await failureOf(writing)).toMatchObject({ name: 'TimeoutError' });
    expect(performance.now() - begun).toBeLessThan(5000);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test('what is printed of names with blanks and line feeds is read as it was, without what has gone', () => {
  const name = fc.string({
    unit: fc.constantFrom('a', ' ', '\n', '8', '1a4 0 0 ./a'),
    minLength: 1,
  });
  const entries = fc.uniqueArray(
    name.map((it) => `./${it}`),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(entries, fc.func(fc.boolean()), (names, isThere) => {
      const left = names.filter((one) => isThere(one));
      const printed = left.map((one) => `81a4 3 1700000000 ${one}\n`).join('');
      const found = listedEntries(printed, names).map(({ path }) => path);
      // A name that is the beginning of another one, with a line feed after it, may be taken for that.
      const isClear = names.every((one) => !names.some((other) => other.startsWith(`${one}\n`)));
      if (isClear) expect(found).toEqual(left.map((one) => one.slice(2)));
      else expect(found.length).toBeLessThanOrEqual(names.length);
    }),
  );
});

test('a session that can not begin is refused, in a process that waits for nothing else', async () => {
  const within = newFolder();
  const text = `
    import { connect } from ${JSON.stringify(join(root, 'dist/remote/index.js'))};
    const far = await connect({ command: ${JSON.stringify(FAR_SIDE)} });
    const workspace = { archive: Buffer.from('junk'), within: ${JSON.stringify(within)} };
    await far.createBashTool({ contract: 'plain', workspace }).catch(({ name }) => console.log(name));
    await far.dispose();`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    text,
  ]);
  expect(stdout).toBe('FarFileError\n');
  expect(readdirSync(within)).toEqual([]);
});
