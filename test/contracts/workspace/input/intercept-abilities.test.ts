import { describe, expect, test } from 'vitest';
import { createInterceptor } from '../../../../src/contracts/workspace/input/intercept.js';
import type { ToolAbility } from '../../../../src/index.js';
import { fc } from '../../../support/properties.js';

const ABILITIES: readonly ToolAbility[] = [
  ...(['append', 'bytes', 'globs', 'lines', 'options', 'root', 'urls'] as const),
];

type Row = readonly [command: string, tool: string, ...asks: ToolAbility[]];

/** Commands that a rule is about, and what a tool must be able to do to replace them. */
const ROWS: readonly Row[] = [
  ['cat x', 'read'],
  ['cat -u x', 'read'],
  ['less x', 'read'],
  ['cat -n x', 'read', 'lines'],
  ['cat --number x', 'read', 'lines'],
  ['head x', 'read', 'lines'],
  ['head -n 5 x', 'read', 'lines'],
  ['tail -n +5 x', 'read', 'lines'],
  ['cat x | tail -3', 'read', 'lines'],
  ['cat x | nl', 'read', 'lines'],
  ['head -c 40000 x', 'read', 'bytes'],
  ['tail -c100 x', 'read', 'bytes'],
  ['cat x | head --bytes=5', 'read', 'bytes'],
  ['cat -A x', 'read', 'bytes'],
  ['cat -vet x', 'read', 'bytes'],
  ['cat --show-all x', 'read', 'bytes'],
  ['cat -s x', 'read', 'bytes'],
  ['cat *.md', 'read', 'globs'],
  ['cat {a,b}.md', 'read', 'globs'],
  ['cat skill://x', 'read', 'urls'],
  ['cat "local://my plan.md"', 'read', 'urls'],
  ['head -c 40000 skill://x', 'read', 'bytes', 'urls'],
  ['sudo cat /etc/shadow', 'read', 'root'],
  ['sudo -u bob head -n 3 x', 'read', 'root', 'lines'],
  ['grep -rn x .', 'search'],
  ['rg -i x | head', 'search', 'lines'],
  ['grep -v x f', 'search', 'options'],
  ['grep -A 3 x f', 'search', 'options'],
  ['rg -o x', 'search', 'options'],
  ['grep --include=a.c -r x', 'search', 'options'],
  ['grep x *.c', 'search', 'globs'],
  ['grep x artifact://3', 'search', 'urls'],
  ['sudo grep -r x /etc', 'search', 'root'],
  ['find . -name "*.ts"', 'find'],
  ['find . -maxdepth 2 -name x', 'find', 'options'],
  ['find . ! -name x', 'find', 'options'],
  ['find . -name x -o -name y', 'find', 'options'],
  ['sudo find / -name x', 'find', 'root'],
  ['sed -i s/a/b/ f', 'edit'],
  ['sed -i s/a/b/ *.ts', 'edit', 'globs'],
  ['sudo sed -i s/a/b/ /etc/hosts', 'edit', 'root'],
  ['sed -i s/a/b/ local://plan.md', 'edit', 'urls'],
  ['echo x > f', 'write'],
  ['cat > f <<EOF\nx\nEOF', 'write'],
  ['echo x >> ~/.bashrc', 'write', 'append'],
  ['echo x &>> f', 'write', 'append'],
  ['cat >> f <<EOF\nx\nEOF', 'write', 'append'],
  ['echo x | tee -a f', 'write', 'append'],
  ['echo x | tee --append f', 'write', 'append'],
  ['tee -ia f <<EOF\nx\nEOF', 'write', 'append'],
  ['sudo tee -a f <<EOF\nx\nEOF', 'write', 'append', 'root'],
  ["printf '\\x89PNG' > f", 'write', 'bytes'],
  ["printf '\\0' > f", 'write', 'bytes'],
  ["printf '\\033[0m' > f", 'write', 'bytes'],
  ['echo x > local://plan.md', 'write', 'urls'],
];

describe('W1, W6, W15: what a tool cannot do passes', () => {
  test.each(ROWS)('%j is for %s, if it can', async (command, tool, ...asks) => {
    await fc.assert(
      fc.asyncProperty(fc.subarray([...ABILITIES]), async (has) => {
        const abilities = Object.fromEntries(ABILITIES.map((each) => [each, has.includes(each)]));
        const interceptor = createInterceptor(
          { enabled: true, tools: { [tool]: abilities } },
          expect.unreachable,
        );
        const rule = await interceptor?.(command);
        const can = asks.every((each) => new Set<string>(has).has(each));
        expect([has, rule?.tool]).toEqual([has, can ? tool : undefined]);
        // A rule says `append` when that is what is to be done, and never otherwise.
        expect(rule?.message.includes('append') ?? false).toBe(can && asks.includes('append'));
      }),
      { numRuns: 40 },
    );
  });

  test('a name alone, and `true`, is a tool for whole text files and parts by lines', async () => {
    const tools = ['read', 'search', 'find', 'edit', 'write'];
    const byName = createInterceptor({ enabled: true, tools }, expect.unreachable);
    const byTrue = Object.fromEntries(tools.map((tool) => [tool, true as const]));
    const alike = createInterceptor({ enabled: true, tools: () => byTrue }, expect.unreachable);
    for (const [command, tool, ...asks] of ROWS) {
      const expected = asks.every((each) => each === 'lines') ? tool : undefined;
      expect([command, (await byName?.(command))?.tool]).toEqual([command, expected]);
      expect((await alike?.(command))?.tool).toBe(expected);
    }
  });

  test.each(['head -c 40000 artifact://0', 'sed -n 1,23p artifact://0', 'cat artifact://0'])(
    'W6: %s, as answers advise, passes whatever the tools can do',
    async (command) => {
      const all = Object.fromEntries(ABILITIES.map((each) => [each, true]));
      const tools = { read: all, edit: all };
      const interceptor = createInterceptor({ enabled: true, tools }, expect.unreachable);
      expect(await interceptor?.(command)).toBeUndefined();
    },
  );

  test('a tool that is not there, or undefined, has no rule', async () => {
    const tools = { read: undefined, write: { append: undefined } };
    const interceptor = createInterceptor({ enabled: true, tools }, expect.unreachable);
    expect(await interceptor?.('cat x')).toBeUndefined();
    expect(await interceptor?.('echo x >>f')).toBeUndefined();
    expect(await interceptor?.('echo x >f')).toMatchObject({ tool: 'write' });
  });

  test('a promise of tools, and tools that cannot be read, let everything pass, told once', async () => {
    for (const given of [Promise.resolve(['read']), 5, { read: { url: true } }, null]) {
      const told: string[] = [];
      const tools = () => given as never;
      const interceptor = createInterceptor({ enabled: true, tools }, (why) => told.push(why));
      expect(await interceptor?.('cat x')).toBeUndefined();
      await interceptor?.('cat x');
      expect(told).toEqual([expect.stringMatching(/^interceptor: commands are not checked: \w+/)]);
    }
  });
});
