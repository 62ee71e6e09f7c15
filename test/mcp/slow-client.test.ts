import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { BashTool } from '../../src/index.js';
import { serveStdio } from '../../src/mcp/index.js';
import { initialize, openSession, rpc, start, useServices } from '../support/mcp-http.js';
import { toolOf } from '../support/mcp-tool.js';

const serve = useServices();

const CHUNK = 'x'.repeat(64 * 1024);
const CHUNKS = 500;
/** What may wait on its way to a client that takes nothing: the kernel's buffers, mostly. */
const MUCH = 16_000_000;

/** A tool that prints 32 MB, and tells when it has. */
function flood(): { tool: BashTool; printed: Promise<void> } {
  let done: () => void = () => {};
  const printed = new Promise<void>((resolve) => {
    done = resolve;
  });
  const tool = toolOf('bash', async (_input, { onOutput }) => {
    for (let count = 0; count < CHUNKS; count += 1) {
      onOutput?.({ stream: 'stdout', text: CHUNK, droppedBytes: 0 });
      await setImmediate();
    }
    done();
    return { content: [{ type: 'text', text: 'THE END' }] };
  });
  return { tool, printed };
}

const call = rpc(2, 'tools/call', { name: 'bash', arguments: {}, _meta: { progressToken: 1 } });

/** All that a client reads until the response, beginning now. */
async function readOn(stream: Readable): Promise<string> {
  let text = '';
  for await (const part of stream.iterator({ destroyOnReturn: false })) {
    text += part;
    if (text.includes('THE END')) break;
  }
  return text;
}

function expectBounded(text: string): void {
  expect(text.length).toBeLessThan(MUCH);
  const skipped = [...text.matchAll(/\[(\d+) bytes skipped\]/g)];
  const missing = skipped.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
  // Nothing is lost without a word.
  expect(missing + (text.match(/x{65536}/g) ?? []).length * CHUNK.length).toBe(
    CHUNKS * CHUNK.length,
  );
}

test('over HTTP, output for a client that does not read is bounded, and it is told', async () => {
  const { tool, printed } = flood();
  const service = await serve({}, () => tool);
  const headers = await openSession(service);
  const [incoming] = (await once(start(service, { headers, body: call }), 'response')) as [
    IncomingMessage,
  ];
  await printed;
  expectBounded(await readOn(incoming));
});

test('over stdio, output for a client that does not read is bounded, and it is told', async () => {
  const { tool, printed } = flood();
  const streams = { input: new PassThrough(), output: new PassThrough() };
  const service = serveStdio(tool, { streams });
  streams.input.write(`${initialize}\n${rpc(undefined, 'notifications/initialized')}\n${call}\n`);
  await printed;
  expectBounded(await readOn(streams.output));
  streams.input.end();
  await service.closed;
});

test('a service on streams of its own leaves standard output alone', async () => {
  const { write } = process.stdout;
  const streams = { input: new PassThrough(), output: new PassThrough() };
  const service = serveStdio(flood().tool, { streams });
  expect(process.stdout.write).toBe(write);
  await service.close();
});

test('a service has ended when its tool has been disposed of', async () => {
  let disposed = false;
  const tool = toolOf('bash', async () => ({}), {
    dispose: async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      disposed = true;
    },
  });
  const streams = { input: new PassThrough(), output: new PassThrough() };
  const service = serveStdio(tool, { streams });
  streams.input.end();
  await service.closed;
  expect(disposed).toBe(true);
});
