import type { Task, TaskSubject, Until } from '../../faces/tasks.js';
import { InputError } from '../../support/errors.js';
import type { Call } from '../wire/call.js';
import type {
  PlainUntil,
  SentStretch,
  TaskMessage,
  TaskQuestion,
  TaskStanding,
} from '../wire/protocol.js';
import { describeError } from '../wire/thrown.js';
import type { ClientsTool } from './tool.js';

/**
 * Lets a client follow a task of its tool.
 *
 * @throws {InputError} There is no task with this id.
 */
export function followTask(call: Call, clients: ClientsTool, id: string): void {
  const found = clients.subjectOf(id);
  if (found === undefined) throw new InputError(`id: expected the id of a task, got "${id}"`);
  clients.followers.add(call);
  new FollowedCall(call, found.task, found.subject).begin();
}

class FollowedCall {
  readonly #call: Call;
  readonly #task: Task;
  readonly #subject: TaskSubject;
  /** Waits under way, by the number of the question. */
  readonly #waits = new Map<number, AbortController>();
  #isStale = false;

  constructor(call: Call, task: Task, subject: TaskSubject) {
    this.#call = call;
    this.#task = task;
    this.#subject = subject;
  }

  begin(): void {
    const stopWatching = this.#subject.watch(() => this.#tell());
    this.#call.events = {
      message: (body) => void this.#answer(body as TaskQuestion & { readonly ask: number }),
      room: () => {
        if (this.#isStale) this.#tell();
      },
      cancelled: () => {
        stopWatching();
        this.#call.finish({ value: null });
      },
      lost: () => {
        stopWatching();
        for (const wait of this.#waits.values()) wait.abort();
      },
    };
    this.#tell();
    this.#task.ended.then((ended) => {
      this.#tell();
      this.#say({ ended });
    });
  }

  /**
   * Sends the task's standing. While an earlier one is still being sent, sends once more after it.
   */
  #tell(): void {
    this.#isStale = this.#call.waiting > 0;
    if (this.#isStale) return;
    const { state, quietSince, outputFile } = this.#subject;
    const tail = this.#task.tail();
    const standing: TaskStanding = { state, quietSince, outputFile: outputFile ?? null, tail };
    this.#say({ standing });
  }

  async #answer(question: TaskQuestion & { readonly ask: number }): Promise<void> {
    const { ask } = question;
    try {
      this.#say({ answer: ask, value: (await this.#ask(question)) ?? null });
    } catch (error) {
      this.#say({ answer: ask, error: describeError(error) });
    }
  }

  async #ask(question: TaskQuestion & { readonly ask: number }): Promise<unknown> {
    const subject = this.#subject;
    switch (question.what) {
      case 'read': {
        const { since, maxBytes } = question;
        const { bytes, from, total } = await subject.read(since, Math.min(maxBytes, MOST_READ));
        const sent: SentStretch = { data: Buffer.from(bytes).toString('base64'), from, total };
        return sent;
      }
      case 'members':
        return subject.members();
      case 'write':
        return subject.write(Buffer.from(question.data, 'base64'));
      case 'closeInput':
        return subject.closeInput();
      case 'signal':
        return subject.signal(question.signal);
      case 'end':
        return this.#task.stop({ graceMs: question.graceMs ?? undefined });
      case 'wait':
        return this.#wait(question.ask, question.until, question.since);
      case 'stopWaiting':
        this.#waits.get(question.wait)?.abort();
        return undefined;
    }
  }

  async #wait(ask: number, { line, ...until }: PlainUntil, since: number): Promise<unknown> {
    const controller = new AbortController();
    this.#waits.set(ask, controller);
    const pattern = typeof line === 'object' ? new RegExp(line[0], line[1]) : line;
    const asked: Until = pattern === undefined ? until : { ...until, line: pattern };
    try {
      return await this.#task.wait(asked, { since, signal: controller.signal });
    } finally {
      this.#waits.delete(ask);
    }
  }

  #say(message: TaskMessage): void {
    this.#call.send(message);
  }
}

/** Bytes of a task's output that are read at a time. */
const MOST_READ = 256 * 1024;
