// Types that the entry points name and do not export: without them the reference would say of
// `run()` that it takes options, and not which.
export type { ExecuteOptions } from '../../src/options/command-options.js';
export type { Computed } from '../../src/shell/reading.js';
