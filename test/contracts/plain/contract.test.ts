import { writeFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, test, vi } from 'vitest';
import { createBashTool } from '../../../src/index.js';
import { quote } from '../../support/commands.js';
import { testOfThisProcess } from '../../support/far.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { answerOf, usePlainTools } from '../../support/plain.js';
import { eventually, isGone } from '../../support/processes.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const makeTool = usePlainTools();

describe('Tool Definition', () => {
  test('the name is bash, and the description is this', () => {
    const { name, description } = makeTool();
    expect(name).toBe('bash');
    // B15: with the limits, and what becomes of what is started with `&`.
    expect(description).toBe(
      'Execute a bash command and return stdout/stderr. It may take 30 seconds, and reads no input. ' +
        'At most 1.0MB of stdout and 1.0MB of stderr are returned. What is started with `&` goes ' +
        'on; `notice` says how to stop it.',
    );
  });
});

describe('Input Schema', () => {
  test('command is a string, is required, and is all there is', () => {
    expect(makeTool().inputSchema).toEqual({
      type: 'object',
      properties: { command: { type: 'string', description: 'The bash command to execute' } },
      required: ['command'],
      additionalProperties: false,
    });
  });

  test.each([
    [{}, 'command: expected a string, got nothing'],
    [{ command: 5 }, 'command: expected a string, got 5'],
    [{ command: 'true', cwd: '/' }, 'cwd: not known here, expected one of command'],
    ['true', 'input: expected an object, got "true"'],
  ])('%j is answered with an error', async (input, error) => {
    const result = await makeTool().execute(input);
    expect(JSON.parse(textOf(result))).toEqual({ error });
    expect(result).toMatchObject({ isError: true, details: { failure: 'input' } });
  });
});

describe('Output Schema', () => {
  const commands = ['echo hi', 'exit 3', 'no-such-program', ' ', 'kill -9 $$'];

  test.each(commands)('the answer to `%s` is what the schema says', async (command) => {
    const tool = makeTool();
    const { structured } = await tool.execute({ command });
    const accepts = new Ajv().compile(tool.outputSchema);
    expect(accepts(structured), JSON.stringify(accepts.errors)).toBe(true);
  });

  test('it refuses an answer that is neither of the two', () => {
    const accepts = new Ajv().compile(makeTool().outputSchema);
    expect(accepts({ stdout: '', exitCode: 0 })).toBe(false);
    expect(accepts({ stdout: '', stderr: '', exitCode: 0, output: '' })).toBe(false);
  });

  test.each(commands)('to `%s` the model reads the same as the runtime', async (command) => {
    const result = await makeTool().execute({ command });
    expect(JSON.parse(textOf(result))).toEqual(result.structured);
  });
});

describe('Command Execution', () => {
  test('bash runs the command', async () => {
    const answer = await answerOf(makeTool(), 'a=(1 2); [[ $a == 1 ]] && echo $0');
    expect(answer).toEqual({ stdout: 'bash\n', stderr: '', exitCode: 0 });
  });

  test('stdout and stderr are apart', async () => {
    const answer = await answerOf(makeTool(), 'echo a; echo b >&2; echo c');
    expect(answer).toEqual({ stdout: 'a\nc\n', stderr: 'b\n', exitCode: 0 });
  });

  test('the answer comes when the command is complete', async () => {
    const answer = await answerOf(makeTool(), 'echo a; sleep 0.3; echo b');
    expect(answer).toMatchObject({ stdout: 'a\nb\n' });
  });

  test('the exit code comes with the output', async () => {
    const answer = await answerOf(makeTool(), 'echo a; exit 3');
    expect(answer).toEqual({ stdout: 'a\n', stderr: '', exitCode: 3 });
  });
});

describe('Timeout', () => {
  test('it is 30 seconds unless the tool is given another', async () => {
    const result = await makeTool().execute({ command: 'true' });
    expect(result.details.timeoutSeconds).toBe(30);
  });

  test('the process is killed, and the answer is a timeout error with the output so far', async () => {
    const pidFile = folder.file('pid');
    const tool = makeTool({ timeout: 0.5 });
    const result = await tool.execute({
      command: `echo a; echo b >&2; echo $$ >${pidFile}; sleep 60`,
    });
    expect(result.structured).toEqual({
      error:
        'Command timed out after 0.5 seconds\nFor more time, start it with `&` and its output in a file, and read the file later.',
      stdout: 'a\n',
      stderr: 'b\n',
    });
    expect(result).toMatchObject({ isError: true, details: { failure: 'timedOut' } });
    const { stdout } = JSON.parse(textOf(await makeTool().execute({ command: `cat ${pidFile}` })));
    await eventually(() => expect(isGone(Number(stdout))).toBe(true));
  });
});

describe('Working Directory', () => {
  test("it is the harness's", async () => {
    expect(await answerOf(makeTool(), 'pwd -P')).toMatchObject({ stdout: `${process.cwd()}\n` });
  });

  testOfThisProcess('it is the one that the harness is in at the time of the call', async () => {
    const tool = makeTool();
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder.path);
    try {
      expect(await answerOf(tool, 'pwd')).toMatchObject({ stdout: `${folder.path}\n` });
    } finally {
      cwd.mockRestore();
    }
  });

  testOfThisProcess('it is an error when the harness is in one that was removed', async () => {
    const tool = makeTool();
    const cwd = vi.spyOn(process, 'cwd').mockImplementation(() => {
      throw new Error('ENOENT: no such file or directory, uv_cwd');
    });
    try {
      expect(await answerOf(tool, 'pwd')).toEqual({
        error: "Working directory does not exist: the host's own was removed",
      });
    } finally {
      cwd.mockRestore();
    }
  });

  test('another one can be given', async () => {
    const tool = makeTool({ cwd: folder.path });
    expect(await answerOf(tool, 'pwd')).toMatchObject({ stdout: `${folder.path}\n` });
  });

  test('nothing is isolated: commands reach other directories', async () => {
    writeFileSync(folder.file('there'), 'x');
    expect(
      await answerOf(makeTool({ cwd: '/' }), `cat ${quote(folder.file('there'))}`),
    ).toMatchObject({
      stdout: 'x',
    });
  });

  test('a directory change does not last', async () => {
    const tool = makeTool({ cwd: folder.path });
    await tool.execute({ command: 'cd /' });
    expect(await answerOf(tool, 'pwd')).toMatchObject({ stdout: `${folder.path}\n` });
  });
});

describe('Environment', () => {
  testOfThisProcess("the harness's variables are inherited, secrets too", async () => {
    vi.stubEnv('PLAIN_TEST_API_KEY', 'k');
    try {
      expect(await answerOf(makeTool(), 'echo $PLAIN_TEST_API_KEY')).toMatchObject({
        stdout: 'k\n',
      });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('no variable is injected', async () => {
    const own = new Set([
      ...Object.keys(process.env),
      'PWD',
      'OLDPWD',
      'SHLVL',
      '_',
      'FORKLINE_MARK',
    ]);
    const { stdout = '' } = await answerOf(makeTool(), 'env -0 | cut -z -d= -f1 | tr "\\0" "\\n"');
    const names = stdout.trimEnd().split('\n');
    expect(names).toContain('PATH');
    expect(names.filter((name) => !own.has(name))).toEqual([]);
  });

  test('secrets stay out when the tool is told so', async () => {
    vi.stubEnv('PLAIN_TEST_API_KEY', 'k');
    try {
      const tool = makeTool({ inheritEnv: 'scrubbed' });
      expect(await answerOf(tool, 'echo "<$PLAIN_TEST_API_KEY>"')).toMatchObject({
        stdout: '<>\n',
      });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('settings for non-interactive programs are set when the option asks for them', async () => {
    const tool = makeTool({ nonInteractive: true, inheritEnv: 'none' });
    expect(await answerOf(tool, 'echo $PAGER $CI')).toMatchObject({ stdout: 'cat true\n' });
  });
});

describe('Examples', () => {
  test('Simple Command', async () => {
    expect(await answerOf(makeTool(), "echo 'hello world'")).toEqual({
      stdout: 'hello world\n',
      stderr: '',
      exitCode: 0,
    });
  });

  test('Command with Error', async () => {
    expect(await answerOf(makeTool(), `ls ${quote(folder.file('nowhere'))}`)).toEqual({
      stdout: '',
      stderr: expect.stringMatching(/^ls: .*\/nowhere.*: No such file or directory\n$/),
      exitCode: expect.toSatisfy((code) => code > 0),
    });
  });

  test('Piped Command', async () => {
    writeFileSync(folder.file('file.txt'), `${'pattern\n'.repeat(42)}other\n`);
    const tool = makeTool({ cwd: folder.path });
    expect(await answerOf(tool, 'cat file.txt | grep pattern | wc -l')).toEqual({
      stdout: '42\n',
      stderr: '',
      exitCode: 0,
    });
  });
});

test.each([
  [{ timeout: 0 }, 'timeout: expected a number from 0.001, got 0'],
  [{ maxStdoutBytes: 0 }, 'maxStdoutBytes: expected a whole number from 1 to 268435456, got 0'],
  [{ maxStderrBytes: 1.5 }, 'maxStderrBytes: expected a whole number from 1 to 268435456, got 1.5'],
  [{ maxStderrBytes: 2 ** 28 + 1 }, 'from 1 to 268435456, got 268435457'],
  [{ log: '' }, 'log: expected a path or an interaction log, got ""'],
])('the options %j are refused', (options, message) => {
  expect(() => createBashTool({ contract: 'plain', ...options })).toThrow(message);
});
