import { startTimer } from '../../../support/timing.js';
import { GroupEnding } from './ending.js';
import type { ProcessGroup } from './group.js';
import { dropGuarded } from './guard.js';

/** How often it is looked whether anybody is left, in milliseconds. */
const LOOK_MS = 1000;
/** And while somebody waits for that. */
const FOLLOWED_LOOK_MS = 50;
/** So many looks in vain, and `ps` is asked. */
const LOOKS_BEFORE_PS = 20;

const leftovers = new Set<Leftover>();

/** Those of a command's group who have outlived it. */
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

  /** Ends them; resolves when they are gone, or given up. */
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

  /** Resolves when nobody is left. */
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

  /** Nobody waits for a zombie that nobody reaps. */
  async #lookClosely(): Promise<void> {
    this.#looks += 1;
    if (this.#looks % LOOKS_BEFORE_PS === 0) await this.#group.family();
    this.#look();
  }

  #tell(): void {
    for (const follower of this.#followers.splice(0)) follower();
  }
}

/** Who is left of an owner's commands. */
export function leftoversOf(owner: number): readonly Leftover[] {
  return [...leftovers].filter((leftover) => leftover.owner === owner);
}
