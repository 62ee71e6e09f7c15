import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { AdviceCase, Kit } from '../advice-case.js';
import { CONTRACT_NAMES, said } from '../answers.js';

/** The same situation in each contract. */
function inEach(
  name: string,
  says: RegExp,
  follow: (kit: Kit, contract: (typeof CONTRACT_NAMES)[number]) => Promise<void>,
): readonly AdviceCase[] {
  return CONTRACT_NAMES.map((contract) => ({
    name: `${contract}: ${name}`,
    says,
    follow: (kit) => follow(kit, contract),
  }));
}

const bytes = Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * 7919 + 3) % 256));

export const ALL_CONTRACTS: readonly AdviceCase[] = [
  ...inEach(
    'how to stop what still runs',
    /^Still running in the background: …\. To stop: …$/,
    async ({ folder, make, ask }, contract) => {
      const tool = make(contract);
      const sleeps = 'sleep 300 >/dev/null 2>&1 & echo $! >pid; setsid sleep 301 >/dev/null 2>&1 &';
      const { text } = await ask(tool, { command: `${sleeps} sleep 0.3` });
      const pids = [...text.matchAll(/(\d+) \(sleep 30[01]\)/g)].map(([, pid]) => pid);
      expect(pids).toHaveLength(2);
      expect(pids).toContain(readFileSync(folder.file('pid'), 'utf8').trim());
      await ask(tool, { command: said(text, /To stop: (kill .*?)\]?$/m) });
      await expect.poll(() => pids.some((pid) => existsSync(`/proc/${pid}`))).toBe(false);
    },
  ),
  ...inEach(
    'the exact bytes of binary output',
    /^, …; send it to a file, or …$|^through od -c, or through iconv/,
    async ({ folder, make, ask }, contract) => {
      writeFileSync(folder.file('data'), bytes);
      const tool = make(contract);
      const { text } = await ask(tool, { command: 'cat data' });
      expect(text).toContain('not kept; send it to a file, or through od -c, or through iconv');
      await ask(tool, { command: 'cat data > copy' });
      expect(readFileSync(folder.file('copy')).equals(bytes)).toBe(true);
      const through = said(text, /or through (od -c),/);
      const shown = await ask(tool, { command: `cat data | ${through}` });
      expect(shown.text).toMatch(/^0000000\s+003/);
      expect(shown.text).not.toContain('�');
    },
  ),
  ...inEach(
    'text in another encoding',
    /^For the exact bytes, send it …\.$/,
    async ({ folder, make, ask }, contract) => {
      writeFileSync(folder.file('text'), Buffer.from('caf\xe9\n', 'latin1'));
      const tool = make(contract);
      const { text } = await ask(tool, { command: 'cat text' });
      const iconv = said(text, /or through (iconv) if it is in another encoding/);
      const read = await ask(tool, { command: `cat text | ${iconv} -f latin1 -t utf-8` });
      expect(read.text).toMatch(/^café(?:\n|$)/);
      const od = said(text, /send it through (od -c),/);
      const shown = await ask(tool, { command: `cat text | ${od}` });
      expect(shown.text).toMatch(/^0000000\s+c\s+a\s+f\s+351\s+\\n/);
    },
  ),
  ...inEach('a misspelt field', /^did you mean …\?$/, async ({ make, ask }, contract) => {
    const tool = make(contract);
    const { text } = await ask(tool, { command: 'echo hi', descripton: 'a greeting' });
    const field = said(text, /descripton: not known here, (?:did you mean|expected one of) (\w+)/);
    const input = field === 'description' ? { [field]: 'a greeting' } : {};
    expect((await ask(tool, { command: 'echo hi', ...input })).text).toContain('hi');
  }),
];
