import type { ToolHints, ToolResult } from '../../faces/contracts.js';
import type {
  BackgroundProcess,
  Capture,
  EngineFailure,
  EngineOutcome,
  OutputChunk,
} from '../../faces/engine.js';
import type { TerminalSize } from '../../faces/options.js';
import type { SubjectState, TaskEnd, TaskEvent } from '../../faces/tasks.js';
import type { TraceContext } from '../trace-context.js';
import type { StoredPart } from './part-store.js';
import type {
  ArtifactQuestion,
  Executed,
  FarDefinition,
  SentExec,
  TaskStanding,
  ToldTask,
} from './protocol.js';
import { fieldsOf, type Shapes } from './shapes.js';
import type { Thrown } from './thrown.js';

/** The member of a union that has these fields. */
type ShapeOf<Union, Part> = Extract<Union, Part>;
type CaptureOf<Kind> = ShapeOf<Capture, { readonly kind: Kind }>;
type StateOf<Kind> = ShapeOf<SubjectState, { readonly kind: Kind }>;
type AskOf<Kind> = ShapeOf<ArtifactQuestion, { readonly kind: Kind }>;
type Kinded<T> = T & { readonly kind?: string };
type Checked = NonNullable<EngineOutcome['checked']>;
type Spilled = NonNullable<EngineOutcome['spill']> & { readonly path?: string };
type SpillFault = NonNullable<Spilled['error']>;

/** Shapes of objects within messages. */
export const SHAPES: Shapes = {
  Thrown: fieldsOf<Thrown>({ name: 'text', message: 'text', fields: 'object', 'cause?': 'Thrown' }),
  Trace: fieldsOf<TraceContext>({ traceparent: 'text', 'tracestate?': 'text' }),
  Counts: fieldsOf<Capture['total']>({ bytes: 'count', characters: 'count', lines: 'count' }),
  Complete: fieldsOf<CaptureOf<'complete'>>({
    kind: "'complete'",
    text: 'text',
    total: 'Counts',
    lossy: 'flag',
  }),
  Cut: fieldsOf<CaptureOf<'cut'>>({
    kind: "'cut'",
    head: 'text',
    tail: 'text',
    dropped: 'Counts',
    total: 'Counts',
    lastLineBytes: 'count',
    lossy: 'flag',
  }),
  Capture: 'Complete | Cut',
  Process: fieldsOf<BackgroundProcess>({ pid: 'whole', processGroup: 'whole', command: 'text' }),
  Failure: fieldsOf<Kinded<EngineFailure>>({
    'kind?': "'failed'",
    step: 'text',
    errno: 'whole',
    subject: 'text',
    message: 'text',
  }),
  Ran: fieldsOf<Kinded<EngineOutcome>>({
    'kind?': "'ran'",
    engine: "'native' | 'portable'",
    pid: 'whole',
    cause: "'itself' | 'timedOut' | 'cancelled'",
    status: 'whole',
    forced: 'flag',
    durationMs: 'amount',
    userMs: 'amount',
    systemMs: 'amount',
    peakBytes: 'amount',
    captures: 'Capture[]',
    background: 'Process[]',
    'spill?': 'Spilled',
    'directory?': 'text',
    share: 'whole',
    'sandbox?': 'text',
    'reason?': 'text',
    'checked?': 'Checked',
  }),
  Checked: fieldsOf<Checked>({
    'outOfMemory?': "'yes' | 'likely' | 'no' | 'unknown'",
    'sandbox?': 'object',
    'executed?': 'object[]',
    'moreExecuted?': 'count',
    'heldBack?': 'object[]',
    'changes?': 'object',
    'spill?': 'Spilled',
    'limits?': 'object',
  }),
  Spilled: fieldsOf<Spilled>({
    'path?': 'text',
    bytes: 'count',
    dropped: 'count',
    'error?': 'SpillError',
  }),
  SpillError: fieldsOf<SpillFault>({ code: 'text', errno: 'whole', message: 'text' }),
  Exec: fieldsOf<SentExec>({
    program: 'text',
    argv: 'text[]',
    cwd: 'text',
    pid: 'whole',
    parents: 'Parent[]',
    'say?': 'text',
  }),
  Parent: fieldsOf<SentExec['parents'][number]>({ pid: 'whole', program: 'text' }),
  List: fieldsOf<AskOf<'list'>>({ kind: "'list'" }),
  Find: fieldsOf<AskOf<'find'>>({ kind: "'find'", id: 'text' }),
  Read: fieldsOf<AskOf<'read'>>({ kind: "'read'", id: 'text', 'range?': 'object' }),
  Save: fieldsOf<AskOf<'save'>>({ kind: "'save'", tool: 'text' }),
  ArtifactQuestion: 'List | Find | Read | Save',
  Hints: fieldsOf<ToolHints>({
    readOnly: 'flag',
    destructive: 'flag',
    idempotent: 'flag',
    openWorld: 'flag',
  }),
  Part: fieldsOf<StoredPart>({ name: 'text', bytes: 'count' }),
  Definition: fieldsOf<FarDefinition>({
    name: 'text',
    description: 'text',
    inputSchema: 'object',
    'outputSchema?': 'object',
    strict: 'flag',
    concurrency: "'exclusive' | 'shared'",
    hints: 'Hints',
  }),
  Text: fieldsOf<ToolResult<unknown>['content'][number]>({ type: "'text'", text: 'text' }),
  Result: fieldsOf<ToolResult<unknown>>({
    content: 'Text[]',
    'details?': 'any',
    'structured?': 'object',
    'label?': 'text',
    'isError?': 'true',
  }),
  Executed: fieldsOf<Executed>({ result: 'Result', cwd: 'text | null' }),
  Output: fieldsOf<OutputChunk>({
    stream: "'output' | 'stdout' | 'stderr'",
    text: 'text',
    droppedBytes: 'count',
  }),
  Size: fieldsOf<TerminalSize>({ columns: 'count', rows: 'count' }),
  Task: fieldsOf<ToldTask>({
    id: 'text',
    label: 'text',
    lifetime: "'tool' | 'host' | 'detached'",
    durationMs: 'amount',
    terminal: 'Size | null',
  }),
  Status: fieldsOf<TaskEvent['task']>({
    id: 'text',
    type: "'bash'",
    state: "'running' | 'left' | 'ended' | 'lost'",
    'result?': "'completed' | 'failed' | 'cancelled'",
    label: 'text',
    lifetime: "'tool' | 'host' | 'detached'",
    durationMs: 'amount',
  }),
  Event: fieldsOf<TaskEvent>({ task: 'Status', 'output?': 'object', news: 'object[]' }),
  Running: fieldsOf<StateOf<'running'>>({ kind: "'running'", 'trouble?': 'text' }),
  Left: fieldsOf<StateOf<'left'>>({ kind: "'left'", receipt: 'object', endedAt: 'amount' }),
  Ended: fieldsOf<StateOf<'ended'>>({ kind: "'ended'", 'receipt?': 'object', endedAt: 'amount' }),
  Lost: fieldsOf<StateOf<'lost'>>({ kind: "'lost'", reason: 'text' }),
  State: 'Running | Left | Ended | Lost',
  Standing: fieldsOf<TaskStanding>({
    state: 'State',
    quietSince: 'amount',
    outputFile: 'text | null',
    tail: 'text',
  }),
  TaskEnd: fieldsOf<TaskEnd>({
    result: "'completed' | 'failed' | 'cancelled'",
    text: 'text',
    'kept?': 'text',
  }),
};

/** Fields of shapes that a far side without Node never has, with why. */
export const NOT_STATIC: Readonly<Record<string, string>> = {
  'Ran.sandbox': 'it makes no sandbox',
  'Checked.sandbox': 'it makes no sandbox',
  'Checked.heldBack': 'it makes no sandbox',
  'Checked.changes': 'it makes no sandbox',
  'Checked.executed': 'it makes no sandbox',
  'Checked.moreExecuted': 'it makes no sandbox',
  'Thrown.cause': 'its errors have none',
};
