import type { AdviceCase } from './advice-case.js';
import { ALL_CONTRACTS } from './cases/all-contracts.js';
import { MODES_AND_PLAIN } from './cases/modes-and-plain.js';
import { SANDBOX } from './cases/sandbox.js';
import { SESSION } from './cases/session.js';
import { WORKSPACE } from './cases/workspace.js';

/** All advices that are followed here. */
export const CASES: readonly AdviceCase[] = [
  ...ALL_CONTRACTS,
  ...WORKSPACE,
  ...SESSION,
  ...MODES_AND_PLAIN,
  ...SANDBOX,
];
