/** What a change is of. */
export type ChangedType = 'file' | 'directory' | 'link' | 'other';

/**
 * A change by a command, as it is at the command's end: what was made and removed again is none. Paths are absolute.
 */
export type Change =
  | {
      readonly kind: 'created';
      /** Its path. */
      readonly path: string;
      /** What it is. */
      readonly type: ChangedType;
      /** Bytes; of a directory, of all files in it. */
      readonly size: number;
      /** The number of files in a directory. */
      readonly files?: number;
    }
  /** A file has another content. */
  | {
      readonly kind: 'changed';
      /** Its path. */
      readonly path: string;
      /** Bytes now. */
      readonly size: number;
      /** Bytes before. */
      readonly sizeBefore: number;
    }
  | {
      readonly kind: 'deleted';
      /** Its path before. */
      readonly path: string;
      /** What it was. */
      readonly type: ChangedType;
      /** Bytes before. */
      readonly sizeBefore: number;
    }
  | {
      readonly kind: 'renamed';
      /** Its path now. */
      readonly path: string;
      /** Its path before. */
      readonly from: string;
      /** Whether its content is another one, too. */
      readonly isChanged: boolean;
    }
  /** It has other permissions or another owner. */
  | {
      readonly kind: 'mode';
      /** Its path. */
      readonly path: string;
      /** Its permissions now, a number from 0 to 0o7777. */
      readonly mode: number;
      /** Its permissions before, likewise a number from 0 to 0o7777. */
      readonly modeBefore: number;
    }
  /** Only its times or its extended attributes are others. */
  | {
      readonly kind: 'attributes';
      /** Its path. */
      readonly path: string;
    };

/** A path, and why something is so with it. */
export interface PathReason {
  /** Absolute path. */
  readonly path: string;
  /** Why, in some words for people. */
  readonly reason: string;
}

/**
 * Whether changes are in effect: they are (`made`); they are not until they are accepted (`held`); or they never
 * are (`discarded`).
 */
export type ChangeState = 'made' | 'held' | 'discarded';

/** How many files were changed, and how much is known of it. */
export interface ChangeCounts {
  /** Whether they are in effect. */
  readonly state: ChangeState;
  /** The id by which `forkline changes` and `forkline revert` find the changes; absent: nothing was changed. */
  readonly id?: string;
  /** The number of files that were created. */
  readonly created: number;
  /** The number of files with another content or another mode. */
  readonly changed: number;
  /** The number of files that were deleted. */
  readonly deleted: number;
  /** The number of files that have another path. */
  readonly renamed: number;
  /** Whether all changes are known; `unseen` says why not. */
  readonly complete: boolean;
  /** Why changes may be missing, one line each. */
  readonly unseen: readonly string[];
  /** What can't be taken back, and why. */
  readonly unrevertable: readonly PathReason[];
}

/** The changes of a command: plain data. */
export interface ChangeFacts extends ChangeCounts {
  /** The changes by their paths: at most 10,000. */
  readonly list: readonly Change[];
  /** The number of changes that are not in `list`. */
  readonly more: number;
}

/** The changes of files by a command. What was made can be taken back. */
export interface Changes extends ChangeFacts {
  readonly state: 'made' | 'discarded';
  /**
   * Puts back what was there before the command: names, contents, modes, owners, times of files, extended attributes
   * and links. What has been changed since is a conflict, and stays as it is.
   *
   * @param paths Only what is at or below these, absolute or relative to the command's directory; a file that was
   * renamed is at both. Default: all.
   * @throws {InputError} `paths` is not an array of paths.
   * @throws {Error} The record of the changes is gone, can't be read, or lies on another machine.
   */
  revert(paths?: readonly string[]): Promise<Reverted>;
}

/**
 * Changes that are not in effect: those of all commands with the same policy object, or of all of a tool. They lie in
 * the user's state directory until they are accepted or dropped, also when the host has ended; at most 14 days.
 */
export interface HeldChanges extends ChangeFacts {
  readonly state: 'held';
  /**
   * Puts changes into effect, each file at once. What was changed outside meanwhile is a conflict, and stays as it
   * is. Settings that programs outside obey, such as `.git/config` or `.npmrc`, are accepted by their own path alone.
   *
   * @param paths Only what is at or below these, absolute or relative to the command's directory. Default: all.
   * @throws {InputError} `paths` is not an array of paths.
   * @throws {Error} The changes are gone, can't be read, or lie on another machine.
   */
  accept(paths?: readonly string[]): Promise<Accepted>;
  /**
   * Drops changes, which then have never been.
   *
   * @param paths As for `accept()`. Default: all.
   * @throws {InputError} `paths` is not an array of paths.
   * @throws {Error} Of some paths: they are in use, since a sandbox stands on them; or as for `accept()`.
   */
  revert(paths?: readonly string[]): Promise<Reverted>;
}

/** What has been put into effect. */
export interface Accepted {
  /** The paths that are as the commands have left them. */
  readonly accepted: readonly string[];
  /** What was left as it is, since it was changed outside, or can't be put there. */
  readonly conflicts: readonly PathReason[];
  /** Settings that were not asked for by their own path. */
  readonly heldBack: readonly PathReason[];
}

/** What has been taken back. */
export interface Reverted {
  /** The paths that are as they were before. */
  readonly reverted: readonly string[];
  /** What was changed since, and was left as it is. */
  readonly conflicts: readonly PathReason[];
  /** What was to be taken back, and of which no copy could be kept. */
  readonly lost: readonly PathReason[];
}

/** The changes of one command among others. */
export interface CommandChanges extends ChangeCounts {
  readonly id: string;
  /** The command's text; absent: the host ended before the command. */
  readonly command?: string;
  /** The directory in which it ran; absent: not known. */
  readonly cwd?: string;
  /** When it made its first change, in milliseconds since 1970. */
  readonly at: number;
  /** Whether all of it was reverted. */
  readonly isReverted: boolean;
}
