import { vi } from 'vitest';
import type { BashToolOptions } from '../../src/index.js';
import { farTool, useFar } from '../support/far.js';

// The suites of the contracts once more, each tool of theirs at the other end of a byte stream.

vi.hoisted(() => {
  process.env.FORKLINE_TEST_FAR = '1';
});
const far = await useFar();
vi.mock('../../src/index.js', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  createBashTool: (options: BashToolOptions) => made(options),
}));
const made = (options: BashToolOptions) => farTool(far, options);

await import('../contracts/conformance.test.js');
await import('../contracts/session/scenarios-commands.test.js');
await import('../contracts/session/scenarios-directory.test.js');
await import('../contracts/session/scenarios-tasks.test.js');
await import('../contracts/session/output.test.js');
await import('../contracts/modes/tool.test.js');
await import('../contracts/modes/output.test.js');
await import('../contracts/plain/contract.test.js');
await import('../contracts/plain/output.test.js');
await import('../contracts/workspace/tool.test.js');
await import('../contracts/workspace/timeout.test.js');
