import { expect, test } from 'vitest';
import {
  backgroundNotice,
  joinSections,
  noticesOf,
  receiptNotices,
  wallTimeNotice,
} from '../../src/contracts/notices.js';
import type { Receipt } from '../../src/index.js';

test('output, notices and ending are one blank line apart', () => {
  expect(joinSections('a\n\n\n', ['b', undefined, 'c'], 'd')).toBe('a\n\nb\nc\n\nd');
  expect(joinSections('a', [])).toBe('a');
  expect(joinSections('', ['b'])).toBe('b');
});

test('a long run of newlines takes no time', () => {
  const text = `${'\n'.repeat(1_000_000)}x`;
  expect(joinSections(text, [])).toBe(text);
});

test('wall time has two decimals', () => {
  expect(wallTimeNotice(31.2)).toBe('Wall time: 0.03 seconds');
  expect(wallTimeNotice(61_005)).toBe('Wall time: 61.01 seconds');
});

test('a command without processes left has no notice about them', () => {
  expect(backgroundNotice([])).toBeUndefined();
});

test('processes left running are named with a way to stop them', () => {
  const left = [
    { pid: 12, processGroup: 10, command: 'sleep\n 300' },
    { pid: 13, processGroup: 10, command: 'yes' },
    { pid: 14, processGroup: 14, command: 'daemon' },
  ];
  expect(backgroundNotice(left)).toBe(
    'Still running in the background: 12 (sleep 300), 13 (yes), 14 (daemon). ' +
      'To stop: kill -9 -- -10 -14',
  );
});

test('B23: what a terminal would act upon is spelled out in the names of processes', () => {
  const command = 'x \x1b[31mred\x07\u202e';
  expect(backgroundNotice([{ pid: 1, processGroup: 1, command }])).toContain(
    '1 (x \\x1b[31mred\\x07\\u202e)',
  );
});

test('many processes, and long ones, are not all spelled out', () => {
  const command = '中'.repeat(99);
  const left = Array.from({ length: 8 }, (_, pid) => ({ pid, processGroup: 10, command }));
  const notice = backgroundNotice(left) ?? '';
  expect(notice).toContain(`0 (${'中'.repeat(26)}…), 1 (`);
  expect(notice).toContain('3 more. To stop');
});

test('ports are named once, and not all of many', () => {
  const left = (...ports: number[]) => ({
    ...{ pid: 12, processGroup: 10, command: 'node server.js' },
    ports: ports.map((port) => ({ port, address: '::' })),
  });
  expect(backgroundNotice([left(3000, 3000)])).toContain(': 12 (node server.js) on port 3000. To');
  expect(backgroundNotice([left(1, 2, 3, 4)])).toContain(' on ports 1, 2, 3, 4. To');
  expect(backgroundNotice([left(1, 2, 3, 4, 5)])).toContain(' on ports 1, 2, 3, 4, …. To');
});

const receipt: Receipt = {
  ...{ pid: 1, outcome: { kind: 'exited', exitCode: 0 }, background: [], streams: {} },
  ...{ troubles: [], durationMs: 1 },
};

test('of a receipt a model is told what it must know, and nothing else', () => {
  expect(receiptNotices(receipt)).toEqual([]);
  expect(receiptNotices({ ...receipt, outOfMemory: 'no', troubles: ['x'] })).toEqual([]);
  const quiet = { program: 'wc', before: ['cat', 'grep'] };
  expect(receiptNotices({ ...receipt, exitCodeOf: quiet })).toEqual([]);
});

test('lines on the output come first, then those on the call, and those on the command last', () => {
  const background = [{ pid: 2, processGroup: 2, command: 'yes', ports: [] }];
  const output = ['cut', undefined, 'no text'];
  expect(noticesOf(output, [undefined, 'clamped'], { ...receipt, background })).toEqual([
    ...['cut', 'no text', 'clamped'],
    'Still running in the background: 2 (yes). To stop: kill -9 -- -2',
  ]);
  expect(noticesOf([], [], receipt)).toEqual([]);
});

test('a filter’s exit code, the end of memory and what still runs are a line each', () => {
  const lines = receiptNotices({
    ...receipt,
    outOfMemory: 'likely',
    exitCodeOf: { program: 'tail', before: ['make', 'cat', 'npm test', 'make', 'a', 'b'] },
    background: [{ pid: 2, processGroup: 2, command: 'yes', ports: [] }],
  });
  expect(lines).toEqual([
    'Exit code 0 is that of tail, not of make or npm test or a. ' +
      'For that one, begin the command with: set -o pipefail;',
    'Out of memory, probably: the kernel has ended a process for lack of memory. Do less at a time.',
    'Still running in the background: 2 (yes). To stop: kill -9 -- -2',
  ]);
});
