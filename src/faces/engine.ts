export { inCallersContext } from '../engine/caller.js';
export type { ExecRequest, OnExec } from '../engine/exec/exec-request.js';
export { askHost } from '../engine/exec/questions.js';
export { lateLibrary, OPEN_ONE_BY_ONE } from '../engine/late-library.js';
export { LaunchError } from '../engine/launch-error.js';
export type {
  CommandEvents,
  EngineChunk,
  EngineCommand,
  EngineEnd,
  EngineFailure,
  EngineOutcome,
} from '../engine/message.js';
export type {
  BackgroundProcess,
  BytesChunk,
  Capture,
  MergedResult,
  OutputChunk,
  RunResult,
  SeparateResult,
  StreamName,
} from '../engine/outcome.js';
export { createOwner, Owner } from '../engine/owner.js';
export type { CommandHandle, CommandHost } from '../engine/process.js';
export { type Requested, toResult } from '../engine/result.js';
