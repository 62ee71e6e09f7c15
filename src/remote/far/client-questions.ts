import type { ExecRequest } from '../../faces/engine.js';
import { onAbort } from '../../support/abort.js';
import type { CommandMessage } from '../wire/protocol.js';

type FarAnswer = 'allow' | 'deny';

/** The questions about programs of one command that its client has not answered. */
export class ClientQuestions {
  readonly #say: (message: CommandMessage) => void;
  readonly #open = new Map<number, (answer: FarAnswer) => void>();
  #last = 0;
  #isClosed = false;

  /** @param say Sends a message to the client. */
  constructor(say: (message: CommandMessage) => void) {
    this.#say = say;
  }

  /** Asks the client. Without a line to it, the program is denied. */
  ask({ signal, ...request }: ExecRequest): FarAnswer | Promise<FarAnswer> {
    if (this.#isClosed) return 'deny';
    this.#last += 1;
    const mayRun = this.#last;
    return new Promise((resolve) => {
      const offAbort = onAbort(signal, () => {
        this.decide(mayRun, 'deny');
        if (!this.#isClosed) this.#say({ withdrawn: mayRun });
      });
      this.#open.set(mayRun, (answer) => {
        offAbort();
        resolve(answer);
      });
      this.#say({ mayRun, request });
    });
  }

  /** Takes an answer; one that is not awaited any more has no effect. */
  decide(question: number, answer: FarAnswer): void {
    this.#open.get(question)?.(answer);
    this.#open.delete(question);
  }

  /** Denies what is open and what will be asked: the line is gone. */
  close(): void {
    this.#isClosed = true;
    for (const question of [...this.#open.keys()]) this.decide(question, 'deny');
  }
}
