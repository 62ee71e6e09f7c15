import { expect, test } from 'vitest';
import { performCommand } from '../../src/contracts/call.js';
import { CallListeners } from '../../src/contracts/call-listeners.js';
import type { OutputChunk, ToolResult } from '../../src/index.js';

interface Details {
  job?: string;
}

const chunk = (text: string): OutputChunk => ({ stream: 'output', text, droppedBytes: 0 });

/** A call's listeners, and what they have heard. */
function heard() {
  const updates: [text: string | undefined, details: Details][] = [];
  const output: string[] = [];
  const onUpdate = ({ content, details }: ToolResult<Details>) =>
    updates.push([content[0]?.text, details]);
  const onOutput = ({ text }: OutputChunk) => output.push(text);
  return { call: { onUpdate, onOutput }, updates, output };
}

test('a call without listeners has none, so that nothing need be delivered', async () => {
  const given = await performCommand({ call: {}, cwd: '/' }, async (onOutput) => ({ onOutput }));
  expect(given.onOutput).toBeUndefined();
});

test('updates have the last output, and a listener to output gets all of it', () => {
  const { call, updates, output } = heard();
  const listeners = new CallListeners<Details>(call, {
    maxBytes: 4,
    toShown: (text) => `<${text}>`,
  });
  listeners.tell(chunk('abcdef'));
  expect(updates).toEqual([['<cdef>', {}]]);
  expect(output).toEqual(['abcdef']);
  listeners.stop();
});

test('updates after the answer carry details of their job, and there is a last one', () => {
  const { call, updates, output } = heard();
  const listeners = new CallListeners<Details>(call);
  listeners.answered({ job: 'bg_1' });
  listeners.tell(chunk('later'));
  listeners.stop({ text: 'the end', details: { job: 'bg_1' } });
  expect(updates).toEqual([
    ['later', { job: 'bg_1' }],
    ['the end', { job: 'bg_1' }],
  ]);
  expect(output).toEqual([]);
});

test('nothing is heard after the end', () => {
  const { call, updates, output } = heard();
  const listeners = new CallListeners<Details>(call);
  listeners.stop();
  listeners.tell(chunk('late'));
  listeners.show('late');
  listeners.pass(chunk('late'));
  expect([updates, output]).toEqual([[], []]);
});

test('the tail is kept on request, with or without updates', () => {
  const listeners = new CallListeners<Details>({}, { keepsTail: true });
  listeners.tell(chunk('one '));
  listeners.tell(chunk('two'));
  expect(listeners.tail).toBe('one two');
  listeners.stop();
});
