// Types that the entry points use and do not export: without them the reference would say that `run()`
// takes options, and not which.
export type { ExecuteOptions } from '../../src/options/command-options.js';
export type { Computed } from '../../src/shell/reading.js';
