export { createArtifactStore } from './artifacts/directory-store.js';
export type { ArtifactStoreOptions } from './artifacts/options.js';
export { type ArtifactResolver, artifactResolver } from './artifacts/resolver.js';
export {
  type Artifact,
  type ArtifactDraft,
  ArtifactError,
  type ArtifactRange,
  type ArtifactStore,
  type DraftReport,
} from './artifacts/store.js';
export type { CommandLine } from './command/command-line.js';
export { exportedFunctions } from './command/exported-functions.js';
export { run } from './command/run.js';
export { SECRET_NAME_PATTERNS } from './command/secrets.js';
export { type LiveProcess, type Snapshot, type SpawnOptions, spawn } from './command/spawn.js';
export type {
  BashTool,
  TextContent,
  ToolAnswer,
  ToolCall,
  ToolEvent,
  ToolHints,
  ToolProgress,
  ToolResult,
} from './contracts/contract.js';
export {
  type BashToolOf,
  type BashToolOptions,
  CONTRACT_NAMES,
  type ContractName,
  createBashTool,
} from './contracts/create-bash-tool.js';
export {
  ToolAbortError,
  ToolError,
  type ToolErrorKind,
  type ToolErrorOptions,
} from './contracts/errors.js';
export type { Mode, ModesOptions, ModeTimeouts } from './contracts/modes/options.js';
export type {
  BackgroundDetails,
  ForegroundDetails,
  ModesDetails,
} from './contracts/modes/result.js';
export type { ModesInput } from './contracts/modes/schema.js';
export type { ModesTool } from './contracts/modes/tool.js';
export type { ShellOptions } from './contracts/options.js';
export type { PlainOptions } from './contracts/plain/options.js';
export type { PlainDetails, PlainFailureKind, StreamDetails } from './contracts/plain/result.js';
export type {
  PlainFailure,
  PlainInput,
  PlainOutput,
  PlainSuccess,
} from './contracts/plain/schema.js';
export type { PlainTool } from './contracts/plain/tool.js';
export { sandboxNotices } from './contracts/sandbox/denial-notices.js';
export type { SessionOptions } from './contracts/session/options.js';
export type { SessionDetails } from './contracts/session/result.js';
export type { SessionInput } from './contracts/session/schema.js';
export type { TaskDetails, TaskListDetails, TaskPhase } from './contracts/session/tasks/result.js';
export type {
  ListTasksInput,
  TaskInput,
  TaskOutputInput,
  WriteTaskInput,
} from './contracts/session/tasks/schema.js';
export type { SessionTool } from './contracts/session/tool.js';
export type { JsonSchema, JsonValue, ObjectSchema } from './contracts/validate.js';
export type { SchemaResult, ToolSchema } from './contracts/ways/standard-schema.js';
export type { JobDetails, JobInput } from './contracts/workspace/background/job-tool.js';
export type { InterceptorOptions } from './contracts/workspace/input/intercept.js';
export {
  DEFAULT_INTERCEPTOR_RULES,
  type InterceptorExecRule,
  type InterceptorNeeds,
  type InterceptorRule,
} from './contracts/workspace/input/intercept-rules.js';
export type {
  InterceptorTools,
  ToolAbilities,
} from './contracts/workspace/input/intercept-tools.js';
export type { WorkspaceInput } from './contracts/workspace/input/schema.js';
export type { ShellSnapshotOptions } from './contracts/workspace/input/shell-setup.js';
export type { TimeoutLimits, WorkspaceOptions } from './contracts/workspace/options.js';
export type { MinimizerReport } from './contracts/workspace/output/minimize.js';
export type { LineRange } from './contracts/workspace/output/parts.js';
export type { AsyncDetails, WorkspaceDetails } from './contracts/workspace/output/result.js';
export type { Truncation } from './contracts/workspace/output/show.js';
export type { WorkspaceTool } from './contracts/workspace/tool.js';
export type { EngineName } from './engine/choice.js';
export type { ExecReason, ExecutedProgram } from './engine/executed.js';
export { LaunchError, type LaunchStep } from './engine/launch-error.js';
export type {
  BackgroundProcess,
  BaseResult,
  BytesChunk,
  Canceller,
  Capture,
  Counts,
  Ending,
  FirstRun,
  MergedResult,
  NotLowered,
  Outcome,
  OutOfMemory,
  OutputChunk,
  PeakMemory,
  RunResult,
  SeparateResult,
  SpillError,
  SpillReport,
  StreamName,
} from './engine/outcome.js';
export { createOwner, type Owner } from './engine/owner.js';
export type {
  Denial,
  Enforcement,
  Held,
  HeldChange,
  IncompleteCheckout,
  RecordedLeftover,
  SandboxLine,
  SandboxPort,
  SandboxReport,
  Signature,
} from './engine/sandbox-report.js';
export type { LimitsReport, ReachedLimit } from './engine/told/limits-report.js';
export type { TimeoutReason } from './engine/told/timeout-reason.js';
export type {
  Accepted,
  Change,
  ChangeCounts,
  ChangedType,
  ChangeFacts,
  ChangeState,
  Changes,
  CommandChanges,
  HeldChanges,
  PathReason,
  Reverted,
} from './engine/undo/changes.js';
export { createInteractionLog, type InteractionLogFile } from './interaction-log/file-log.js';
export type { InteractionEntry, InteractionLog } from './interaction-log/log.js';
export type { InteractionLogOptions } from './interaction-log/options.js';
export { DEFAULT_OUTPUT_FILTERS } from './minimizer/default-filters.js';
export {
  type ErrorLineReason,
  explainErrorLine,
  isErrorLine,
} from './minimizer/error-lines.js';
export type { Omission, OutputFilter } from './minimizer/filter.js';
export { createLineFilter, type LineFilterOptions } from './minimizer/line-filter.js';
export type { MinimizerOptions } from './minimizer/options.js';
export type { NoiseRule } from './minimizer/rules/rule-filter.js';
export type {
  CommandOptions,
  EnvironmentOptions,
  Priority,
  SpillOptions,
} from './options/command-options.js';
export type { CommandLimits } from './options/limits.js';
export type { PtyOption, TerminalSize } from './options/terminal.js';
export { textOf } from './receipt/capture-text.js';
export type { CommandTrace } from './receipt/channel.js';
export { incompleteNotice } from './receipt/checkout-notice.js';
export { exitCodeOf } from './receipt/exit-code.js';
export type { ListeningPort } from './receipt/ports.js';
export {
  type KeptReceipt,
  type Receipt,
  type RunningProcess,
  receiptOf,
  type StreamReceipt,
} from './receipt/receipt.js';
export {
  acceptChanges,
  findChanges,
  type ListChangesOptions,
  listChanges,
  revertChanges,
} from './sandbox/changes/of-all.js';
export type { DeniedCommand, OnDenied } from './sandbox/denials/again.js';
export { describeExec } from './sandbox/exec/describe-exec.js';
export type {
  ArgvPattern,
  ExecAnswer,
  ExecParent,
  ExecRequest,
  ExecRule,
  OnExec,
  SandboxExec,
} from './sandbox/exec/exec-policy.js';
export { dropHeld, type HeldBackOptions, heldBack } from './sandbox/held/list.js';
export type { SandboxGpgAgent, SandboxSshAgent } from './sandbox/keys/agent-policy.js';
export type { HeldToolChanges } from './sandbox/pending/of-tool.js';
export type {
  SandboxCacheBound,
  SandboxDomains,
  SandboxFilesystem,
  SandboxMode,
  SandboxOption,
  SandboxPolicy,
} from './sandbox/policy.js';
export type { PublishedPort, ReachedPort, SandboxPorts } from './sandbox/ports/ports.js';
export type { SandboxSecret } from './sandbox/secrets/secret.js';
export type { ToolChanges } from './sandbox/undo/of-owner.js';
export type { SandboxUndo, UndoOption } from './sandbox/undo/undo-policy.js';
export type { PipelineCode, PipelineUse, ToolAbility } from './shell/reading.js';
export { InputError } from './support/errors.js';
export type { Logger } from './support/logger.js';
export { shellQuote } from './support/quote.js';
export type { DetachedSubject } from './tasks/detached/detached-subject.js';
export type { DetachedTask } from './tasks/detached/detached-task.js';
export {
  attach,
  type DetachOptions,
  detach,
  listTasks,
  type TaskSummary,
} from './tasks/detached/public.js';
export type { DetachedRecord } from './tasks/detached/registry.js';
export type { ShowEnd, ShowOptions } from './tasks/detached/terminal/show.js';
export { TaskLimitError, UnknownTaskError } from './tasks/errors.js';
export type { TaskEvent, TaskListener } from './tasks/events.js';
export type { FollowedTask, ReadOptions, StopOptions, WaitOptions } from './tasks/followed-task.js';
export type { OutputPlace, SizedPlace, SkippedOutput, TaskLook } from './tasks/look/look.js';
export type { LookAim } from './tasks/look/windows.js';
export type { FoundLine, LinePattern } from './tasks/lookout/lines.js';
export type { LookoutConditions, TaskNews } from './tasks/lookout/lookout.js';
export type { InputWait } from './tasks/lookout/stdin-wait.js';
export { TaskManager } from './tasks/manager.js';
export type { TaskManagerOptions } from './tasks/manager-options.js';
export type { DetachedNotify, Notify, WatchName } from './tasks/notify/notify.js';
export type { ToldNews } from './tasks/notify/told-news.js';
export type { TaskOutput } from './tasks/output.js';
export type { TaskOptions } from './tasks/start.js';
export type { TaskEnd, TaskLifetime, TaskResult, TaskState, TaskStatus } from './tasks/status.js';
export type { OutputStretch, SubjectState, TaskSubject } from './tasks/subject.js';
export type { Task, TaskWork } from './tasks/task.js';
export type { Awaited, Until } from './tasks/wait.js';
export type {
  ClientExitStatus,
  ClientTerminalConnection,
  ClientTerminalHandle,
  ClientTerminalOutput,
  ClientTerminalRequest,
} from './terminal/client-terminal.js';
export type { ClientTerminalOptions } from './terminal/client-terminals.js';
export {
  type ConsoleOptions,
  type ConsoleResult,
  runInConsole,
} from './terminal/run-in-console.js';
export type { ScreenNews } from './terminal/screen/screen-news.js';
export { ansiRow } from './terminal/style.js';
export { createTtyUi } from './terminal/tty-ui.js';
export type {
  ConsoleEvents,
  ConsoleFrame,
  ConsoleOverlay,
  ConsoleRequest,
  ConsoleRow,
  EndKey,
  StyledText,
  TerminalUi,
  TextColor,
  TextStyle,
} from './terminal/ui.js';
export { createLocalResolver, type LocalUrlOptions } from './urls/local.js';
export { createUrlRegistry } from './urls/registry.js';
export {
  type ResolvedUrl,
  type UrlRegistry,
  type UrlResolver,
  unknownId,
} from './urls/resolver.js';
