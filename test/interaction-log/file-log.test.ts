import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  createInteractionLog,
  type InteractionEntry,
  type InteractionLogFile,
  type InteractionLogOptions,
} from '../../src/index.js';
import { entryLine } from '../../src/interaction-log/line.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { fc } from '../support/properties.js';

leavesNothingBehind();
const folder = useFolder();

let count = 0;
interface Watched {
  readonly log: InteractionLogFile;
  readonly path: string;
  /** What the logger was told. */
  readonly told: string[];
}

function makeLog(options: Partial<InteractionLogOptions> = {}): Watched {
  count += 1;
  const { path = folder.file(`${count}.log`) } = options;
  const told: string[] = [];
  const logger = { warn: (message: string) => told.push(message) };
  return { log: createInteractionLog({ path, logger, ...options }), path, told };
}

const entry = (command: string): InteractionEntry => ({
  time: '2026-01-02T03:04:05.678Z',
  command,
  exitCode: 0,
  stdoutBytes: 0,
  stderrBytes: 0,
  durationMs: 1,
});

const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const commandsOf = (path: string) => linesOf(path).map((line) => JSON.parse(line).command);

test('entries are written in order, and flush() waits for the last one', async () => {
  const { log, path, told } = makeLog();
  const commands = Array.from({ length: 500 }, (_, index) => `echo ${index}`);
  for (const command of commands) log.append(entry(command));
  await log.flush();
  expect(commandsOf(path)).toEqual(commands);
  expect(told).toEqual([]);
});

test('an entry that is appended when writing comes to an end is written too', async () => {
  const { log, path } = makeLog();
  const commands = Array.from({ length: 100 }, (_, index) => `echo ${index}`);
  for (const [index, command] of commands.entries()) {
    log.append(entry(command));
    if (index % 3 === 0) await log.flush();
    for (let turn = 0; turn < index % 7; turn += 1) await undefined;
  }
  await log.flush();
  expect(commandsOf(path)).toEqual(commands);
});

test('several processes append to one file, and every line stays whole', async () => {
  const path = folder.file('shared.log');
  const program = new URL('../support/hosts/log-writer.mjs', import.meta.url);
  const writers = [0, 1, 2, 3].map((id) => fork(program, [path, String(id), '200']));
  const ends = await Promise.all(writers.map((writer) => once(writer, 'exit')));
  expect(ends.map(([code]) => code)).toEqual([0, 0, 0, 0]);
  const commands: string[] = commandsOf(path);
  expect(commands).toHaveLength(800);
  for (const id of [0, 1, 2, 3]) {
    const own = commands.filter((command) => command.startsWith(`${id} `));
    // In its own order; every tenth is far longer than what a pipe would take in one piece.
    expect(own.map((command) => command.slice(0, 6))).toEqual(
      Array.from({ length: 200 }, (_, index) => `${id} ${String(index).padStart(4, '0')}`),
    );
    expect(own[10]?.length).toBeGreaterThan(100_000);
  }
});

test('a command that is too long is cut at a character, and its length noted', async () => {
  const { log, path } = makeLog({ maxCommandBytes: 5 });
  log.append(entry('ééé'));
  log.append(entry('ééa'));
  await log.flush();
  const [long, whole] = linesOf(path).map((line) => JSON.parse(line));
  expect(long).toEqual({ ...entry('éé'), commandBytes: 6 });
  expect(whole).toEqual(entry('ééa'));
});

test('a file that was moved away is made anew', async () => {
  const { log, path } = makeLog();
  log.append(entry('first'));
  await log.flush();
  renameSync(path, `${path}.1`);
  log.append(entry('second'));
  await log.flush();
  expect([commandsOf(`${path}.1`), commandsOf(path)]).toEqual([['first'], ['second']]);
});

test('entries that could not be written are reported once, and later in the file', async () => {
  const directory = folder.file('later');
  const { log, path, told } = makeLog({ path: `${directory}/x.log` });
  for (const command of ['a', 'b']) {
    log.append(entry(command));
    await log.flush();
  }
  mkdirSync(directory);
  log.append(entry('c'));
  await log.flush();
  const [gap, line] = linesOf(path).map((text) => JSON.parse(text));
  expect(gap).toEqual({ time: expect.any(String), lostEntries: 2 });
  expect(line).toEqual(entry('c'));
  expect(told).toEqual([
    expect.stringMatching(/^interaction log: .*x\.log cannot be written: ENOENT/),
  ]);
});

test('the lines that wait for the disk are limited, and the file says how many are missing', async () => {
  const { log, path, told } = makeLog({ maxPendingBytes: 2000 });
  for (let index = 0; index < 100; index += 1) log.append(entry(`echo ${index}`));
  await log.flush();
  log.append(entry('after'));
  await log.flush();
  const lines = linesOf(path).map((line) => JSON.parse(line));
  const lost = lines.reduce((sum, line) => sum + (line.lostEntries ?? 0), 0);
  const written = lines.filter((line) => line.command !== undefined);
  expect(lost).toBeGreaterThan(50);
  expect(written.length + lost).toBe(101);
  expect(written.at(-1)?.command).toBe('after');
  expect(told).toEqual([expect.stringContaining('the disk is too slow')]);
});

test('a line beyond the limit is written when no other waits', async () => {
  const { log, path } = makeLog({ maxPendingBytes: 10 });
  log.append(entry('alone'));
  await log.flush();
  expect(commandsOf(path)).toEqual(['alone']);
});

test('a disk that is full is reported, not thrown', async () => {
  const { log, told } = makeLog({ path: '/dev/full' });
  log.append(entry('a'));
  await log.flush();
  expect(told).toEqual([expect.stringContaining('/dev/full cannot be written: ENOSPC')]);
});

test('a pipe without a reader delays neither a flush nor the end of the host', async () => {
  const path = folder.file('pipe');
  execFileSync('mkfifo', [path]);
  const { log, told } = makeLog({ path });
  log.append(entry('a'));
  await log.flush();
  expect(told).toEqual([expect.stringMatching(/pipe cannot be written: ENXIO/)]);
});

test('a directory is refused as a log', async () => {
  const { log, told } = makeLog({ path: folder.path });
  log.append(entry('a'));
  await log.flush();
  expect(told).toEqual([expect.stringContaining('cannot be written: EISDIR')]);
});

test('a log that other users may read keeps its mode and its contents', async () => {
  const { log, path } = makeLog();
  writeFileSync(path, `${JSON.stringify(entry('before'))}\n`);
  log.append(entry('after'));
  await log.flush();
  expect(commandsOf(path)).toEqual(['before', 'after']);
});

test.each([
  [{ path: '' }, 'path: expected the path of a file, got ""'],
  [{ path: 'a\0b' }, 'path: expected the path of a file, got "a\\u0000b"'],
  [{ path: 'x', maxCommandBytes: 0 }, 'maxCommandBytes: expected a whole number from 1, got 0'],
  [{ path: 'x', maxPendingBytes: -1 }, 'maxPendingBytes: expected a whole number from 1, got -1'],
  [{ path: 'x', flushMs: Number.NaN }, 'flushMs: expected a number from 0, got NaN'],
])('the options %j are refused', (options, message) => {
  expect(() => createInteractionLog(options)).toThrow(message);
});

test("any command's entry is one line from which it can be read", () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(50), (command, max) => {
      const line = entryLine(entry(command), max + 4);
      expect(line.indexOf('\n')).toBe(line.length - 1);
      const read = JSON.parse(line);
      expect(command.startsWith(read.command)).toBe(true);
      expect(Buffer.byteLength(read.command)).toBeLessThanOrEqual(max + 4);
      if (read.commandBytes === undefined) expect(read.command).toBe(command);
      else expect(read.commandBytes).toBe(Buffer.byteLength(command));
    }),
  );
});
