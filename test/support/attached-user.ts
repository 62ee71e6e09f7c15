import { afterEach, expect } from 'vitest';
import { type LiveProcess, spawn, type TerminalSize } from '../../src/index.js';
import { Emulator } from '../../src/terminal/emulator.js';
import { program } from './cli.js';
import { quote } from './commands.js';
import { childrenOf, eventually } from './processes.js';

const SIZE = { columns: 80, rows: 24 };

const users: LiveProcess[] = [];
afterEach(async () => {
  for (const live of users.splice(0)) {
    live.kill();
    await live.result;
  }
});

/** A user before a terminal on which `forkline attach` runs. */
export class User {
  readonly live: LiveProcess;
  readonly #emulator: Emulator;
  /** All that the terminal has got. */
  raw = '';
  readonly #drawn: Promise<void>;

  private constructor(live: LiveProcess, emulator: Emulator) {
    this.live = live;
    this.#emulator = emulator;
    this.#drawn = this.#draw();
  }

  static async attach(id: string, size: TerminalSize = SIZE, ...flags: string[]): Promise<User> {
    const words = [process.execPath, program, 'attach', id, ...flags].map(quote);
    const command = `echo before; a=$(stty -g); ${words.join(' ')}; rc=$?
      test "$a" = "$(stty -g)" && echo "restored, $rc"`;
    const live = await spawn(command, { pty: size });
    users.push(live);
    return new User(live, await Emulator.create(size));
  }

  get screen(): string {
    return this.#emulator.text();
  }

  /** The process of `forkline attach`. */
  get pid(): number {
    const pid = childrenOf(this.live.pid)[0];
    if (pid === undefined) throw new Error('nothing is attached');
    return pid;
  }

  type(keys: string): Promise<void> {
    return this.live.write(keys);
  }

  resize(columns: number, rows: number): void {
    this.live.resize(columns, rows);
    this.#emulator.resize({ columns, rows });
  }

  async sees(text: string | RegExp): Promise<void> {
    await eventually(() => expect(this.screen).toMatch(text), 20_000);
  }

  /** What is on the screen at the end. */
  async ended(): Promise<string> {
    await this.live.result;
    await this.#drawn;
    return this.screen;
  }

  async #draw(): Promise<void> {
    for await (const { text } of this.live) {
      this.raw += text;
      await this.#emulator.write(text);
    }
  }
}
