import { expect, test } from 'vitest';
import {
  CONTRACT_NAMES,
  createArtifactStore,
  createBashTool,
  createInteractionLog,
  createLineFilter,
  createLocalResolver,
  InputError,
  run,
  runInConsole,
  spawn,
  TaskManager,
} from '../src/index.js';
import { createMcpServer, serveHttp, serveStdio } from '../src/mcp/index.js';
import { cli } from './support/cli.js';
import { toolOf } from './support/mcp-tool.js';
import { failureOf } from './support/results.js';

/** For callers without a type checker: what is exported, as a function of anything. */
type Loose = (...given: readonly unknown[]) => unknown;
const loose = (made: unknown): Loose => made as Loose;

const ui = { openConsole: () => {} };
const tool = (contract: string) => (options: object) =>
  loose(createBashTool)({ contract, cwd: '/', ...options });
const mcpTool = toolOf('bash', async () => ({}));
const rule = { pattern: 'x', tool: 'x', message: 'x' };

const cases: readonly (readonly [string, (options: object) => unknown, object, string])[] = [
  ...[
    { timeout: 100 },
    { maxBuffer: 1 },
    { timeoutMS: 100 },
    { spill: { path: '/x', maxbytes: 1 } },
    { pty: { colums: 80 } },
  ].map((options, index) => {
    const right = [
      'timeout: not known here, the time limit is timeoutMs, in milliseconds',
      'maxBuffer: not known here, output of any length is fine: headBytes and tailBytes say how much of it is kept',
      'timeoutMS: not known here, did you mean timeoutMs?',
      'spill.maxbytes: not known here, did you mean maxBytes?',
      'pty.colums: not known here, did you mean columns?',
    ][index];
    return ['run', (given: object) => loose(run)('true', given), options, right ?? ''] as const;
  }),
  [
    'run',
    (given) => loose(run)('true', given),
    { uid: 5 },
    'uid: not known here, expected one of cwd, timeoutMs, graceMs, signal, streams, headBytes, tailBytes, spill, encoding, input, pty, onOutput, owner, shell, followDirectory, priority, startsAtOnce, umask, sandbox, undo, onDenied, onExec, limits, env, inheritEnv',
  ],
  [
    'spawn',
    (given) => loose(spawn)('true', given),
    { onOutput: () => {} },
    'onOutput: not known here, iterate over the process to get its output as it comes',
  ],
  [
    'spawn',
    (given) => loose(spawn)('true', given),
    { Encoding: 'text' },
    'Encoding: not known here, did you mean encoding?',
  ],
  [
    'runInConsole',
    (given) => loose(runInConsole)('true', { ui, ...given }),
    { cdw: '/' },
    'cdw: not known here, did you mean cwd?',
  ],
  [
    'workspace',
    tool('workspace'),
    { minimiser: true },
    'minimiser: not known here, did you mean minimizer?',
  ],
  [
    'workspace',
    tool('workspace'),
    { timeout: { maximum: 5 } },
    'timeout.maximum: not known here, expected one of default, min, max',
  ],
  [
    'workspace',
    tool('workspace'),
    { autoBackground: { afterMS: 5 } },
    'autoBackground.afterMS: not known here, did you mean afterMs?',
  ],
  [
    'workspace',
    tool('workspace'),
    { minimizer: { repeat: true } },
    'minimizer.repeat: not known here, did you mean repeats?',
  ],
  [
    'workspace',
    tool('workspace'),
    { interceptor: { enable: true, tools: [] } },
    'interceptor.enable: not known here, did you mean enabled?',
  ],
  [
    'workspace',
    tool('workspace'),
    { interceptor: { enabled: true, tools: [], rules: [{ ...rule, needs: { outputs: 'file' } }] } },
    'interceptor.rules[0].needs.outputs: not known here, did you mean output?',
  ],
  [
    'workspace',
    tool('workspace'),
    { clientTerminal: { connection: {}, sessionId: 'x', poll: 5 } },
    'clientTerminal.poll: not known here, did you mean pollMs?',
  ],
  [
    'workspace',
    tool('workspace'),
    { shellSnapshot: { rcfile: '/x' } },
    'shellSnapshot.rcfile: not known here, did you mean rcFile?',
  ],
  [
    'modes',
    tool('modes'),
    { timeouts: { fast: 5 } },
    'timeouts.fast: not known here, expected one of default, slow, background',
  ],
  ['session', tool('session'), { timeout: 5 }, 'timeout: not known here, did you mean timeoutMs?'],
  ['plain', tool('plain'), { ci: true }, 'ci: not known here, use nonInteractive'],
  [
    'createLocalResolver',
    loose(createLocalResolver),
    { root: '/', rooot: '/' },
    'rooot: not known here, did you mean root?',
  ],
  [
    'createInteractionLog',
    loose(createInteractionLog),
    { path: '/x', flush: 5 },
    'flush: not known here, did you mean flushMs?',
  ],
  [
    'createLineFilter',
    loose(createLineFilter),
    { name: 'x', noise: [], program: ['x'] },
    'program: not known here, did you mean programs?',
  ],
  [
    'createArtifactStore',
    loose(createArtifactStore),
    { dir: '/x' },
    'dir: not known here, did you mean directory?',
  ],
  [
    'ArtifactStore.read',
    readArtifact,
    { unit: 'lines', start: 1, End: 2 },
    'range.End: not known here, did you mean end?',
  ],
  [
    'TaskManager',
    (given) => new TaskManager(given),
    { maxJobs: 3 },
    'maxJobs: not known here, expected one of maxRunning, keepMs, maxEnded, onEnd, onEvent, watch, ids, name, notify',
  ],
  [
    'createMcpServer',
    (given) => loose(createMcpServer)(mcpTool, given),
    { instruction: 'x' },
    'instruction: not known here, did you mean instructions?',
  ],
  [
    'serveStdio',
    (given) => loose(serveStdio)(mcpTool, given),
    { port: 1 },
    'port: not known here, expected one of name, instructions, structured, maxCharacters, log, logger, streams',
  ],
  [
    'serveStdio',
    (given) => loose(serveStdio)(mcpTool, given),
    { streams: { stdin: 1, stdout: 2 } },
    'streams.stdin: not known here, expected one of input, output',
  ],
  [
    'serveHttp',
    (given) => loose(serveHttp)(() => mcpTool, given),
    { idle: 5 },
    'idle: not known here, did you mean idleMs?',
  ],
];

async function readArtifact(range: object): Promise<unknown> {
  const store = createArtifactStore();
  try {
    const { id } = await store.save('bash', 'x');
    return await loose(store.read.bind(store))(id, range);
  } finally {
    await store.dispose();
  }
}

test.each(cases.map(([what, call, options, message]) => ({ what, call, options, message })))(
  'C1: $what refuses an option that it does not know: $message',
  async ({ call, options, message }) => {
    const error = await failureOf(Promise.resolve().then(() => call(options)));
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message).toBe(message);
  },
);

test.each(CONTRACT_NAMES)(
  'C1: a call of %s that would be cancelled by an abortSignal is refused',
  async (contract) => {
    const bash = createBashTool({ contract, cwd: '/' });
    const companions = bash.companions.map((each) => each.execute);
    for (const execute of [bash.execute, ...companions]) {
      const call = { abortSignal: new AbortController().signal };
      const error = await failureOf(loose(execute)({ command: 'true' }, call) as Promise<unknown>);
      expect(error).toMatchObject({
        kind: 'input',
        message: 'abortSignal: not known here, pass it as signal',
      });
    }
    await bash.dispose();
  },
);

test('C1: what stands for nothing is no unknown option, what every object inherits is one', async () => {
  await run('true', JSON.parse('{"timeout": null}') as object);
  const call = Promise.resolve().then(() => loose(run)('true', { constructor: 1 }));
  expect((await failureOf(call)) as Error).toMatchObject({
    message: expect.stringMatching(/^constructor: not known here, expected one of cwd, /),
  });
});

test('C1: schema --options refuses an option that a contract does not know', async () => {
  const { code, stderr } = await cli('schema', '--contract', 'modes', '--options', '{"nope":1}');
  expect(stderr).toContain('nope: not known here, expected one of ');
  expect(code).not.toBe(0);
});

test('C1: the name of an unknown option stays on one line, whatever it is', async () => {
  const error = await failureOf(
    Promise.resolve().then(() => loose(run)('true', { [`a\nb${'c'.repeat(99)}`]: 1 })),
  );
  expect((error as Error).message).toMatch(/^"a\\nbc+…": not known here, expected one of cwd, /);
});

test.each([
  [() => loose(run)('echo \ud800'), 'command'],
  [() => loose(run)('true', { env: { A: '\udfff' } }), 'env.A'],
  [() => loose(run)('true', { env: { '\udfff': 'a' } }), 'env'],
  [() => loose(run)('cat', { input: 'a\ud800' }), 'input'],
  [() => loose(run)('true', { cwd: '/\ud800' }), 'cwd'],
  [() => loose(spawn)('true', { env: { A: '\udfff' } }), 'env.A'],
  [() => tool('modes')({ env: { A: '\udfff' } }), 'env.A'],
  [() => tool('workspace')({ commandPrefix: '\udfff' }), 'commandPrefix'],
])('B19: half of a character is no text for a command: %#', async (call, name) => {
  const error = await failureOf(Promise.resolve().then(call));
  expect(error).toBeInstanceOf(InputError);
  expect((error as Error).message).toMatch(
    new RegExp(`^${name}: expected text without lone surrogates, got one at index \\d$`),
  );
});

test('B18: an option that is null is left out, as undefined is', async () => {
  const nothing = { signal: null, timeoutMs: null, cwd: null, env: null, input: null, pty: null };
  const result = await loose(run)('echo hi', { ...nothing, spill: null, nope: undefined });
  expect(result).toMatchObject({ outcome: { kind: 'exited' }, output: { text: 'hi\n' } });
  const made = loose(createBashTool)({
    contract: 'workspace',
    cwd: '/',
    timeout: { default: null, min: null },
    artifacts: null,
    minimizer: null,
    clientTerminal: null,
    ui: null,
    tasks: null,
    autoBackground: null,
    interceptor: null,
    urls: null,
    shellSnapshot: null,
    commandPrefix: null,
    logger: null,
    scrub: null,
    shell: null,
  }) as ReturnType<typeof createBashTool>;
  const call = { signal: null, onUpdate: null, onOutput: null };
  await loose(made.execute)({ command: 'true' }, call);
  await made.dispose();
});
