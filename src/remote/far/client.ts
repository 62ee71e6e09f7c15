import { ToolError } from '../../faces/contracts.js';
import { createOwner } from '../../faces/engine.js';
import { packageVersion } from '../../support/package/version.js';
import { BusyError } from '../errors.js';
import { inTrace, isTraceApiKnown, loadTraceApi } from '../trace-context.js';
import type { Call } from '../wire/call.js';
import { checkerOf, checkOpen, subjectOf } from '../wire/check.js';
import type { Link } from '../wire/link.js';
import type { PartStore } from '../wire/part-store.js';
import { type Hello, type Open, PROTOCOL } from '../wire/protocol.js';
import { describeError } from '../wire/thrown.js';
import { Wire } from '../wire/wire.js';
import { answerArtifacts } from './artifacts.js';
import { runForClient } from './command.js';
import { EarlyEvents } from './early-events.js';
import { executeForClient } from './execute.js';
import type { ClientLimits, Profiles } from './options.js';
import { ClientPorts } from './ports.js';
import type { Restriction } from './restriction.js';
import { followTask } from './task.js';
import { ClientsTool, makeTool } from './tool.js';

/** Options for serving one client. */
interface ClientOptions {
  readonly limits: ClientLimits;
  readonly profiles: Profiles;
  readonly restriction: Restriction;
  /** Whether commands may inherit all variables of this process. */
  readonly mayInheritAll: boolean;
  /** Returns the reason why no new work is taken now; `undefined`: new work is taken. */
  readonly refusal?: () => string | undefined;
  /** The store that clients may use, too. */
  readonly parts?: PartStore;
  /** Called when the number of calls or tools under way changes. */
  readonly changed?: () => void;
  /** Called when the client begins a command, or makes a tool, before that is refused or counted. */
  readonly begun?: () => void;
}

/**
 * Serves one client from its first message to its last. The client owns all that it has started, and
 * that ends with the client.
 */
export class Client {
  /** Settles when the client has gone and nothing is left of what it has started. */
  readonly ended: Promise<void>;
  readonly #options: ClientOptions;
  readonly #wire: Wire;
  readonly #owner = createOwner();
  readonly #tools = new Map<number, ClientsTool>();
  readonly #ports: ClientPorts;
  /** Calls of commands that hold what goes with a tool. */
  readonly #holders = new Set<Call>();

  constructor(link: Link, options: ClientOptions) {
    this.#options = options;
    this.#ports = new ClientPorts(options.restriction);
    let ended: (end: Promise<void>) => void = () => {};
    this.ended = new Promise((resolve) => {
      ended = resolve;
    });
    this.#wire = new Wire(
      link,
      {
        hello: (body) => this.#greet(body as Hello),
        opened: (call, body, refused) => this.#open(call, body, refused),
        check: checkerOf('client'),
        idle: () => options.changed?.(),
        closed: () => ended(this.#end()),
      },
      options.limits,
    );
    const hello: Hello = {
      protocol: PROTOCOL,
      version: packageVersion(),
      maxBytes: options.limits.maxBytes,
      takes: ['command', 'tool', 'execute', 'task', 'artifacts', 'port', 'listener', 'accepted'],
      takesParts: options.parts !== undefined,
    };
    this.#wire.hello(hello);
  }

  /** The number of calls under way, without those of tools, of what goes with them, of followed tasks and of ports. */
  get load(): number {
    for (const holder of this.#holders) if (holder.isOver) this.#holders.delete(holder);
    // As many as tools: a client that says so of others has no more places by it.
    let lasting = this.#tools.size + Math.min(this.#holders.size, this.#options.limits.maxSessions);
    for (const { followers } of this.#tools.values()) lasting += followers.size;
    return Math.max(0, this.#wire.size - lasting - this.#ports.size);
  }

  /** The number of tools. */
  get sessions(): number {
    return this.#tools.size;
  }

  /** Sends the client a notice about the line. */
  notice(body: unknown): void {
    this.#wire.notice(body);
  }

  /** Closes the client's line, which ends all that the client has started. */
  close(reason: string): void {
    this.#wire.destroy(reason);
  }

  #greet({ protocol }: Hello): void {
    if (protocol !== PROTOCOL) this.close(`it speaks protocol ${protocol}, not ${PROTOCOL}`);
  }

  #open(call: Call, body: unknown, refused: boolean): void {
    call.subject = subjectOf(body);
    const mustLoad = !isTraceApiKnown() && !refused && isInTrace(body);
    if ((call.subject !== 'command' && !mustLoad) || refused) {
      this.#try(call, body, refused);
      return;
    }
    // A cancellation that came along with the command, or before, is seen in the next turn.
    const early = new EarlyEvents(call);
    const ready = mustLoad ? loadTraceApi() : Promise.resolve();
    void ready.then(() => {
      if (early.isUnwanted) {
        call.finish({ neverStarted: true });
        return;
      }
      this.#try(call, body, refused);
      early.passOn(call.events);
    });
  }

  #try(call: Call, body: unknown, refused: boolean): void {
    try {
      if (refused) throw new BusyError('Too much data is in transit; nothing was started.');
      this.#begin(call, checkOpen(body));
    } catch (error) {
      call.events = { lost: () => {} };
      call.finish({ error: describeError(error) });
    }
  }

  #begin(call: Call, open: Open): void {
    const { limits } = this.#options;
    if (this.load > limits.maxCalls) {
      throw new BusyError(`${limits.maxCalls} calls are under way; nothing was started.`);
    }
    if (open.op === 'command' || open.op === 'tool') {
      this.#options.begun?.();
      this.#checkNew();
    }
    this.#options.changed?.();
    if (open.op === 'command') {
      inTrace(open.trace, () => runForClient(call, open, this.#owner, this.#options));
      if (open.holds === true) this.#hold(call);
    } else if (open.op === 'tool') this.#make(call, open.options);
    else if (open.op === 'execute') {
      const tool = this.#toolOf(open.tool);
      inTrace(open.trace, () => executeForClient(call, open, tool));
    } else if (open.op === 'task') followTask(call, this.#toolOf(open.tool), open.id);
    else if (open.op === 'artifacts') answerArtifacts(call, open.ask, this.#toolOf(open.tool));
    else this.#ports.begin(call, open);
  }

  /**
   * Checks that new work is taken.
   *
   * @throws {BusyError} No new work is taken.
   */
  #checkNew(): void {
    const refusal = this.#options.refusal?.();
    if (refusal !== undefined) throw new BusyError(`Busy: ${refusal}; nothing was started.`);
  }

  /** Takes back the place of a command that does nothing. */
  #hold(call: Call): void {
    this.#holders.add(call);
    this.#options.changed?.();
  }

  #make(call: Call, options: Readonly<Record<string, unknown>>): void {
    const { limits } = this.#options;
    if (this.#tools.size >= limits.maxSessions) {
      throw new BusyError(`There are ${limits.maxSessions} sessions; nothing was started.`);
    }
    const tool = new ClientsTool(call, makeTool(options, this.#options), () => {
      this.#tools.delete(call.id);
    });
    this.#tools.set(call.id, tool);
    // Its call takes no place any more.
    this.#options.changed?.();
  }

  /** Returns a tool of this client. A client can name no other client's tools. */
  #toolOf(id: number): ClientsTool {
    const tool = this.#tools.get(id);
    if (tool !== undefined) return tool;
    throw new ToolError('disposed', 'The bash tool was disposed.');
  }

  async #end(): Promise<void> {
    const tools = [...this.#tools.values()].map((tool) => tool.dispose());
    await Promise.all([this.#owner.dispose(), ...tools]);
  }
}

/** Returns whether a call that begins says to which trace it belongs; the call is not checked yet. */
function isInTrace(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'trace' in body;
}
