import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LaunchError, spawn } from '../../../src/index.js';
import { quote } from '../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { answerOf, usePlainTools } from '../../support/plain.js';

leavesNothingBehind();
const folder = useFolder();
const makeTool = usePlainTools();

describe('Output Handling', () => {
  test('Command succeeds: stdout, stderr and exit code 0', async () => {
    const result = await makeTool().execute({ command: 'echo a; echo b >&2' });
    expect(result.structured).toEqual({ stdout: 'a\n', stderr: 'b\n', exitCode: 0 });
    expect(result).not.toHaveProperty('isError');
  });

  test('Command fails: stdout, stderr and its exit code, which is no error of the call', async () => {
    const result = await makeTool().execute({ command: 'echo a; echo b >&2; exit 42' });
    expect(result.structured).toEqual({ stdout: 'a\n', stderr: 'b\n', exitCode: 42 });
    expect(result).not.toHaveProperty('isError');
  });

  test('Command not found: an error with its message', async () => {
    const result = await makeTool().execute({ command: 'echo a; no-such-program' });
    const error = 'bash: line 1: no-such-program: command not found';
    expect(result.structured).toEqual({
      error,
      stdout: 'a\n',
      stderr: `${error}\n`,
      exitCode: 127,
    });
    expect(result).toMatchObject({ isError: true, details: { failure: 'notFound' } });
  });

  test('Permission denied: an error with its message', async () => {
    const path = folder.file('not-executable');
    writeFileSync(path, 'echo no', { mode: 0o644 });
    const result = await makeTool().execute({ command: quote(path) });
    const error = `bash: line 1: ${path}: Permission denied`;
    expect(result.structured).toEqual({ error, stdout: '', stderr: `${error}\n`, exitCode: 126 });
    expect(result).toMatchObject({ isError: true, details: { failure: 'notExecutable' } });
  });
});

describe('Output Limits', () => {
  const megabyte = 1_048_576;
  const fill = (bytes: number, to = '') => `head -c ${bytes} /dev/zero | tr '\\0' x ${to}`;

  test('1 MB of stdout is whole', async () => {
    const { stdout = '' } = await answerOf(makeTool(), fill(megabyte));
    expect(stdout).toBe('x'.repeat(megabyte));
  });

  test('one byte more is cut to 1 MB with the suffix', async () => {
    const result = await makeTool().execute({ command: fill(megabyte + 1) });
    expect(result.structured?.stdout).toBe(`${'x'.repeat(megabyte)}... (truncated)`);
    expect(result.details.stdout).toEqual({ bytes: megabyte + 1, truncated: true });
    expect(result.details.stderr).toEqual({ bytes: 0, truncated: false });
  });

  test('stderr has a limit of its own', async () => {
    const command = `${fill(megabyte, '>&2')}; ${fill(20_000_000, '>&2')}; echo a`;
    const result = await makeTool().execute({ command });
    expect(result.structured).toEqual({
      stdout: 'a\n',
      stderr: `${'x'.repeat(megabyte)}... (truncated)`,
      notice:
        'stderr is truncated: it has 21,048,576 bytes, of which the first 1,048,576 are shown.',
      exitCode: 0,
    });
    expect(result.details.stderr).toEqual({ bytes: 20_000_000 + megabyte, truncated: true });
  });

  test('W24: how much was cut is told, for each stream, and of what is no text the whole', async () => {
    const tool = makeTool({ maxStdoutBytes: 10, maxStderrBytes: 4 });
    expect(await answerOf(tool, 'printf ééééééé; printf 日本語 >&2')).toMatchObject({
      notice:
        'stdout is truncated: it has 14 bytes, of which the first 10 are shown.\n' +
        'stderr is truncated: it has 9 bytes, of which the first 3 are shown.',
    });
    expect(await answerOf(tool, 'printf 0123456789')).not.toHaveProperty('notice');
    const lossy = await answerOf(tool, "printf '012345678\\377abc'");
    expect(lossy).toMatchObject({
      stdout: '012345678... (truncated)',
      notice: expect.stringMatching(
        /^stdout is truncated: it has 13 bytes, of which the beginning is shown\.\nNot all of stdout/,
      ),
    });
  });

  test('no character is cut apart', async () => {
    const tool = makeTool({ maxStdoutBytes: 10, maxStderrBytes: 3 });
    expect(await answerOf(tool, 'printf ééééééé; printf 日本 >&2')).toMatchObject({
      stdout: 'ééééé... (truncated)',
      stderr: '日... (truncated)',
    });
    expect(await answerOf(tool, 'printf aéééééé; printf a日 >&2')).toMatchObject({
      stdout: 'aéééé... (truncated)',
      stderr: 'a... (truncated)',
    });
  });

  test('bytes that are not UTF-8 do not make an answer longer than the limit', async () => {
    const tool = makeTool({ maxStdoutBytes: 10 });
    const { stdout } = await answerOf(tool, String.raw`printf '\xff\xff\xff\xff\xff\xff\xff\xff'`);
    expect(stdout).toBe('\ufffd\ufffd\ufffd... (truncated)');
  });

  test('a diagnosis after long output is found', async () => {
    const command = `${fill(3_000_000, '>&2')}; echo >&2; no-such-program`;
    expect(await answerOf(makeTool(), command)).toMatchObject({
      error: 'bash: line 1: no-such-program: command not found',
    });
  });
});

describe('Error Conditions', () => {
  test.each(['', ' \n\t'])('the command is empty: %j', async (command) => {
    const result = await makeTool().execute({ command });
    expect(result.structured).toEqual({
      error: `command: expected a shell command, got ${JSON.stringify(command)}`,
    });
    expect(result.isError).toBe(true);
  });

  test('the timeout is exceeded, and SIGTERM is not enough', async () => {
    const tool = makeTool({ timeout: 0.3, graceMs: 300 });
    expect(await answerOf(tool, "trap '' TERM; while :; do sleep 0.1; done")).toMatchObject({
      error:
        'Command timed out after 0.3 seconds\nFor more time, start it with `&` and its output in a file, and read the file later.',
    });
  });

  test('the process cannot be spawned: there is no shell', async () => {
    const shell = [folder.file('nowhere/bash')];
    const result = await makeTool({ shell }).execute({ command: 'true' });
    expect(result.structured).toEqual({
      error: expect.stringMatching(/^Command could not be started: .*\/nowhere\/bash/),
    });
    expect(result).toMatchObject({ isError: true, details: { failure: 'launch' } });
  });

  test('the process cannot be spawned: there is no such directory', async () => {
    const cwd = folder.file('nowhere');
    expect(await answerOf(makeTool({ cwd }), 'true')).toEqual({
      error: `Working directory does not exist: ${cwd}`,
    });
  });

  test('system resources are unavailable: a variable is larger than the system takes', async () => {
    const env = { LARGE: 'x'.repeat(200_000) };
    await expect(spawn('true', { env })).rejects.toBeInstanceOf(LaunchError);
    expect(await answerOf(makeTool({ env }), 'true')).toEqual({
      error: expect.stringMatching(/^Command could not be started: .*E2BIG/),
    });
  });

  test('a command with NUL, which no argument can carry', async () => {
    const marker = folder.file('nul');
    expect(await answerOf(makeTool(), `touch ${marker}\0`)).toEqual({
      error: expect.stringContaining('command: expected text without NUL, got one at index'),
    });
    expect(existsSync(marker)).toBe(false);
  });
});
