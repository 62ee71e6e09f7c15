import type { Need } from '../../../support/needs.js';

/** A repository that is made by code, and what is done in it. */
export interface Repository {
  readonly name: string;
  /** The text for bash that makes it, in an empty folder that is its parent; see `make.ts` for what it can call. */
  readonly made: string;
  /** The workspace, from that folder. Default: `work`. */
  readonly workspace?: string;
  /** What can be written to besides, from that folder: remotes, to which a server would write. */
  readonly writable?: readonly string[];
  readonly needs?: readonly Need[];
  /** Texts for bash, each for a fresh copy. Those of `often` are in every run of the tests, the others are slow. */
  readonly often: readonly string[];
  readonly commands: readonly string[];
}
