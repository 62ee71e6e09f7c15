import { expect, test } from 'vitest';
import {
  artifactResolver,
  createArtifactStore,
  createBashTool,
  createInteractionLog,
  createLineFilter,
  createLocalResolver,
  createOwner,
  createTtyUi,
  createUrlRegistry,
  InputError,
  run,
  runInConsole,
  spawn,
  TaskManager,
} from '../src/index.js';
import { createMcpServer, openCallLog, serveHttp, serveStdio } from '../src/mcp/index.js';
import { toolOf } from './support/mcp-tool.js';
import { failureOf } from './support/results.js';

/** For callers without a type checker: what is exported, as a function of anything. */
type Loose = (...given: readonly unknown[]) => unknown;
const loose = (made: unknown): Loose => made as Loose;

const tool = toolOf('bash', async () => ({}));
const makeTool = (contract: string) => (options: object) =>
  loose(createBashTool)({ contract, cwd: '/', ...options });
const http = (options: unknown) => loose(serveHttp)(() => tool, options);

/** What is called, with what, and the option that its error must name. */
const cases: (readonly [what: string, call: () => unknown, option: string])[] = [];

function refuses(what: string, call: Loose, ...given: readonly (readonly [unknown, string])[]) {
  for (const [options, option] of given) {
    const shown = JSON.stringify(options, (_, value) =>
      typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
    );
    cases.push([`${what}(${shown})`, () => call(options), option]);
  }
}

const NOT_OPTIONS: readonly (readonly [unknown, string])[] = [
  [null, 'options'],
  [5, 'options'],
  ['x', 'options'],
];

refuses('run', (options) => loose(run)('true', options), ...NOT_OPTIONS);
refuses('spawn', (options) => loose(spawn)('true', options), ...NOT_OPTIONS);
refuses('runInConsole', (options) => loose(runInConsole)('true', options), ...NOT_OPTIONS, [
  undefined,
  'options',
]);
refuses(
  'createBashTool',
  loose(createBashTool),
  ...NOT_OPTIONS,
  [undefined, 'options'],
  [{ contract: 'nope' }, 'contract'],
);
refuses(
  'workspace',
  makeTool('workspace') as Loose,
  [{ timeout: { default: Number.NaN } }, 'timeout.default'],
  [{ timeout: { default: '5' } }, 'timeout.default'],
  [{ timeout: { min: -1 } }, 'timeout.min'],
  [{ timeout: { min: 5, max: 4 } }, 'timeout.max'],
  [{ timeout: { max: Number.POSITIVE_INFINITY } }, 'timeout.max'],
  [{ timeout: 5 }, 'timeout'],
  [{ async: 'yes' }, 'async'],
  [{ autoBackground: 5 }, 'autoBackground'],
  [{ autoBackground: { afterMs: 'soon' } }, 'autoBackground.afterMs'],
  [{ tasks: 1 }, 'tasks'],
  [{ urls: {} }, 'urls'],
  [{ clientTerminal: 5 }, 'clientTerminal'],
  [{ clientTerminal: { connection: { createTerminal() {} }, sessionId: 's' }, umask: 0 }, 'umask'],
  [{ interceptor: 5 }, 'interceptor'],
  [{ interceptor: { enabled: 'yes', tools: [] } }, 'interceptor.enabled'],
  [{ interceptor: { enabled: true, tools: [], rules: 5 } }, 'interceptor.rules'],
  [{ headBytes: Number.NaN }, 'headBytes'],
  [{ tailBytes: '1' }, 'tailBytes'],
);
for (const contract of ['workspace', 'modes', 'session', 'plain']) {
  refuses(
    contract,
    makeTool(contract) as Loose,
    [{ cwd: 5 }, 'cwd'],
    [{ graceMs: Number.NaN }, 'graceMs'],
    [{ graceMs: '5' }, 'graceMs'],
    [{ env: 5 }, 'env'],
    [{ scrub: 'x' }, 'scrub'],
    [{ shell: 'bash' }, 'shell'],
    [{ inheritEnv: 'some' }, 'inheritEnv'],
    [{ log: 5 }, 'log'],
    [{ log: {} }, 'log'],
    [{ logger: {} }, 'logger'],
  );
}
refuses(
  'modes',
  makeTool('modes') as Loose,
  [{ timeouts: 5 }, 'timeouts'],
  [{ timeouts: { slow: Number.NaN } }, 'timeouts.slow'],
  [{ maxOutputBytes: 0 }, 'maxOutputBytes'],
);
refuses(
  'session',
  makeTool('session') as Loose,
  [{ timeoutMs: Number.NaN }, 'timeoutMs'],
  [{ maxTimeoutMs: '1' }, 'maxTimeoutMs'],
);
refuses(
  'plain',
  makeTool('plain') as Loose,
  [{ timeout: Number.NaN }, 'timeout'],
  [{ nonInteractive: 'yes' }, 'nonInteractive'],
);
refuses(
  'serveHttp',
  http,
  ...NOT_OPTIONS,
  [{ idleMs: 'soon' }, 'idleMs'],
  [{ idleMs: Number.NaN }, 'idleMs'],
  [{ lostMs: -1 }, 'lostMs'],
  [{ maxSessions: -1 }, 'maxSessions'],
  [{ maxSessions: 1.5 }, 'maxSessions'],
  [{ maxMessageBytes: 'many' }, 'maxMessageBytes'],
  [{ port: 65_536 }, 'port'],
  [{ port: '80' }, 'port'],
  [{ token: 5 }, 'token'],
  [{ token: '' }, 'token'],
  [{ logger: {} }, 'logger'],
  [{ log: {} }, 'log'],
  [{ name: 5 }, 'name'],
);
refuses('serveHttp of', loose(serveHttp), [undefined, 'createTool'], [{}, 'createTool']);
refuses('serveStdio', (options) => loose(serveStdio)(tool, options), ...NOT_OPTIONS);
refuses('serveStdio of', loose(serveStdio), [undefined, 'tool'], [{}, 'tool']);
refuses('createMcpServer', (options) => loose(createMcpServer)(tool, options), ...NOT_OPTIONS, [
  { log: 5 },
  'log',
]);
refuses('createMcpServer', (options) => loose(createMcpServer)(tool, options), [
  { maxCharacters: 999 },
  'maxCharacters',
]);
refuses('createMcpServer of', loose(createMcpServer), [null, 'tool'], [{}, 'tool']);
refuses('openCallLog', loose(openCallLog), [undefined, 'path'], [5, 'path'], ['/x', 'warn']);
refuses(
  'TaskManager',
  (options) => new TaskManager(options as object),
  ...NOT_OPTIONS,
  [{ keepMs: 'long' }, 'keepMs'],
  [{ maxRunning: 0 }, 'maxRunning'],
  [{ onEnd: 5 }, 'onEnd'],
);
refuses('createArtifactStore', loose(createArtifactStore), ...NOT_OPTIONS, [
  { maxAgeMs: Number.NaN },
  'maxAgeMs',
]);
refuses('createInteractionLog', loose(createInteractionLog), ...NOT_OPTIONS, [
  { path: '/x', flushMs: Number.NaN },
  'flushMs',
]);
refuses('createLocalResolver', loose(createLocalResolver), ...NOT_OPTIONS, [{}, 'root']);
refuses('createUrlRegistry', loose(createUrlRegistry), [null, 'resolvers'], [{ x: 5 }, 'resolver']);
refuses('createLineFilter', loose(createLineFilter), ...NOT_OPTIONS, [
  { name: 'x', noise: 5 },
  'noise',
]);
refuses('createTtyUi', loose(createTtyUi), [undefined, 'input'], [{}, 'input']);
refuses('artifactResolver', loose(artifactResolver), [undefined, 'store'], [5, 'store']);
refuses(
  'owner.dispose',
  (graceMs) => loose((given: number) => createOwner().dispose(given))(graceMs),
  [{}, 'graceMs'],
  [Number.NaN, 'graceMs'],
  [-1, 'graceMs'],
  [null, 'graceMs'],
);

test.each(cases)('C4: %s is refused by name', async (_, call, option) => {
  const error = await failureOf(Promise.resolve().then(call));
  expect(error).toBeInstanceOf(InputError);
  expect((error as Error).message).toMatch(new RegExp(`^${option.replace('.', '\\.')}: expected `));
});

test('C4: an owner that was not disposed of for a wrong time still can be', async () => {
  const owner = createOwner();
  await failureOf(loose((given: number) => owner.dispose(given))({}) as Promise<unknown>);
  expect(owner.isDisposed).toBe(false);
  await owner.dispose();
  expect(owner.isDisposed).toBe(true);
});

test('C4: a live command is given only what can be written, and ended as it can be', async () => {
  const live = await spawn('cat', { stdin: 'pipe' });
  const write = loose((data: string) => live.write(data));
  for (const data of [5, null, undefined, ['x'], new Uint16Array(2)]) {
    expect(await failureOf(Promise.resolve().then(() => write(data)))).toMatchObject({
      name: 'InputError',
      message: expect.stringMatching(/^data: expected a string or a Uint8Array, got /),
    });
  }
  const kill = loose((options: object) => live.kill(options));
  for (const [options, option] of [
    [null, 'options'],
    [5, 'options'],
    [{ graceMs: Number.NaN }, 'graceMs'],
  ] as const) {
    const error = await failureOf(Promise.resolve().then(() => kill(options)));
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message).toMatch(new RegExp(`^${option}: expected `));
  }
  await live.write('x');
  live.end();
  expect((await live.result).outcome).toEqual({ kind: 'exited', exitCode: 0 });
});

test('C4: null for an option that has a default is as if it were left out', async () => {
  const nothing = { logger: null, log: null, name: null, instructions: null, token: null };
  const service = await serveHttp(() => tool, nothing as unknown as undefined);
  expect(service.token).toMatch(/^[\w-]{43}$/);
  await service.close();
  const server = loose(createMcpServer)(tool, nothing);
  expect(server).toHaveProperty('connect');
  const store = loose(createArtifactStore)({ removeOnDispose: null, maxAgeMs: null });
  expect(store).toHaveProperty('dispose');
  const bash = createBashTool({
    contract: 'workspace',
    cwd: '/',
    ...({ clientTerminal: null, logger: null, async: null, ci: null, headBytes: null } as object),
  });
  expect(bash.description).toContain('artifact://N');
  await bash.dispose();
});
