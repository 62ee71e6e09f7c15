import { expect, test } from 'vitest';
import { backgroundNotice, joinSections, wallTimeNotice } from '../../src/contracts/notices.js';

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

test('nothing is said of nothing', () => {
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
