import { KeeperConnection } from '../keeper/connection.js';
import type { FollowedMessage } from '../keeper/message.js';

/** Messages that are held until they are taken; then the keeper waits, and in the end leaves some out. */
const MOST_HELD = 8;

/**
 * What a terminal shows, from its keeper, on a connection of its own: a reader that is slow makes no other
 * call wait.
 */
export class TerminalStream {
  readonly #connection: KeeperConnection;
  readonly #held: FollowedMessage[] = [];
  #wake = (): void => {};

  /**
   * @param directory The directory of the task.
   * @param since The position in the output from which on it is told; older output may be forgotten.
   * @param live Whether output is told that comes later.
   * @throws No keeper answers.
   */
  static async open(directory: string, since: number, live: boolean): Promise<TerminalStream> {
    const stream = new TerminalStream(await KeeperConnection.open(directory));
    stream.#follow(since, live);
    return stream;
  }

  private constructor(connection: KeeperConnection) {
    this.#connection = connection;
  }

  /** Returns the next message, once there is one; undefined: the keeper is gone, or the stream closed. */
  async next(): Promise<FollowedMessage | undefined> {
    for (;;) {
      const message = this.#held.shift();
      if (message !== undefined) return message;
      if (!this.#connection.isOpen) return undefined;
      this.#connection.resume();
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  close(): void {
    this.#connection.close();
  }

  #follow(since: number, live: boolean): void {
    this.#connection.onChange = () => this.#wake();
    const told = (message: FollowedMessage): void => {
      this.#held.push(message);
      if (this.#held.length >= MOST_HELD) this.#connection.pause();
      this.#wake();
    };
    // A keeper that is gone ends the stream.
    this.#connection.follow(since, live, told).catch(() => {});
  }
}
