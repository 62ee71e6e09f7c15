import { type BashTool, type BashToolOptions, createBashTool } from '../../faces/contracts.js';
import type { Task, TaskSubject } from '../../faces/tasks.js';
import { checkString, isMissing } from '../../support/checks.js';
import { InputError, showValue } from '../../support/errors.js';
import { UnderWay } from '../../support/timing.js';
import type { Call } from '../wire/call.js';
import type { FarDefinition, MadeTool, ToolMessage } from '../wire/protocol.js';
import { describeError } from '../wire/thrown.js';
import { checkInherited, type Profiles, withRemovals } from './options.js';
import type { Restriction } from './restriction.js';

/**
 * Makes a tool as a client wants it.
 *
 * @param given The client's options; a profile's options are used where they say nothing.
 * @throws {InputError} An option is not valid, or can't be changed, or there is no such profile.
 */
export function makeTool(
  given: Readonly<Record<string, unknown>>,
  far: {
    readonly profiles: Profiles;
    readonly restriction: Restriction;
    readonly mayInheritAll: boolean;
  },
): BashTool {
  const { profiles, restriction, mayInheritAll } = far;
  const { profile, ...options } = given;
  checkString('profile', profile);
  const beneath = isMissing(profile) ? {} : profileOf(profiles, String(profile));
  const restricted = restriction.apply(withRemovals(options));
  // A profile's directory is the far side's own choice.
  const own = isMissing(options.cwd) ? (beneath.cwd ?? restricted.cwd) : restricted.cwd;
  const merged = { ...beneath, ...restricted, cwd: own ?? process.cwd() };
  checkInherited(Reflect.get(merged, 'inheritEnv'), mayInheritAll);
  // A contract's own default may be `all`.
  const inherited = mayInheritAll ? merged : { inheritEnv: 'scrubbed', ...merged };
  // `createBashTool()` checks the options.
  return createBashTool(inherited as unknown as BashToolOptions);
}

function profileOf(profiles: Profiles, name: string): Profiles[string] {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(profiles).join(', ') || 'no profiles';
  throw new InputError(`profile: expected one of the far side (${names}), got ${showValue(name)}`);
}

/** A tool of a client, for as long as its call lasts. */
export class ClientsTool {
  readonly tool: BashTool;
  readonly #call: Call;
  readonly #calls = new UnderWay();
  readonly #subjects = new Map<string, { readonly task: Task; readonly subject: TaskSubject }>();
  readonly #ended: () => void;
  /** Calls that follow tasks of this tool, and last as long as it does. */
  readonly followers = new Set<Call>();
  #disposed: Promise<void> | undefined;
  #stopEvents: (() => void) | undefined;

  /**
   * Announces the tool to the client.
   *
   * @param ended Called when the tool is disposed of.
   */
  constructor(call: Call, tool: BashTool, ended: () => void) {
    this.#call = call;
    this.tool = tool;
    this.#ended = ended;
    call.events = {
      message: () => this.#subscribe(),
      cancelled: () => void this.#finish(),
      // The client disposes of the tool at its own end.
      lost: () => {},
    };
    tool.tasks?.onTask((task, subject) => this.#begun(task, subject));
    this.#say(madeTool(tool));
  }

  /** The tool's directory, if it has one. */
  get cwd(): string | null {
    return cwdOf(this.tool);
  }

  /** Returns the tool or companion of this name. */
  named(name: string): BashTool {
    const found = [this.tool, ...this.tool.companions].find((one) => one.name === name);
    if (found !== undefined) return found;
    throw new InputError(`name: expected the name of a tool, got ${showValue(name)}`);
  }

  /** Returns a task of the tool, and the subject that it follows. */
  subjectOf(id: string): { readonly task: Task; readonly subject: TaskSubject } | undefined {
    return this.#subjects.get(id);
  }

  /** Adds a call of the tool; the tool's end waits for it. */
  add<T>(work: Promise<T>): Promise<T> {
    return this.#calls.add(work);
  }

  dispose(): Promise<void> {
    this.#disposed ??= this.#dispose();
    return this.#disposed;
  }

  async #dispose(): Promise<void> {
    this.#ended();
    this.#stopEvents?.();
    await this.tool.dispose();
    // Calls that wait for a task are answered first.
    await this.#calls.settled();
    for (const follower of this.followers) follower.finish({ value: null });
  }

  async #finish(): Promise<void> {
    try {
      await this.dispose();
      this.#call.finish({ value: null });
    } catch (error) {
      this.#call.finish({ error: describeError(error) });
    }
  }

  #subscribe(): void {
    this.#stopEvents ??= this.tool.tasks?.subscribe((event) => this.#say({ event }));
  }

  #begun(task: Task, subject: TaskSubject): void {
    this.#subjects.set(task.id, { task, subject });
    const { id, label, lifetime } = task;
    const { durationMs } = task.status();
    const terminal = subject.terminal ?? null;
    this.#say({ task: { id, label, lifetime, durationMs, terminal } });
  }

  #say(message: ToolMessage): void {
    this.#call.send(message);
  }
}

function madeTool(tool: BashTool): MadeTool {
  const named = Object.entries(tool).flatMap(([key, value]) => {
    const companion = tool.companions.find((one) => one === value);
    return companion === undefined ? [] : [[key, companion.name]];
  });
  return {
    made: definitionOf(tool),
    companions: tool.companions.map(definitionOf),
    named: Object.fromEntries(named),
    hasArtifacts: 'artifacts' in tool && tool.artifacts !== undefined,
    maxTasks: tool.tasks?.maxRunning ?? null,
    cwd: cwdOf(tool),
  };
}

function definitionOf(tool: BashTool): FarDefinition {
  const { name, description, inputSchema, outputSchema, strict, concurrency, hints } = tool;
  const output = outputSchema && { outputSchema };
  return { name, description, inputSchema, ...output, strict, concurrency, hints };
}

function cwdOf(tool: BashTool): string | null {
  return 'cwd' in tool && typeof tool.cwd === 'string' ? tool.cwd : null;
}
