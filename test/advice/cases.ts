import type { AdviceCase } from './advice-case.js';
import { ALL_CONTRACTS } from './cases/all-contracts.js';
import { MODES_AND_PLAIN } from './cases/modes-and-plain.js';
import { SANDBOX } from './cases/sandbox.js';
import { SESSION } from './cases/session.js';
import { TASKS } from './cases/tasks.js';
import { TERMINALS } from './cases/terminals.js';
import { TIMEOUTS } from './cases/timeouts.js';
import { WATCHES } from './cases/watches.js';
import { WORKSPACE } from './cases/workspace.js';

/** All advices that are followed here. */
export const CASES: readonly AdviceCase[] = [
  ...ALL_CONTRACTS,
  ...WORKSPACE,
  ...SESSION,
  ...MODES_AND_PLAIN,
  ...SANDBOX,
  ...TIMEOUTS,
  ...TASKS,
  ...TERMINALS,
  ...WATCHES,
];
