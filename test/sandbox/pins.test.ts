import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readGitConfig } from '../../src/sandbox/git/config.js';
import { follow, followTrusted } from '../../src/sandbox/pins/follow.js';
import { useFolder } from '../support/leftovers.js';
import { fc } from '../support/properties.js';

const folder = useFolder();

const key = fc.constantFrom('hooksPath', 'a', 'b-c', 'Path', 'worktree');
const header = fc.oneof(
  fc.constantFrom('[core]', '[CORE]', ' [ core ]', '[include]', '[a.b]', '[A.B-c] # x'),
  fc
    .string({ unit: fc.constantFrom('a', 'B', ' ', '.', '\\\\', '\\"', ']', '#', '~', '/') })
    .map((name) => `[includeIf "${name}"]`),
);
const piece = fc.constantFrom(
  'a',
  '/',
  '~',
  ' ',
  '  ',
  '"',
  '\\"',
  '\\\\',
  '\\n',
  '\\t',
  '#',
  ';',
  '=',
  'ä',
  '\\\n',
  'x y',
);
const value = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const entry = fc.oneof(
  fc.tuple(key, value).map(([name, text]) => `\t${name} = ${text}`),
  fc.tuple(key, value).map(([name, text]) => `${name}=${text}`),
  key,
);
const line = fc.oneof(
  header,
  entry,
  entry,
  fc.constantFrom('', '# comment', '; [core]', '[core] hooksPath = in line'),
);
const configs = fc
  .tuple(header, fc.array(line, { maxLength: 14 }))
  .map(([first, lines]) => `${[first, ...lines].join('\n')}\n`);

/** What git reads; undefined: it takes it for none. */
function byGit(path: string): Map<string, string[]> | undefined {
  try {
    const args = ['config', '--file', path, '--list', '-z', '--no-includes'];
    const text = execFileSync('git', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const all = new Map<string, string[]>();
    for (const each of text.split('\0').slice(0, -1)) {
      const end = each.indexOf('\n');
      const [name, read] = end < 0 ? [each, ''] : [each.slice(0, end), each.slice(end + 1)];
      all.set(name, [...(all.get(name) ?? []), read]);
    }
    return all;
  } catch {
    return undefined;
  }
}

test('S9: a configuration is read as git reads it', () => {
  const path = folder.file('config');
  let compared = 0;
  fc.assert(
    fc.property(configs, (text) => {
      writeFileSync(path, text);
      const expected = byGit(path);
      if (expected === undefined) return;
      compared += 1;
      expect(Object.fromEntries(readGitConfig(path))).toEqual(Object.fromEntries(expected));
    }),
    { numRuns: 300 },
  );
  expect(compared).toBeGreaterThan(60);
});

/** Links among four directories, in any order and to anywhere. */
const names = fc.constantFrom('a', 'b', 'c', 'd');
const target = fc.oneof(
  fc
    .array(fc.constantFrom('a', 'b', 'c', '..', '.', 'missing'), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/')),
  fc.array(names, { maxLength: 3 }).map((parts) => `TOP/${parts.join('/')}`),
);
const trees = fc.array(
  fc.tuple(fc.array(names, { minLength: 1, maxLength: 3 }), fc.option(target)),
  { maxLength: 8 },
);

test('S1: a path is followed as the kernel follows it', () => {
  fc.assert(
    fc.property(
      trees,
      fc.array(fc.constantFrom('a', 'b', 'c', 'd', '..', ''), { maxLength: 6 }),
      (tree, way) => {
        const top = join(folder.path, 'tree');
        rmSync(top, { recursive: true, force: true });
        mkdirSync(top);
        for (const [parts, to] of tree) {
          const path = join(top, ...parts);
          try {
            // Never through a link: that could lead out of the folder.
            const above = join(path, '..');
            if (existsSync(above) && !isWithin(realpathSync(above), top)) continue;
            if (follow(above)?.links.length !== 0) continue;
            mkdirSync(above, { recursive: true });
            if (to === null) mkdirSync(path);
            else symlinkSync(to.replace('TOP', top), path);
          } catch {
            // It is there, or nothing can be: so be it.
          }
        }
        const path = `${top}/${way.join('/')}`;
        const real = realOf(path);
        const found = follow(path);
        if (real !== undefined) expect(found).toMatchObject({ real, exists: true });
        else expect(found?.exists ?? false).toBe(false);
        // Where commands write, what they can have made leads nowhere else.
        const made = found?.links.filter((link) => isWithin(link, top)) ?? [];
        const trusted = followTrusted(path, [top]);
        if (made.length > 0) {
          expect(trusted === undefined).toBe(!isWithin(found?.real ?? '', top));
        } else expect(trusted).toEqual(found);
      },
    ),
    { numRuns: 400 },
  );
});

const isWithin = (path: string, top: string) => `${path}/`.startsWith(`${top}/`);

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
