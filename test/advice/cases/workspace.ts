import { expect } from 'vitest';
import { type AdviceCase, companion, type Kit } from '../advice-case.js';
import { said } from '../answers.js';

const make = (kit: Kit, options?: object) => kit.make('workspace', options);

/** A command that a shorter limit ends and a longer one does not. */
const SLOW = 'sleep 1.3; echo done';

export const WORKSPACE: readonly AdviceCase[] = [
  {
    name: 'more time',
    says: /^For more time, pass a larger `timeout` \(at most …\)/,
    async follow(kit) {
      const tool = make(kit);
      const { text } = await kit.ask(tool, { command: SLOW, timeout: 1 });
      const field = said(text, /pass a larger `(\w+)`/);
      const most = Number(said(text, /\(at most (\d+)\)/));
      expect(most).toBeGreaterThan(1);
      const followed = await kit.ask(tool, { command: SLOW, [field]: most });
      expect(followed).toMatchObject({ exitCode: 0, isError: false });
      expect(followed.text).not.toContain('clamped');
    },
  },
  {
    name: 'other commands meanwhile',
    says: /^; with `async: true`, other commands can run meanwhile$/,
    async follow(kit) {
      const tool = make(kit, { async: true });
      const { text } = await kit.ask(tool, { command: SLOW, timeout: 1 });
      const field = said(text, /with `(\w+): true`, other commands can run meanwhile/);
      const started = await kit.ask(tool, { command: `sleep 0.5; echo later`, [field]: true });
      expect((await kit.ask(tool, { command: 'echo meanwhile' })).text).toContain('meanwhile');
      const input = JSON.parse(said(started.text, /call the job tool with (\{.*?\});/));
      expect((await kit.ask(companion(tool, 'job'), input)).text).toContain('later');
    },
  },
  {
    name: 'how to wait for a job, and to see all',
    says: /To wait for it, call the job tool with \{"poll": \["…"\]\}; \{"list": true\} shows all jobs/,
    async follow(kit) {
      const tool = make(kit, { async: true });
      const { text } = await kit.ask(tool, { command: 'sleep 0.2; echo came', async: true });
      const job = companion(tool, said(text, /call the (\w+) tool with/));
      const list = JSON.parse(said(text, /; (\{.*\}) shows all jobs/));
      expect((await kit.ask(job, list)).text).toContain('bg_1 running');
      const poll = JSON.parse(said(text, /tool with (\{.*?\});/));
      expect((await kit.ask(job, poll)).text).toContain('came');
    },
  },
  {
    name: 'a command that no limit is long enough for',
    says: /^No command may take longer: split it into shorter ones\.$/,
    async follow(kit) {
      const tool = make(kit, { timeout: { default: 1, max: 1 } });
      const parts = ['sleep 0.7', 'sleep 0.7; echo done'];
      const { text } = await kit.ask(tool, { command: parts.join('; ') });
      expect(text).toContain('split it into shorter ones');
      for (const command of parts) {
        expect(await kit.ask(tool, { command })).toMatchObject({ exitCode: 0 });
      }
    },
  },
  {
    name: 'async while it is off',
    says: /^Async bash execution is disabled\. Leave `async` out/,
    async follow(kit) {
      const tool = make(kit);
      const input = { command: 'sleep 0.2; echo done', async: true };
      const { text } = await kit.ask(tool, input);
      const { [said(text, /Leave `(\w+)` out/) as 'async']: _, ...without } = input;
      expect((await kit.ask(tool, without)).text).toContain('done');
    },
  },
  {
    name: 'the lines before those that are shown',
    says: /^Read … for …: …$/,
    async follow(kit) {
      const tool = make(kit);
      const { text } = await kit.ask(tool, { command: 'seq 20000' });
      const first = Number(said(text, /^\[Showing lines (\d+)-/m));
      const command = said(text, /Read artifact:\/\/0 for full output: (.*)\]$/m);
      const lines = (await kit.ask(tool, { command })).text.split('\n').filter(Number);
      expect(lines.at(-1)).toBe(String(first - 1));
      expect(lines).toHaveLength(200);
    },
  },
  {
    name: 'the rest of one long line',
    says: /^Read … for …: …$/,
    async follow(kit) {
      const interceptor = { enabled: true, tools: { read: { bytes: true, urls: true } } };
      const tool = make(kit, { interceptor });
      const { text } = await kit.ask(tool, { command: "printf 'begin%099999d' 7" });
      const command = said(text, /Read artifact:\/\/0 for full output: (.*)\]$/m);
      const followed = await kit.ask(tool, { command });
      expect(followed.text).toMatch(/^begin0+/);
      expect(followed.text).not.toContain('Showing');
    },
  },
  {
    name: 'an output of which only the beginning is kept',
    says: /^Read … for …: …$/,
    async follow(kit) {
      const { createArtifactStore } = await import('../../../src/index.js');
      const tool = make(kit, { artifacts: createArtifactStore({ maxBytes: 20_000 }) });
      const { text } = await kit.ask(tool, { command: 'seq 30000' });
      const command = said(text, /Read artifact:\/\/0 for its first 19\.5KB: (.*)\]$/m);
      expect((await kit.ask(tool, { command })).text).toMatch(/^1\n2\n3\n/);
    },
  },
  {
    name: 'an output that the minimizer has shortened',
    says: /^\[raw output: artifact:\/\/…\]$/,
    async follow(kit) {
      const tool = make(kit, { minimizer: true });
      const { text } = await kit.ask(tool, { command: 'yes line | head -n 300' });
      const place = said(text, /\[raw output: (\S+)\]/);
      const { text: lines } = await kit.ask(tool, { command: `grep -c line ${place}` });
      expect(lines).toMatch(/^300\n/);
    },
  },
  {
    name: 'a job whose output was delivered before',
    says: /^ It is kept: …$/,
    async follow(kit) {
      const tool = make(kit, { async: true });
      const job = companion(tool, 'job');
      await kit.ask(tool, { command: 'seq 20000', async: true });
      await kit.ask(job, { poll: ['bg_1'] });
      const { text } = await kit.ask(job, { poll: ['bg_1'] });
      const place = said(text, /delivered before\. It is kept: (\S+)/);
      expect((await kit.ask(tool, { command: `wc -l < ${place}` })).text).toMatch(/^20000\n/);
    },
  },
  {
    name: 'too many jobs',
    says: /^Too many commands in the background: .* Wait for one or end one…$/,
    async follow(kit) {
      const tool = make(kit, { async: true, tasks: { maxRunning: 1 } });
      const job = companion(tool, 'job');
      for (const end of [{ cancel: 0 }, { poll: 0 }]) {
        const input = { command: 'sleep 1', async: true };
        await kit.ask(tool, input);
        const { text, isError } = await kit.ask(tool, input);
        expect(isError).toBe(true);
        const id = said(text, /Wait for one or end one: (\w+)/);
        const [how = ''] = Object.keys(end);
        await kit.ask(job, { [how]: [id] });
        const again = await kit.ask(tool, input);
        expect(again.text).toContain('Background job');
        await kit.ask(job, { cancel: [said(again.text, /job (bg_\d+) started/)] });
      }
    },
  },
  {
    name: 'a percent sign in a URL',
    says: /^The percent-encoding is not valid; write % itself as %25\.$/,
    async follow(kit) {
      const { createLocalResolver, createUrlRegistry } = await import('../../../src/index.js');
      const local = createLocalResolver({ root: kit.folder.file('local') });
      const tool = make(kit, { urls: createUrlRegistry({ local }) });
      const { text } = await kit.ask(tool, { command: 'echo hi > local://50%' });
      const written = said(text, /write % itself as (%\d+)\./);
      expect(await kit.ask(tool, { command: `echo hi > local://50${written}` })).toMatchObject({
        exitCode: 0,
      });
      expect((await kit.ask(tool, { command: "cat 'local/50%'" })).text).toMatch(/^hi\n/);
    },
  },
  {
    name: 'stdin without a job',
    says: /^stdin: expected to come with `async: true`$/,
    async follow(kit) {
      const tool = make(kit, { async: true });
      const input = { command: 'read x; echo "got $x"', stdin: true };
      const { text } = await kit.ask(tool, input);
      const field = said(text, /expected to come with `(\w+): true`/);
      const started = await kit.ask(tool, { ...input, [field]: true });
      const id = said(started.text, /job (bg_\d+) started/);
      const job = companion(tool, 'job');
      const written = await kit.ask(job, { write: { id, text: 'it\n' } });
      expect(written.text).toContain('got it');
    },
  },
  {
    name: 'a job tool that is asked for two things',
    says: /^input: expected exactly one of poll, cancel, write and list$/,
    async follow(kit) {
      const job = companion(make(kit, { async: true }), 'job');
      const { text } = await kit.ask(job, { list: true, poll: [] });
      const fields = said(text, /exactly one of (.*)$/).split(/, | and /);
      expect(fields).toContain('list');
      expect(await kit.ask(job, { list: true })).toMatchObject({ isError: false });
    },
  },
];
