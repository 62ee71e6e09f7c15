import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/index.js';
import { read, root } from '../support/house.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { failureOf } from '../support/results.js';

leavesNothingBehind();

/** What a span was told, in the order in which the spans have ended. */
const ended: object[] = [];

/** As much of a tracer of `@opentelemetry/api` as the example calls. */
const tracer = {
  startSpan(name: string) {
    const span = { name, attributes: {}, exceptions: [] as string[] };
    return {
      setAttributes: (attributes: object) => Object.assign(span.attributes, attributes),
      recordException: (error: string) => void span.exceptions.push(error),
      end: () => void ended.push(span),
    };
  },
};

test('the example of the tracing channel makes a span of every command', async () => {
  const examples = [...read('docs/api.md').matchAll(/^```ts\n(.*?)^```$/gms)];
  const [, example] = examples.find(([text]) => text.includes('forkline:command')) ?? [];
  const build = join(root, 'examples/build');
  mkdirSync(build, { recursive: true });
  const folder = mkdtempSync(join(build, 'tracing-'));
  try {
    const file = join(folder, 'example.ts');
    writeFileSync(file, `const { tracer } = globalThis as any;\n${example}`);
    Object.assign(globalThis, { tracer });
    await import(file);
    await run('exit 3');
    await run('sleep 30', { timeoutMs: 50 });
    await failureOf(run('true', { cwd: '/nope' }));
    await eventually(() => expect(ended).toHaveLength(3));
  } finally {
    rmSync(folder, { recursive: true });
  }
  const name = 'command';
  expect(ended).toMatchObject([
    { name, attributes: { 'process.exit.code': 3, 'command.outcome': 'exited' }, exceptions: [] },
    { name, attributes: { 'command.outcome': 'timedOut' }, exceptions: [] },
    { name, exceptions: [expect.stringContaining('/nope')] },
  ]);
});
