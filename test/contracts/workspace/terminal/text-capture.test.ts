import { expect, test } from 'vitest';
import { captureText } from '../../../../src/contracts/workspace/terminal/text-capture.js';
import { run } from '../../../../src/index.js';
import { fc } from '../../../support/properties.js';

test('the capture of a text is the one that the engine makes of the same text', async () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '\n', 'é', '中', '😀', '\r'),
    maxLength: 60,
  });
  const size = fc.nat(40);
  await fc.assert(
    fc.asyncProperty(text, size, size, async (input, headBytes, tailBytes) => {
      const result = await run('cat', { input, headBytes, tailBytes });
      expect(captureText(input, { headBytes, tailBytes })).toEqual(result.output);
    }),
    { numRuns: 150 },
  );
});
