import { describe, expect, test, vi } from 'vitest';
import { ToolAbortError, ToolError } from '../../../src/index.js';
import { endingOf, useBackground } from '../../support/background.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { useModesTools } from '../../support/modes.js';
import { eventually, lives } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';
import { textOf } from '../../support/tool.js';

// The requirements that the contract was written to, each scenario by its words.
leavesNothingBehind();
const background = useBackground();
const makeTool = useModesTools(background.folder);
const run = async (command: string, mode?: string) =>
  makeTool().execute({ command, ...(mode && { mode }) });

describe('REQ-BASH-001: command execution', () => {
  test('a command runs by bash -c in the working directory, stdout and stderr combined', async () => {
    const result = await run('echo $0 $BASH_VERSION; pwd; echo err >&2; echo out');
    const [shell = '', ...lines] = textOf(result).split('\n');
    expect(shell).toMatch(/^bash \d/);
    expect(lines).toEqual([background.folder.path, 'err', 'out', '']);
    expect(result).not.toHaveProperty('isError');
  });

  test('output exceeding 128KB keeps its first and last 4KB, and says that it was truncated', async () => {
    const result = await run('seq 1 100000');
    const path = 'wholeOutput' in result.details ? result.details.wholeOutput : undefined;
    const whole = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join('');
    expect(textOf(result)).toBe(
      '[output truncated in middle: got 575.1KB, max is 128.0KB]\n' +
        `${whole.slice(0, 4096)}\n\n[snip]\n\n${whole.slice(-4096)}` +
        `[whole output: ${path}]`,
    );
    expect(result.details).toMatchObject({ totalBytes: whole.length });
  });

  test('output of 128KB is whole', async () => {
    const result = await run("head -c 131072 /dev/zero | tr '\\0' x");
    expect(textOf(result)).toBe('x'.repeat(131_072));
    expect(result.details).not.toHaveProperty('totalBytes');
  });
});

describe('REQ-BASH-002: timeout management', () => {
  test('default mode has a timeout of 30 seconds, slow mode of 15 minutes', async () => {
    expect((await run('true')).details).toMatchObject({ mode: 'default', timeoutSeconds: 30 });
    expect((await run('true', 'slow')).details).toMatchObject({
      mode: 'slow',
      timeoutSeconds: 900,
    });
  });

  test.each(['default', 'slow'] as const)(
    'a command that exceeds the timeout of %s mode is ended, with its partial output and a note',
    async (mode) => {
      const tool = makeTool({ timeouts: { [mode]: 0.5 } });
      const pause = longSleep(310);
      const result = await tool.execute({ command: `echo part; ${pause} & ${pause}`, mode });
      const more = mode === 'slow' ? '' : 'mode="slow" (900 seconds), or ';
      expect(textOf(result)).toBe(
        `[command timed out after 0.5s]\npart\n[for more time: ${more}mode="background"]`,
      );
      expect(result.isError).toBe(true);
      expect(result.details).toMatchObject({ outcome: { kind: 'timedOut' } });
      expect(sleeping(310)).toEqual([]);
    },
  );

  test('the note names the limit in seconds, also that of slow mode', async () => {
    const tool = makeTool({ timeouts: { slow: 2 } });
    const result = await tool.execute({ command: longSleep(311), mode: 'slow' });
    expect(textOf(result)).toBe('[command timed out after 2s]\n[for more time: mode="background"]');
  });
});

describe('REQ-BASH-003: background execution', () => {
  test('a command starts detached, and its process id and output file come at once', async () => {
    const { pid, outputFile } = await background.start(makeTool(), `echo on; ${longSleep(312)}`);
    expect(lives(pid)).toBe(true);
    expect(outputFile.startsWith(`${background.folder.path}/`)).toBe(true);
    await eventually(() => expect(sleeping(312)).toHaveLength(1));
  });

  test('it has 24 hours', async () => {
    const result = await run('true', 'background');
    const { pid, outputFile } = background.note(textOf(result));
    expect(result.details).toEqual({ mode: 'background', timeoutSeconds: 86_400, pid, outputFile });
  });

  test('its completion status is appended to its output', async () => {
    const tool = makeTool();
    const commands = ['echo done', 'echo no; exit 3', 'kill -TERM $$'];
    const endings = commands.map(async (command) =>
      endingOf(await background.start(tool, command)),
    );
    expect(await Promise.all(endings)).toEqual([
      'done\n\n\n[background process completed]\n',
      'no\n\n\n[background process failed: exit status: 3]\n',
      '\n\n[background process failed: signal: 15 (SIGTERM)]\n',
    ]);
  });

  test('kill -9 -- -<pgid>, as the answer says, stops it with all in its group', async () => {
    const pause = longSleep(313);
    const tool = makeTool();
    const started = await background.start(tool, `${pause} & ${pause}`);
    await eventually(() => expect(sleeping(313)).toHaveLength(2));
    await tool.execute({ command: `kill -9 -- -${started.pid}` });
    expect(await endingOf(started)).toBe('\n\n[background process failed: signal: 9 (SIGKILL)]\n');
    await eventually(() => expect(sleeping(313)).toEqual([]));
  });
});

describe('REQ-BASH-004: process isolation', () => {
  const identity = 'echo $$ $(cut -d" " -f5 /proc/$$/stat)';

  test('a command is the leader of a process group of its own', async () => {
    const [pid, group] = textOf(await run(identity))
      .trim()
      .split(' ');
    expect(group).toBe(pid);
    expect(group).not.toBe(String(process.pid));
  });

  test.each(['default', 'background'])(
    'in %s mode, variables with secrets are not there',
    async (mode) => {
      vi.stubEnv('FOO_API_KEY', 'hush');
      vi.stubEnv('FOO_NAME', 'known');
      const tool = makeTool();
      const answer = textOf(await tool.execute({ command: 'env | grep ^FOO_', mode }));
      const text = mode === 'background' ? await endingOf(background.note(answer)) : answer;
      expect(text).toContain('FOO_NAME=known\n');
      expect(text).not.toContain('hush');
    },
  );

  test('at its timeout, the group is ended with a grace period', async () => {
    const tool = makeTool({ timeouts: { default: 0.5 } });
    const polite = await tool.execute({
      command: "trap 'sleep 1; echo bye; exit' TERM; sleep 60 & wait",
    });
    expect(textOf(polite)).toBe(
      '[command timed out after 0.5s]\nbye\n[for more time: mode="slow" (900 seconds), or mode="background"]',
    );
    expect(polite.details).toMatchObject({ outcome: { forced: false } });
    const stubborn = makeTool({ timeouts: { default: 0.5 }, graceMs: 300 });
    const command = `trap '' TERM; ${longSleep(314)}; ${longSleep(314)}`;
    const killed = await stubborn.execute({ command });
    expect(killed.details).toMatchObject({ outcome: { kind: 'timedOut', forced: true } });
    expect(sleeping(314)).toEqual([]);
  });

  test('when the call is cancelled, the group is ended, and what left it too', async () => {
    const cancel = new AbortController();
    const command = `echo part; setsid ${longSleep(315)} & ${longSleep(315)}`;
    const call = makeTool().execute({ command }, { signal: cancel.signal });
    await eventually(() => expect(sleeping(315)).toHaveLength(2));
    cancel.abort();
    const error = await failureOf(call);
    expect(error).toBeInstanceOf(ToolAbortError);
    expect(error).toMatchObject({ message: '[command cancelled]\npart\n' });
    expect(sleeping(315)).toEqual([]);
  });
});

describe('REQ-BASH-005: no TTY attached', () => {
  test.each(['default', 'slow', 'background'])(
    'in %s mode there is none, and no input',
    async (mode) => {
      const command = 'tty; cat </dev/tty; cat; echo end';
      const answer = textOf(await run(command, mode));
      const text = mode === 'background' ? await endingOf(background.note(answer)) : answer;
      expect(text).toMatch(/^not a tty\n.*\/dev\/tty: No such device or address\nend\n/);
    },
  );
});

describe('REQ-BASH-006: tool schema', () => {
  test('command is a required string, mode an optional enum, and nothing else is known', () => {
    const { inputSchema, strict } = makeTool();
    expect(inputSchema).toEqual({
      type: 'object',
      required: ['command'],
      properties: {
        command: { type: 'string', description: 'Shell command to execute via bash -c' },
        mode: {
          type: 'string',
          enum: ['default', 'slow', 'background'],
          description:
            'Execution mode: default (30s timeout), slow (15min timeout), background (detached)',
        },
      },
      additionalProperties: false,
    });
    expect(strict).toBe(true);
  });

  test('without a mode, it is default mode', async () => {
    expect((await run('true')).details).toMatchObject({ mode: 'default', timeoutSeconds: 30 });
  });

  test('the description ends with the working directory', () => {
    const { description } = makeTool();
    expect(description.endsWith(`\n\n<pwd>${background.folder.path}</pwd>`)).toBe(true);
    expect(description).toContain('bash -c');
    expect(description).toContain('mode="slow"');
    expect(description).toContain('mode="background"');
    expect(description).toContain('less than 60k tokens');
  });
});

describe('REQ-BASH-007: error reporting', () => {
  test('a command that fails is an error result with its exit code and its output', async () => {
    const result = await run('echo why; exit 3');
    expect(textOf(result)).toBe('[command failed: exit code 3]\nwhy\n');
    expect(result.isError).toBe(true);
    expect(result.details).toMatchObject({ outcome: { kind: 'exited', exitCode: 3 } });
  });

  test('one that a signal ended has exit code -1 and the name of the signal', async () => {
    const result = await run('echo before; kill -9 $$');
    expect(textOf(result)).toBe('[command failed: exit code -1, SIGKILL]\nbefore\n');
    expect(result.isError).toBe(true);
  });

  test.each(['default', 'background'])(
    'in %s mode, an error of the system is told apart from a failing command',
    async (mode) => {
      const nowhere = makeTool({ cwd: '/no/such/place' });
      const missing = await failureOf(nowhere.execute({ command: 'true', mode }));
      expect(missing).toBeInstanceOf(ToolError);
      expect(missing).toMatchObject({
        kind: 'directory',
        message: 'Working directory does not exist: /no/such/place',
        cause: { name: 'LaunchError', step: 'directory', code: 'ENOENT' },
      });
      const noShell = makeTool({ shell: ['/no/bash'] });
      const shell = await failureOf(noShell.execute({ command: 'true', mode }));
      expect(shell).toMatchObject({ kind: 'launch', cause: { step: 'exec', code: 'ENOENT' } });
    },
  );
});
