import { describeThrown, showValue } from '../../support/errors.js';
import { warnHost } from '../../support/logger.js';
import type { AskedRecord } from '../addon/native.js';
import type { ExecRequest, OnExec } from './exec-request.js';

/** Answers as native/protocol/src/exec.rs numbers them. */
const ANSWERS = { deny: 0, allow: 1, unasked: 2 } as const;

/** The questions about programs that have not been answered. None keeps the host alive. */
export class Questions {
  readonly #decide: (keeper: number, number: number, answer: number) => void;
  readonly #open = new Map<string, AbortController>();

  /** @param decide Passes on an answer. */
  constructor(decide: (keeper: number, number: number, answer: number) => void) {
    this.#decide = decide;
  }

  /** Has a question answered by this function; undefined: nobody can answer. */
  ask(record: AskedRecord, onExec: OnExec | undefined): void {
    const [, , keeper, number] = record;
    const controller = new AbortController();
    const name = nameOf(keeper, number);
    this.#open.set(name, controller);
    void askHost(toRequest(record, controller.signal), onExec).then((answer) => {
      // An answer that comes after the question was withdrawn is ignored.
      if (this.#open.get(name) !== controller) return;
      this.#open.delete(name);
      this.#decide(keeper, number, ANSWERS[answer]);
    });
  }

  /** Notes that a question needs no answer any more. */
  withdraw(keeper: number, number: number): void {
    const name = nameOf(keeper, number);
    const controller = this.#open.get(name);
    this.#open.delete(name);
    controller?.abort();
  }
}

/**
 * Asks about a program. What is thrown, or is no answer, is a denial, of which the host is warned.
 *
 * @returns `unasked`: nobody can answer.
 */
export async function askHost(
  request: ExecRequest,
  onExec: OnExec | undefined,
): Promise<'allow' | 'deny' | 'unasked'> {
  if (onExec === undefined) return 'unasked';
  try {
    const answer: unknown = await onExec(request);
    if (answer === 'allow' || answer === 'deny') return answer;
    warnOf(request, `expected 'allow' or 'deny', got ${showValue(answer)}`);
  } catch (error) {
    // Whoever is asked may be interrupted by the signal.
    if (!request.signal.aborted) warnOf(request, `threw: ${describeThrown(error)}`);
  }
  return 'deny';
}

function nameOf(keeper: number, number: number): string {
  return `${keeper} ${number}`;
}

function toRequest(record: AskedRecord, signal: AbortSignal): ExecRequest {
  const [, , , , pid, program, cwd, say, parents, argv] = record;
  return {
    program,
    argv,
    cwd,
    pid,
    parents: parents.map(([id, path]) => ({ pid: id, program: path })),
    ...(say !== '' && { say }),
    signal,
  };
}

function warnOf({ program }: ExecRequest, what: string): void {
  warnHost(`onExec: ${what}; ${program} was denied`);
}
