import { expect, test } from 'vitest';
import { PendingOutput } from '../../../src/adapters/sandboxes/openai-agents/pending-output.js';
import { fc } from '../../support/properties.js';

const MOST_BYTES = 1024 * 1024;

test('the last 1 MiB of unread output is kept, and the rest is counted', () => {
  // Chunks of up to 3 MiB: a busy machine reads late and much.
  const chunk = fc.tuple(fc.constantFrom('x', 'é', '€', '😀'), fc.nat({ max: 786_432 }));
  fc.assert(
    fc.property(fc.array(chunk, { minLength: 1, maxLength: 6 }), (chunks) => {
      const pending = new PendingOutput();
      const texts = chunks.map(([character, count]) => character.repeat(count));
      for (const text of texts) pending.add({ stream: 'stdout', text, droppedBytes: 0 });
      const { output } = pending.take();
      const all = texts.join('');
      const [, lost = '0', kept = ''] =
        /^(?:\[… (\d+) bytes before this are left out …\]\n)?(.*)$/s.exec(output) ?? [];
      expect(all.endsWith(kept)).toBe(true);
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(MOST_BYTES);
      expect(Buffer.byteLength(kept)).toBeGreaterThan(
        Math.min(MOST_BYTES, Buffer.byteLength(all)) - 4,
      );
      expect(Buffer.byteLength(kept) + Number(lost)).toBe(Buffer.byteLength(all));
      expect(pending.take().output).toBe('');
    }),
    { numRuns: 30 },
  );
});
