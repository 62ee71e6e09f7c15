import {
  checkCommandLine,
  commandEnvironment,
  engineCommand,
  LimitGroups,
  needsChecks,
  needsGroups,
  type PublishEnd,
  publishCommand,
  requested,
  runApart,
  SpillFile,
  startHere,
  toldElsewhere,
  withChecks,
} from '../../faces/command.js';
import {
  type CommandEvents,
  type CommandHandle,
  type EngineChunk,
  type EngineCommand,
  type EngineEnd,
  LaunchError,
  type OnExec,
  type Owner,
  type Requested,
  type RunResult,
  type StreamName,
  toResult,
} from '../../faces/engine.js';
import { type CommandLimits, checkOptions, namesOf } from '../../faces/options.js';
import { type OptionNames, readOptions } from '../../support/checks.js';
import { signalNumber } from '../../support/signals.js';
import { refused, startTimer } from '../../support/timing.js';
import type { Call } from '../wire/call.js';
import { writePieces } from '../wire/chunks.js';
import type { PartStore } from '../wire/part-store.js';
import type {
  CommandAnswer,
  CommandMessage,
  CommandQuestion,
  CommandRequest,
  FarEnd,
  OpenCommand,
  PlainCommandOptions,
} from '../wire/protocol.js';
import { describeError } from '../wire/thrown.js';
import { ClientQuestions } from './client-questions.js';
import { EarlyEvents } from './early-events.js';
import { ClientsInput } from './input.js';
import { checkInherited, withRemovals } from './options.js';
import type { Restriction } from './restriction.js';
import { tailOf } from './tail.js';

const { signal: _s, onOutput: _o, onExec: _e, input: _i, ...NAMES } = namesOf('remote');
const PLAIN_NAMES: OptionNames<PlainCommandOptions> = NAMES;

/**
 * Runs a command for a client.
 *
 * @param owner Owns all that the client starts.
 * @param may What the client may not change, and whether commands may get all of this process's variables.
 * @throws {InputError} An option is not valid; nothing was started.
 * @throws {LaunchError} The engine cannot be started.
 */
export function runForClient(
  call: Call,
  open: OpenCommand,
  owner: Owner,
  may: {
    readonly restriction: Restriction;
    readonly mayInheritAll: boolean;
    readonly parts?: PartStore | undefined;
  },
): void {
  const given = withRemovals(readOptions('options', open.options, PLAIN_NAMES));
  const options: PlainCommandOptions = may.restriction.apply({ ...given });
  checkInherited(options.inheritEnv, may.mayInheritAll);
  checkCommandLine(open.line, options);
  checkOptions(options);
  const asked = requested(open.line, options);
  const listen = open.listen ?? undefined;
  const environment = commandEnvironment(options);
  const command = engineCommand(asked, environment, options, open.hasInput, listen, open.pause);
  const { tellsStart, hears = false } = open;
  const { limits } = options;
  const prepared = { asked, command, owner, tellsStart, hears, limits, parts: may.parts };
  if (needsGroups(limits)) void runInGroups(call, prepared, limits);
  else begin(call, prepared);
}

/** A command and its options before the start. */
interface Prepared {
  readonly asked: Requested;
  readonly command: EngineCommand;
  readonly owner: Owner;
  readonly tellsStart: boolean;
  readonly hears: boolean;
  readonly limits: CommandLimits | undefined;
  readonly groups?: LimitGroups;
  readonly parts: PartStore | undefined;
}

/** Starts the command. Subscribers of this side's command channel see it. */
function begin(call: Call, prepared: Prepared): void {
  publishCommand(prepared.command, (ended) => void new ClientsCommand(call, prepared, ended));
}

/** Makes the control groups for the command's limits, then starts the command. */
async function runInGroups(call: Call, prepared: Prepared, limits: CommandLimits): Promise<void> {
  const early = new EarlyEvents(call);
  let groups: LimitGroups | undefined;
  try {
    groups = await LimitGroups.make(limits);
    if (early.isUnwanted) {
      call.finish({ neverStarted: true });
      await groups.remove();
      return;
    }
    const command = groups.appliedTo(prepared.command);
    begin(call, { ...prepared, command, groups });
    early.passOn(call.events);
  } catch (error) {
    call.finish({ error: describeError(error) });
    await groups?.remove();
  }
}

/** The time after which a running command is reported as started, in milliseconds. */
const STARTED_MS = 20;

/** The interval at which the end of the output is sent to a client that does not listen. */
const TAIL_MS = 1000;

/** One command of a client: sends its events over the line and carries out the client's requests. */
class ClientsCommand implements CommandEvents {
  /** Asks the client about a program, if it can answer. */
  readonly asked: OnExec | undefined;
  readonly #call: Call;
  readonly #prepared: Prepared;
  readonly #publish: PublishEnd;
  readonly #questions: ClientQuestions;
  readonly #handle: CommandHandle;
  readonly #spill: SpillFile | undefined;
  readonly #begun = performance.now();
  readonly #input: ClientsInput;
  #start: () => void = () => {};
  /** Whether the engine waits for `resume()`, which comes once the delivered output has been sent. */
  #owesResume = false;
  #isOver = false;
  #stopTelling = (): void => {};
  /** Settles when all signals so far were answered: those answers are sent before the end. */
  #signalled: Promise<unknown> = Promise.resolve();

  constructor(call: Call, prepared: Prepared, publish: PublishEnd) {
    const { command, owner, hears, parts } = prepared;
    this.#call = call;
    this.#prepared = prepared;
    this.#publish = publish;
    this.#questions = new ClientQuestions((message) => this.#say(message));
    this.asked = hears ? (request) => this.#questions.ask(request) : undefined;
    const started = new Promise<void>((resolve) => {
      this.#start = resolve;
    });
    if (command.spillPath !== undefined && command.spillAfterBytes === undefined) {
      this.#spill = new SpillFile(command.spillPath);
    }
    this.#handle = startHere(owner, command, this);
    this.#input = new ClientsInput(call, this.#handle, parts, started);
    call.events = {
      message: (body) => this.#do(body as CommandRequest),
      data: (bytes) => this.#input.bytes(Buffer.from(bytes)),
      room: () => this.#resume(),
      cancelled: (body) => this.#handle.cancel((body as { graceMs?: number }).graceMs),
      // The command ends with its owner.
      lost: () => this.#questions.close(),
    };
  }

  started(pid: number): void {
    const { tellsStart, groups } = this.#prepared;
    this.#start();
    // The groups stay for processes that the command leaves behind, too.
    if (groups !== undefined) this.#handle.gone().then(() => groups.remove());
    if (tellsStart) this.#say({ started: pid });
    // Most commands end before a client could use this.
    this.#stopTelling = startTimer(STARTED_MS, () => {
      if (!tellsStart) this.#say({ started: pid });
      if (this.#prepared.command.listen === undefined) this.#tellTail(0);
    });
  }

  /** Sends the end of the output to a client that does not listen, in case the line is lost. */
  #tellTail(told: number): void {
    this.#stopTelling = startTimer(TAIL_MS, async () => {
      const captures = (await this.#handle.snapshot()) ?? [];
      const total = captures.reduce((sum, { total: { bytes } }) => sum + bytes, 0);
      if (this.#isOver) return;
      if (total > told && this.#call.waiting === 0) {
        this.#say({ tail: tailOf(captures) });
      }
      this.#tellTail(total);
    });
  }

  output(stream: StreamName, chunks: readonly EngineChunk[]): void {
    for (const chunk of chunks) {
      for (const piece of writePieces(stream, chunk)) this.#call.sendData(piece);
    }
    this.#owesResume = true;
  }

  ended(end: EngineEnd): void {
    this.#isOver = true;
    this.#stopTelling();
    this.#start();
    const isOwn = this.#spill?.close() ?? true;
    if (end.kind === 'ran') {
      const result = this.#conclude(end, isOwn);
      this.#publish(() => result);
      return;
    }
    void this.#prepared.groups?.remove();
    this.#publish(() => (end.kind === 'failed' ? refused(new LaunchError(end)) : undefined));
    this.#finish(end.kind === 'failed' ? { failed: end } : { neverStarted: true });
  }

  async #conclude(end: EngineEnd & { readonly kind: 'ran' }, isOwn: boolean): Promise<RunResult> {
    const { asked, limits: wanted } = this.#prepared;
    await this.#signalled;
    const result = toResult(end, asked, 'kill');
    const checked = needsChecks(result, wanted)
      ? await withChecks(result, isOwn, this.#prepared, this.#begun, runApart)
      : result;
    this.#finish({ ran: { ...end, checked: toldElsewhere(checked) } });
    return checked;
  }

  #finish(end: FarEnd): void {
    this.#call.finish(end);
  }

  #say(message: CommandMessage): void {
    this.#call.send(message);
  }

  #resume(): void {
    if (!this.#owesResume || this.#isOver) return;
    this.#owesResume = false;
    this.#handle.resume();
  }

  #do(request: CommandRequest): void {
    if ('ask' in request) {
      const answered = this.#answer(request);
      if (request.what === 'signal') {
        this.#signalled = Promise.all([this.#signalled, answered]);
      }
      return;
    }
    switch (request.do) {
      case 'detach':
        this.#handle.detach();
        break;
      case 'resize':
        this.#handle.resize(request.columns, request.rows);
        break;
      case 'input':
        this.#input.part(request.part);
        break;
      case 'decide':
        this.#questions.decide(request.question, request.answer);
    }
  }

  async #answer(request: CommandQuestion): Promise<void> {
    this.#say({ answer: request.ask, value: (await this.#look(request)) ?? null });
  }

  async #look(request: CommandQuestion): Promise<CommandAnswer | undefined> {
    switch (request.what) {
      case 'signal':
        if (signalNumber(request.signal) === undefined) return false;
        return this.#handle.signal(request.signal);
      case 'snapshot':
        return this.#handle.snapshot();
      case 'members':
        return this.#handle.members();
    }
    // A question of a newer client.
    return undefined;
  }
}
