import { expect, test } from 'vitest';
import { useRawServers } from '../support/mcp.js';

// As soon as the server listens, it is full of code that logs.
const noisy = `setInterval(() => {
  if (process.stdin.listenerCount('data') === 0) return;
  console.log('noise from console.log');
  process.stdout.write('noise to stdout\\n');
  process.emitWarning('noise as a warning');
}, 5).unref()`;
const start = useRawServers({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(noisy)}`,
});

test('I5: standard output has messages only, even if the host logs to it', async () => {
  const server = await start();
  const id = server.call('for i in 1 2 3; do echo $i; sleep 0.2; done', {
    _meta: { progressToken: 1 },
  });
  await server.expect((message) => message.id === id);
  server.child.stdin?.end();
  expect(await server.ended).toEqual({ code: 0, signal: null });
  for (const line of server.lines) expect(JSON.parse(line)).toHaveProperty('jsonrpc', '2.0');
  for (const noise of ['noise from console.log', 'noise to stdout', 'noise as a warning']) {
    expect(server.stderr()).toContain(noise);
  }
});
