import { askHost, type OnExec } from '../../faces/engine.js';
import type { SentExec } from '../wire/protocol.js';

/** The questions of a far side about programs of one command, which are answered here. */
export class FarQuestions {
  readonly #onExec: OnExec | undefined;
  readonly #decide: (question: number, answer: 'allow' | 'deny') => void;
  readonly #open = new Map<number, AbortController>();

  /** @param decide Sends an answer to the far side. */
  constructor(
    onExec: OnExec | undefined,
    decide: (question: number, answer: 'allow' | 'deny') => void,
  ) {
    this.#onExec = onExec;
    this.#decide = decide;
  }

  /** Has a question answered. */
  ask(question: number, sent: SentExec): void {
    const controller = new AbortController();
    this.#open.set(question, controller);
    void askHost({ ...sent, signal: controller.signal }, this.#onExec).then((answer) => {
      if (!this.#open.delete(question)) return;
      this.#decide(question, answer === 'allow' ? 'allow' : 'deny');
    });
  }

  /** Notes that a question needs no answer any more. */
  withdraw(question: number): void {
    const controller = this.#open.get(question);
    this.#open.delete(question);
    controller?.abort();
  }

  /** Withdraws all questions: the command has ended, or the line is gone. */
  close(): void {
    for (const question of [...this.#open.keys()]) this.withdraw(question);
  }
}
