import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LocalFiles } from '../../../src/adapters/local-machine/files/local-files.js';
import { fc } from '../../support/properties.js';

const NAMES = ['a', 'b', 'c', '..', '.', 'f'] as const;
const way = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 6 });
/** To us, a dot at the end says nothing; to the kernel, that it is a directory. */
const plain = (path: string): string => path.replace(/(\/\.)+$/, '');
const link = fc.record({
  at: fc.constantFrom('a/l', 'a/b/l', 'l', 'a/b/m', 'm'),
  to: fc.oneof(
    way.map((names) => plain(names.join('/'))),
    way.map((names) => plain(`ROOT/${names.join('/')}`)),
    fc.constantFrom('/', '..', 'OUTSIDE', 'OUTSIDE/f', 'l', '../l', 'a/m'),
  ),
});
const asked = fc.array(fc.constantFrom(...NAMES, 'l', 'm'), { minLength: 1, maxLength: 7 });

/** What the kernel reads there; undefined: nothing, or it lies outside. */
function expectedAt(root: string, path: string): string | undefined {
  try {
    const real = realpathSync.native(`${root}/${path}`);
    return real.startsWith(`${root}/`) ? readFileSync(real, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

test('with any links, a read gives what the kernel reads, or nothing', async () => {
  const property = fc.asyncProperty(
    fc.array(link, { maxLength: 5 }),
    fc.array(asked, { minLength: 5, maxLength: 20 }),
    async (links, paths) => {
      const base = realpathSync(mkdtempSync(join(tmpdir(), 'forkline-ways-')));
      const root = join(base, 'root');
      const outside = join(base, 'outside');
      mkdirSync(join(root, 'a/b/c'), { recursive: true });
      mkdirSync(outside);
      for (const file of ['f', 'a/f', 'a/b/f', 'a/b/c/f']) writeFileSync(join(root, file), file);
      writeFileSync(join(outside, 'f'), 'secret');
      for (const { at, to } of links) {
        rmSync(join(root, at), { force: true });
        symlinkSync(to.replace('ROOT', root).replace('OUTSIDE', outside), join(root, at));
      }
      try {
        for (const hold of ['descriptor', 'path'] as const) {
          const files = await LocalFiles.open(root, hold);
          for (const names of paths) {
            const path = plain(names.join('/'));
            const text = await files.read(path).then(String, () => undefined);
            // A way that leaves the root and comes back is refused, which the kernel allows.
            if (text !== undefined) expect(text).toBe(expectedAt(root, path));
            else if (!leaves(root, path)) expect(expectedAt(root, path)).toBeUndefined();
          }
        }
      } finally {
        rmSync(base, { recursive: true, force: true });
      }
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

/** Whether the way, or one of its links, has more `..` than it may: then it may be refused. */
function leaves(root: string, path: string): boolean {
  let at = root;
  for (const name of path.split('/')) {
    try {
      at = realpathSync.native(`${at}/${name}`);
    } catch {
      return false;
    }
    if (at !== root && !at.startsWith(`${root}/`)) return true;
  }
  return false;
}
