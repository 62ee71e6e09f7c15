import { startTimer } from '../../../support/timing.js';
import { GroupEnding } from './ending.js';
import type { ProcessGroup } from './group.js';
import { dropGuarded } from './guard.js';

/** The interval of looks for remaining processes, in milliseconds. */
const LOOK_MS = 1000;
/** The interval while their end is awaited. */
const FOLLOWED_LOOK_MS = 50;
/** The number of looks after which `ps` is run. */
const LOOKS_BEFORE_PS = 20;

const leftovers = new Set<Leftover>();

/** The processes of a command's group that outlive the command. */
export class Leftover {
  readonly owner: number;
  readonly #group: ProcessGroup;
  #followers: (() => void)[] = [];
  #ending: GroupEnding | undefined;
  #stopLook = (): void => {};
  #looks = 0;

  constructor(owner: number, group: ProcessGroup) {
    this.owner = owner;
    this.#group = group;
    leftovers.add(this);
    this.#look();
  }

  /** Ends them; resolves when they are gone, or cannot be ended. */
  end(graceMs: number): Promise<void> {
    if (this.#ending !== undefined) this.#ending.hurry(graceMs);
    return new Promise((resolve) => {
      this.#followers.push(resolve);
      this.#ending ??= new GroupEnding(this.#group, graceMs, ({ gaveUp }) => {
        this.#ending = undefined;
        if (gaveUp) this.#tell();
        else this.#look();
      });
    });
  }

  /** Resolves when no process is left. */
  gone(): Promise<void> {
    const gone = new Promise<void>((resolve) => this.#followers.push(resolve));
    this.#look();
    return gone;
  }

  #look(): void {
    this.#stopLook();
    if (this.#group.isEmpty) {
      leftovers.delete(this);
      dropGuarded(this.#group.id);
      this.#tell();
      return;
    }
    const isFollowed = this.#followers.length > 0;
    const next = isFollowed ? () => void this.#lookClosely() : () => this.#look();
    this.#stopLook = startTimer(isFollowed ? FOLLOWED_LOOK_MS : LOOK_MS, next);
  }

  /** Runs `ps` from time to time, so that an unreaped zombie is not waited for. */
  async #lookClosely(): Promise<void> {
    this.#looks += 1;
    if (this.#looks % LOOKS_BEFORE_PS === 0) await this.#group.family();
    this.#look();
  }

  #tell(): void {
    for (const follower of this.#followers.splice(0)) follower();
  }
}

/** Returns what is left of an owner's commands. */
export function leftoversOf(owner: number): readonly Leftover[] {
  return [...leftovers].filter((leftover) => leftover.owner === owner);
}
