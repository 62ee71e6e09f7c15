import type { FRAME } from './frames.js';
import type {
  CommandMessage,
  CommandQuestion,
  CommandRequest,
  Hello,
  MadeTool,
  Open,
  TaskQuestion,
} from './protocol.js';
import { fieldsOf, type ShapeFields } from './shapes.js';
import type { Thrown } from './thrown.js';

/** The subject of a message: the line itself, or a kind of call. */
export type Subject = 'line' | Open['op'];

/** The side that sends a message. */
export type Sender = 'client' | 'far';

/** One message of the protocol. */
export interface MessageRow {
  /** The name for people. */
  readonly name: string;
  readonly from: Sender;
  /** The kind of the message's frame. */
  readonly frame: keyof typeof FRAME;
  /** The subject of the message. */
  readonly of: Subject;
  /** The field that tells this message from others of the same frame; absent: there are no others. */
  readonly key?: string;
  readonly fields: ShapeFields;
  /** The first protocol version that has the message. */
  readonly since: number;
  /** How a far side without Node treats the message; absent: like one with Node. */
  readonly static?: 'refused' | 'never';
}

type Of<Union, Part> = Extract<Union, Part>;
type OpenOf<Op> = Of<Open, { readonly op: Op }>;
type Failed = { readonly error: Thrown };
type QuestionOf<What> = Of<TaskQuestion, { readonly what: What }> & { readonly ask: number };
type Told<Key extends PropertyKey> = Of<CommandMessage, Readonly<Record<Key, unknown>>>;
type RequestOf<Do> = Of<CommandRequest, { readonly do: Do }>;
type Signalled = { readonly what: 'signal' };

type Says = (of: Subject, name: string, key: string | undefined, fields: ShapeFields) => MessageRow;

/** Returns a function that makes rows of one sender and one kind of frames. */
function says(from: Sender, frame: MessageRow['frame'], far?: MessageRow['static']): Says {
  return (of, name, key, fields) => ({
    name,
    from,
    frame,
    of,
    ...(key !== undefined && { key }),
    fields,
    since: 1,
    ...(far !== undefined && { static: far }),
  });
}

const greets = says('client', 'hello');
const isGreeted = says('far', 'hello');
const opens = says('client', 'open');
const opensThere = says('client', 'open', 'refused');
const cancels = says('client', 'cancel');
const asks = says('client', 'message');
const asksThere = says('client', 'message', 'never');
const tells = says('far', 'message');
const tellsThere = says('far', 'message', 'never');
const notices = says('far', 'notice', 'never');
const ends = says('far', 'end');

/** Returns the ways in which calls other than a command's end. */
const endsOf = (of: Subject, value: ShapeFields): readonly MessageRow[] => [
  ends(of, 'value', 'value', value),
  ends(of, 'error', 'error', fieldsOf<Failed>({ error: 'Thrown' })),
  ends(of, 'never started', 'neverStarted', { neverStarted: 'true' }),
];

const taskAsks = <What extends TaskQuestion['what']>(
  what: What,
  fields: Omit<Parameters<typeof fieldsOf<QuestionOf<What>>>[0], 'what' | 'ask'>,
): MessageRow => asks('task', what, 'what', { what: `'${what}'`, ask: 'count', ...fields });

/**
 * All messages that are JSON. A frame is described by the first row of its sender, kind and subject whose
 * key it has; a message without a row comes from a newer version, and is passed over.
 */
export const MESSAGES: readonly MessageRow[] = [
  greets(
    'line',
    'hello',
    undefined,
    fieldsOf<Pick<Hello, 'protocol' | 'version'>>({ protocol: 'whole', version: 'text' }),
  ),
  isGreeted(
    'line',
    'hello',
    undefined,
    fieldsOf<Hello>({
      protocol: 'whole',
      version: 'text',
      'maxBytes?': 'count',
      'takes?': 'any',
      'takesParts?': 'flag',
    }),
  ),
  notices('line', 'draining', 'draining', { draining: 'true' }),
  notices('line', 'crowded', 'isCrowded', { isCrowded: 'flag' }),

  opens(
    'command',
    'command',
    'op',
    fieldsOf<OpenOf<'command'>>({
      op: "'command'",
      line: 'text | text[]',
      options: 'object',
      tellsStart: 'flag',
      hasInput: 'flag',
      listen: "'text' | 'bytes' | null",
      pause: 'flag',
      'hears?': 'flag',
      'holds?': 'flag',
      'trace?': 'Trace',
    }),
  ),
  cancels('command', 'cancel', undefined, { 'graceMs?': 'amount' }),
  asks('command', 'detach', 'do', fieldsOf<RequestOf<'detach'>>({ do: "'detach'" })),
  asks(
    'command',
    'resize',
    'do',
    fieldsOf<RequestOf<'resize'>>({ do: "'resize'", columns: '1..65535', rows: '1..65535' }),
  ),
  asksThere('command', 'input', 'do', { do: "'input'", part: 'Part' }),
  asksThere(
    'command',
    'decide',
    'do',
    fieldsOf<RequestOf<'decide'>>({
      do: "'decide'",
      question: 'count',
      answer: "'allow' | 'deny'",
    }),
  ),
  asks(
    'command',
    'look',
    'what',
    fieldsOf<Exclude<CommandQuestion, Signalled>>({ what: "'snapshot' | 'members'", ask: 'count' }),
  ),
  asks(
    'command',
    'signal',
    'what',
    fieldsOf<Of<CommandQuestion, Signalled>>({ what: "'signal'", ask: 'count', signal: 'text' }),
  ),
  asks('command', 'another question', 'ask', { ask: 'count' }),
  tells('command', 'started', 'started', fieldsOf<Told<'started'>>({ started: 'whole' })),
  tells('command', 'tail', 'tail', fieldsOf<Told<'tail'>>({ tail: 'text' })),
  tells('command', 'wrote', 'wrote', { wrote: 'true' }),
  tells('command', 'not written', 'wrote', { wrote: 'false', error: 'Thrown' }),
  tellsThere('command', 'untaken', 'untaken', fieldsOf<Told<'untaken'>>({ untaken: 'text' })),
  tells(
    'command',
    'answer',
    'answer',
    fieldsOf<Told<'answer'>>({ answer: 'count', value: 'flag | null | Capture[] | Process[]' }),
  ),
  tellsThere(
    'command',
    'question',
    'mayRun',
    fieldsOf<Told<'mayRun'>>({ mayRun: 'count', request: 'Exec' }),
  ),
  tellsThere(
    'command',
    'withdrawn',
    'withdrawn',
    fieldsOf<Told<'withdrawn'>>({ withdrawn: 'count' }),
  ),
  ends('command', 'never started', 'neverStarted', { neverStarted: 'true' }),
  ends('command', 'failed', 'failed', { failed: 'Failure' }),
  ends('command', 'error', 'error', { error: 'Thrown' }),
  ends('command', 'ran', 'ran', { ran: 'Ran' }),

  opensThere('tool', 'tool', 'op', fieldsOf<OpenOf<'tool'>>({ op: "'tool'", options: 'object' })),
  cancels('tool', 'cancel', undefined, {}),
  asks('tool', 'subscribe', 'subscribe', { subscribe: 'true' }),
  tells(
    'tool',
    'made',
    'made',
    fieldsOf<MadeTool>({
      made: 'Definition',
      companions: 'Definition[]',
      named: 'object',
      hasArtifacts: 'flag',
      maxTasks: 'count | null',
      cwd: 'text | null',
    }),
  ),
  tells('tool', 'task', 'task', { task: 'Task' }),
  tells('tool', 'event', 'event', { event: 'Event' }),
  ...endsOf('tool', { value: 'null' }),

  opensThere(
    'execute',
    'execute',
    'op',
    fieldsOf<OpenOf<'execute'>>({
      op: "'execute'",
      tool: 'count',
      name: 'text',
      'input?': 'any',
      wantsUpdates: 'flag',
      wantsOutput: 'flag',
      isCancelled: 'flag',
      'trace?': 'Trace',
    }),
  ),
  cancels('execute', 'cancel', undefined, {}),
  tells('execute', 'update', 'update', { update: 'Result' }),
  tells('execute', 'output', 'output', { output: 'Output' }),
  ...endsOf('execute', { value: 'Executed' }),

  opensThere(
    'task',
    'task',
    'op',
    fieldsOf<OpenOf<'task'>>({ op: "'task'", tool: 'count', id: 'text' }),
  ),
  cancels('task', 'cancel', undefined, {}),
  taskAsks('read', { since: 'count', maxBytes: 'count' }),
  taskAsks('members', {}),
  taskAsks('write', { data: 'text' }),
  taskAsks('closeInput', {}),
  taskAsks('signal', { signal: 'text' }),
  taskAsks('end', { graceMs: 'amount | null' }),
  taskAsks('wait', { until: 'object', since: 'count' }),
  taskAsks('stopWaiting', { wait: 'count' }),
  asks('task', 'another question', 'ask', { ask: 'count' }),
  tells('task', 'standing', 'standing', { standing: 'Standing' }),
  tells('task', 'ended', 'ended', { ended: 'TaskEnd' }),
  tells('task', 'failure', 'error', { answer: 'count', error: 'Thrown' }),
  tells('task', 'answer', 'answer', { answer: 'count', value: 'any' }),
  ...endsOf('task', { value: 'null' }),

  opensThere(
    'artifacts',
    'artifacts',
    'op',
    fieldsOf<OpenOf<'artifacts'>>({ op: "'artifacts'", tool: 'count', ask: 'ArtifactQuestion' }),
  ),
  cancels('artifacts', 'cancel', undefined, {}),
  ...endsOf('artifacts', { value: 'any' }),

  opensThere(
    'port',
    'port',
    'op',
    fieldsOf<OpenOf<'port'>>({
      op: "'port'",
      port: '1..65535',
      host: 'text',
      'isTrial?': 'flag',
    }),
  ),
  cancels('port', 'cancel', undefined, {}),
  tells('port', 'connected', 'connected', { connected: 'true' }),
  ...endsOf('port', { value: 'null' }),

  opensThere(
    'listener',
    'listener',
    'op',
    fieldsOf<OpenOf<'listener'>>({ op: "'listener'", port: '0..65535', host: 'text' }),
  ),
  cancels('listener', 'cancel', undefined, {}),
  tells('listener', 'listening', 'listening', { listening: '1..65535' }),
  tells('listener', 'connection', 'connection', { connection: 'count' }),
  ...endsOf('listener', { value: 'null' }),

  opensThere(
    'accepted',
    'accepted',
    'op',
    fieldsOf<OpenOf<'accepted'>>({ op: "'accepted'", listener: 'count', connection: 'count' }),
  ),
  cancels('accepted', 'cancel', undefined, {}),
  ...endsOf('accepted', { value: 'null' }),
];
