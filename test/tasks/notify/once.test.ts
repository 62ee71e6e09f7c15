import { afterEach, expect, test, vi } from 'vitest';
import { CommandSubject } from '../../../src/tasks/command-subject.js';
import { DiskLedger } from '../../../src/tasks/detached/watches/record.js';
import { TaskManager } from '../../../src/tasks/manager.js';
import { HostLedger } from '../../../src/tasks/notify/ledger.js';
import type { WatchName } from '../../../src/tasks/notify/notify.js';
import type { TaskEnd } from '../../../src/tasks/status.js';
import type { Until } from '../../../src/tasks/wait.js';
import { useFolders } from '../../support/leftovers.js';
import { fc } from '../../support/properties.js';
import { workOf } from '../../support/tasks.js';

const folder = useFolders();
afterEach(() => {
  vi.useRealTimers();
});

const done: TaskEnd = { result: 'completed', text: 'done' };

/** What happens, in any order. */
const step = fc.oneof(
  fc.record({ do: fc.constantFrom('noise', 'ready', 'ready 2', 'part', 'look') }),
  fc.record({
    do: fc.constant('wait'),
    line: fc.boolean(),
    silent: fc.option(fc.constantFrom(200, 500, 600), { nil: undefined }),
    ms: fc.integer({ min: 1, max: 900 }),
  }),
  fc.record({ do: fc.constant('kill') }),
  fc.record({ do: fc.constant('end') }),
  fc.record({ do: fc.constant('breathe'), ms: fc.integer({ min: 0, max: 700 }) }),
);

test('each watch is told once, by an event or before it by a tool, in any order of things', async () => {
  vi.useFakeTimers();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const told: [WatchName | 'unmet', 'event' | 'tool'][] = [];
      const manager = new TaskManager({
        watch: { lines: ['noise'] },
        onEvent({ news }) {
          for (const { watch, unmet = [] } of news) {
            if (watch !== undefined) told.push([watch, 'event']);
            for (const _ of unmet) told.push(['unmet', 'event']);
          }
        },
      });
      const { subject, ...work } = workOf('a');
      if (!(subject instanceof CommandSubject)) throw new Error('expected a command');
      vi.spyOn(subject, 'members').mockResolvedValue([]);
      const notify = { line: 'ready', silentMs: 500, ended: true };
      const task = manager.add({ ...work, subject, watches: { notify, ledger: new HostLedger() } });
      const tools: Promise<void>[] = [];
      const take = () => task.take() !== undefined && told.push(['ended', 'tool']);
      const wait = async (until: Until): Promise<void> => {
        const awaited = await task.whileAwaited(() => task.wait(until, { since: task.seen }));
        if (awaited.kind === 'line') told.push(['line', 'tool']);
        if (awaited.kind === 'silent' && awaited.forMs >= 500) told.push(['silent', 'tool']);
        if (task.end !== undefined) take();
        else await task.look({ kind: 'end' }, 1024);
      };
      const kill = async (): Promise<void> => {
        await task.whileAwaited(() => task.stop({ graceMs: 0 }));
        take();
      };
      let isReady = false;
      let hasEnded = false;
      const print = (text: string) => {
        if (hasEnded) return;
        isReady ||= text.startsWith('ready');
        subject.tell({ stream: 'output', text, droppedBytes: 0 });
      };
      for (const { do: what, ...more } of steps) {
        if (what === 'wait' && 'line' in more) {
          const { line, silent: silentMs, ms } = more;
          tools.push(wait({ ended: true, atMostMs: ms, silentMs, ...(line && { line: 'ready' }) }));
        } else if (what === 'breathe' && 'ms' in more) await vi.advanceTimersByTimeAsync(more.ms);
        else if (what === 'end') work.end(done);
        else if (what === 'kill') tools.push(kill());
        else if (what === 'look') take();
        else print(what === 'part' ? 'rea' : `${what}\n`);
        hasEnded ||= what === 'end' || what === 'kill';
      }
      work.end(done);
      await vi.advanceTimersByTimeAsync(5000);
      await Promise.all(tools);
      const of = (name: string) => told.filter(([one]) => one === name).map(([, by]) => by);
      for (const name of ['line', 'silent', 'ended', 'unmet']) {
        // An event comes first, if one comes; tools may tell again what is asked of them.
        if (name !== 'unmet') expect(of(name).slice(1)).not.toContain('event');
      }
      expect(of('ended')).not.toEqual([]);
      if (isReady) expect(of('line')).not.toEqual([]);
      const isEndTold = of('ended')[0] === 'tool';
      const open = [of('line'), of('silent')].filter((by) => by.length === 0).length;
      expect(of('unmet')).toHaveLength(isEndTold ? 0 : open);
      manager.dispose();
    }),
    { numRuns: 200 },
  );
});

test('of many hosts that mark at once, each watch goes to one', async () => {
  const names: readonly WatchName[] = ['line', 'port', 'silent', 'ended'];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.subarray([...names]), { maxLength: 20 }), async (asked) => {
      const place = folder();
      const ledgers = asked.map(() => new DiskLedger(place));
      const got = await Promise.all(asked.map((some, at) => ledgers[at]?.claim(some) ?? []));
      expect(got.flat().sort()).toEqual([...new Set(asked.flat())].sort());
      // A later host gets what is left.
      const rest = await new DiskLedger(place).claim(names);
      expect([...got.flat(), ...rest].sort()).toEqual([...names].sort());
    }),
    { numRuns: 40 },
  );
});

test('where it can not be noted, it is told all the same, once by this host, with one warning', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const ledger = new DiskLedger('/dev/null');
  expect(await ledger.claim(['line', 'ended'])).toEqual(['line', 'ended']);
  expect(await ledger.claim(['line', 'port'])).toEqual(['port']);
  expect(warned).toHaveBeenCalledOnce();
  expect(warned.mock.calls[0]?.[0]).toMatch(
    /^what was told of a task can't be noted, and may be told again: ENOTDIR/,
  );
  warned.mockRestore();
});
