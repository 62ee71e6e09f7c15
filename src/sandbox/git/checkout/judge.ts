/**
 * The content of a path, as git's object id: in a tree, or in the working tree; undefined when it does
 * not exist.
 */
export type FileContent = string | undefined;

/** A position of HEAD; lists have the newest first. */
export interface Position {
  readonly commit: string;
  /** When HEAD moved there, in seconds since 1970; 0: not known. */
  readonly time: number;
  /** The reflog's message: `checkout: moving from main to release`; empty: not known. */
  readonly message: string;
  /** Whether HEAD moved there while the command ran. */
  readonly isOwn: boolean;
}

/** A path in the working tree. */
export interface WorkingFile {
  readonly content: FileContent;
  /** When the file, or the directory it would be in, was last changed, in seconds since 1970. */
  readonly time: number;
}

/** The known contents of one path. */
interface PathHistory {
  readonly working: WorkingFile;
  /** The content at each position. */
  readonly contents: readonly FileContent[];
  /** The content in the index, if it differs from HEAD's. */
  readonly staged: { readonly content: FileContent; readonly isConflict: boolean } | undefined;
}

/** When a command began, in seconds since 1970. */
interface CommandBegin {
  readonly at: number;
  /** The last move of HEAD before; NaN: not known. */
  readonly movedAt: number;
}

/** The judgement of a path. */
interface PathVerdict {
  /** The content it should have: that of HEAD, that of the index, or none. Undefined: it is correct. */
  readonly wanted: 'head' | 'index' | 'nothing' | undefined;
  /** Commits that have recorded the old content, each with whether the commit before has the path. */
  readonly commits: readonly { readonly commit: string; readonly hadPath: boolean }[];
}

/** A reset that replaces files (`--hard`) fails where it cannot, and does not move HEAD. */
const BY_RESET = /^reset:/;
const BY_COMMIT = /^(?:commit\b|rebase.*\((?:continue|amend))/;

/**
 * Distinguishes files that git could not replace from those that the user has changed: the former have
 * the content of an earlier HEAD, and were not written since HEAD left that.
 *
 * @param positions Positions of HEAD, as far back as they are known.
 */
export function judgePath(
  positions: readonly Position[],
  history: PathHistory,
  begin: CommandBegin,
): PathVerdict {
  return {
    wanted: wantedOf(positions, history, begin),
    commits: wrongCommits(positions, history, begin),
  };
}

function wantedOf(
  positions: readonly Position[],
  { working, contents, staged }: PathHistory,
  begin: CommandBegin,
): PathVerdict['wanted'] {
  const [now] = contents;
  if (working.content === now) {
    // A path that was only removed from the index was removed on purpose.
    const isLeft = staged && (staged.isConflict || staged.content !== undefined);
    return isLeft ? 'index' : undefined;
  }
  const wanted = now === undefined ? 'nothing' : 'head';
  for (const [index, left] of positions.entries()) {
    const isLost = contents[index] !== working.content && contents[index + 1] === working.content;
    if (!isLost || index + 1 >= contents.length) continue;
    // After `git rm --cached`, the file is meant to stay in the working tree.
    if (contents[index] === undefined && BY_COMMIT.test(left.message)) return undefined;
    if (!BY_RESET.test(left.message) && isOlder(working, left, begin)) return wanted;
  }
  if (contents.includes(working.content)) return undefined;
  // The user's own content, which git should have overwritten all the same (`checkout -f`).
  const isOverrun = positions.some(({ isOwn, message }, index) => {
    const hasChanged = index + 1 < contents.length && contents[index] !== contents[index + 1];
    return isOwn && hasChanged && !BY_COMMIT.test(message) && !BY_RESET.test(message);
  });
  return isOverrun && working.time <= begin.at ? wanted : undefined;
}

function wrongCommits(
  positions: readonly Position[],
  { working, contents }: PathHistory,
  begin: CommandBegin,
): PathVerdict['commits'] {
  return positions.flatMap(({ commit, message, isOwn }, index) => {
    const before = contents[index + 1];
    const isRecorded = contents[index] === working.content && before !== working.content;
    if (!isOwn || !isRecorded || index + 1 >= contents.length || !BY_COMMIT.test(message))
      return [];
    let first = index + 1;
    while (first + 1 < contents.length && contents[first + 1] === before) first += 1;
    const isKnown = first + 1 < contents.length;
    if (!isKnown || !isOlder(working, positions[first], begin)) return [];
    return [{ commit, hadPath: before !== undefined }];
  });
}

/** Returns whether the path was not written since HEAD moved to a position. */
function isOlder(
  { time }: WorkingFile,
  position: Position | undefined,
  { at, movedAt }: CommandBegin,
): boolean {
  if (position === undefined) return false;
  if (position.isOwn) return time <= at;
  // The log of HEAD has whole seconds, but its own modification time is that of the last move.
  return Math.floor(time) <= position.time && !(time >= movedAt);
}
