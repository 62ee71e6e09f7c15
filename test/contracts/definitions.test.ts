import { describe, expect, test } from 'vitest';
import { CONTRACTS, definitionsOf, MOST_TOKENS, tokensOf } from '../support/definitions.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';

leavesNothingBehind();
const folder = useFolder();

describe.each(CONTRACTS)('the definition of %s', (contract) => {
  test('is lean', async () => {
    const definitions = await definitionsOf(folder.path, contract);
    expect(tokensOf(definitions)).toBeLessThanOrEqual(MOST_TOKENS[contract]);
  });
});
