export { needsChecks, withChecks } from '../command/after/checks.js';
export { SpillFile } from '../command/after/spill-check.js';
export { toldElsewhere } from '../command/after/told-elsewhere.js';
export { type CommandLine, checkCommandLine } from '../command/command-line.js';
export { resolveEnvironment } from '../command/environment.js';
export { engineCommand, execute, requested, toBytes } from '../command/execute.js';
export { runElsewhere, startHere } from '../command/hosts.js';
export { LimitGroups, needsGroups } from '../command/limits/groups.js';
export { runApart } from '../command/promise.js';
export { type PublishEnd, publishCommand } from '../command/published.js';
export { commandEnvironment } from '../command/run.js';
export {
  checkSpawnOptions,
  type LiveProcess,
  SPAWN_OPTION_NAMES,
  type SpawnOptions,
  spawnIn,
} from '../command/spawn.js';
