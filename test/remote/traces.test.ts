import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { context, propagation, type Span, trace } from '@opentelemetry/api';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectFleet } from '../../src/fleet/index.js';
import { connect } from '../../src/remote/index.js';
import { FRAME } from '../../src/remote/wire/frames.js';
import { MESSAGES, type MessageRow } from '../../src/remote/wire/messages.js';
import { PROTOCOL } from '../../src/remote/wire/protocol.js';
import { program } from '../support/cli.js';
import { FAR_BUILT, STATIC_FAR } from '../support/far.js';
import { root } from '../support/house.js';
import { leavesNothingBehind, makeFolder } from '../support/leftovers.js';
import { nodeClient, rightMessage } from '../support/messages.js';
import { startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { failureOf, printed } from '../support/results.js';

// Traces of OpenTelemetry across a line, with its own SDK on both sides.

leavesNothingBehind();
const folder = makeFolder();
const setup = pathToFileURL(join(root, 'test/support/hosts/spans.mjs')).href;
const FAR = [process.execPath, '--import', setup, program, 'serve', '--stdio'];
const STATE = 'vendor=some';

/** A span that ended on the far side. */
interface FarSpan {
  readonly traceId: string;
  readonly parent?: string;
  readonly state?: string;
  readonly attributes: {
    readonly command: string;
    readonly outcome?: string;
    readonly code?: number;
  };
  readonly thrown: readonly string[];
}

function spansIn(file: string): FarSpan[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as FarSpan);
}

/** Waits for the span of a command, of which there must be one alone. */
async function spanOf(file: string, command: string): Promise<FarSpan> {
  const found = () => spansIn(file).filter(({ attributes }) => attributes.command === command);
  await eventually(() => expect(found()).toHaveLength(1));
  return found()[0] as FarSpan;
}

const provider = new NodeTracerProvider();
beforeAll(() => provider.register());
afterAll(async () => {
  await provider.shutdown();
  trace.disable();
  context.disable();
  propagation.disable();
});

/** Calls within a span of this side. */
async function within<T>(call: () => Promise<T>): Promise<{ readonly span: Span; readonly is: T }> {
  return trace.getTracer('near').startActiveSpan('caller', async (span) => {
    try {
      return { span, is: await call() };
    } finally {
      span.end();
    }
  });
}

const parentOf = (span: Span) => ({
  traceId: span.spanContext().traceId,
  parent: span.spanContext().spanId,
});

describe('spans of a far side are children of the span of the call', () => {
  const file = join(folder, 'far');
  const reach = () => connect({ command: FAR, env: { ...process.env, SPANS: file } });

  test('of run(), spawn() and a tool, two calls at once too', async () => {
    await using far = await reach();
    const first = await within(() => far.run('exit 3'));
    expect(await spanOf(file, 'exit 3')).toMatchObject({
      ...parentOf(first.span),
      attributes: { outcome: 'exited', code: 3 },
    });
    const live = await within(async () => (await far.spawn('exit 4')).result);
    expect(await spanOf(file, 'exit 4')).toMatchObject(parentOf(live.span));
    const [one, two] = await Promise.all([
      within(() => far.run('sleep 0.1; true one')),
      within(() => far.run('true two')),
    ]);
    expect(await spanOf(file, 'sleep 0.1; true one')).toMatchObject(parentOf(one.span));
    expect(await spanOf(file, 'true two')).toMatchObject(parentOf(two.span));
    const bash = await far.createBashTool({ contract: 'session', cwd: '/tmp' });
    const called = await within(() => bash.execute({ command: 'true of a tool' }));
    const ofTool = () =>
      spansIn(file).filter(({ attributes }) => attributes.command.includes('true of a tool'));
    await eventually(() => expect(ofTool()).toHaveLength(1));
    expect(ofTool()[0]).toMatchObject(parentOf(called.span));
  });

  test('with what vendors add', async () => {
    await using far = await reach();
    const headers = { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`, tracestate: STATE };
    const caller = propagation.extract(context.active(), headers);
    await context.with(caller, () => far.run('true with state'));
    expect(await spanOf(file, 'true with state')).toMatchObject({
      traceId: '1'.repeat(32),
      parent: '2'.repeat(16),
      state: STATE,
    });
  });

  test('and have none where the call has none', async () => {
    await using far = await reach();
    await far.run('true alone');
    const span = await spanOf(file, 'true alone');
    expect(span.parent).toBeUndefined();
    expect(span.attributes).toMatchObject({ outcome: 'exited', code: 0 });
  });

  test('of what could not be started, and of what ran out of time', async () => {
    await using far = await reach();
    const cwd = join(folder, 'nope');
    const { span } = await within(() => failureOf(far.run('true nowhere', { cwd })));
    expect(await spanOf(file, 'true nowhere')).toMatchObject({
      ...parentOf(span),
      thrown: [expect.stringContaining(cwd)],
    });
    const late = await within(() => far.run('sleep 30', { timeoutMs: 100 }));
    expect(await spanOf(file, 'sleep 30')).toMatchObject({
      ...parentOf(late.span),
      attributes: { outcome: 'timedOut' },
    });
  });
});

test('a context that is not valid is passed over, and the command runs', async () => {
  const open = MESSAGES.find(({ frame, of }) => frame === 'open' && of === 'command') as MessageRow;
  const client = nodeClient();
  client.say(FRAME.hello, 0, { protocol: PROTOCOL, version: '0.0.0' });
  const call = { ...rightMessage(open), line: 'true', hasInput: false };
  const odd = ['', 'odd', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`, 'x'.repeat(100_000)];
  for (const [index, traceparent] of odd.entries()) {
    client.say(FRAME.open, index + 1, { ...call, trace: { traceparent, tracestate: 'x' } });
  }
  for (const index of odd.keys()) {
    await eventually(() => expect(client.endOf(index + 1)).toHaveProperty('ran'));
  }
  await client.leave();
});

test('a far side without Node passes over the context', where(FAR_BUILT), async () => {
  await using far = await connect({ command: [STATIC_FAR, 'serve', '--stdio'] });
  const { is } = await within(() => far.run('echo ran'));
  expect(printed(is)).toBe('ran\n');
});

describe('over a broker', where(installed('nats-server')), async () => {
  const nats = await useNats(folder);

  test('spans of a worker are children, too', async () => {
    const file = join(folder, 'worker');
    await startWorker(nats.url, [], { SPANS: file, NODE_OPTIONS: `--import ${setup}` });
    const fleet = await connectFleet({ servers: nats.url });
    const { span } = await within(() => fleet.run('exit 5'));
    expect(await spanOf(file, 'exit 5')).toMatchObject(parentOf(span));
    await fleet.dispose();
  });
});
