/** What is at a path: in a tree by git's number of the content, in the working tree the same. */
export type FileContent = string | undefined;

/** Where HEAD was, the newest first. */
export interface Position {
  readonly commit: string;
  /** When it got there, in seconds since 1970; 0: that is not known. */
  readonly time: number;
  /** What brought it there: `checkout: moving from main to release`; empty: that is not known. */
  readonly message: string;
  /** It got there while the command ran. */
  readonly isOwn: boolean;
}

/** A path as it is in the working tree. */
export interface WorkingFile {
  readonly content: FileContent;
  /** When it was changed last, or what it would be in was, in seconds since 1970. */
  readonly time: number;
}

/** All that is known of one path. */
interface PathHistory {
  readonly working: WorkingFile;
  /** What each position has there. */
  readonly contents: readonly FileContent[];
  /** What the index has, if that is not what HEAD has. */
  readonly staged: { readonly content: FileContent; readonly isConflict: boolean } | undefined;
}

/** When a command began, in seconds since 1970. */
interface CommandBegin {
  readonly at: number;
  /** When HEAD had moved last before; NaN: that is not known. */
  readonly movedAt: number;
}

/** What is wrong with a path. */
interface PathVerdict {
  /** What it should be: as in HEAD, as in the index, or not there. Undefined: it is as it should be. */
  readonly wanted: 'head' | 'index' | 'nothing' | undefined;
  /** Commits with what was left behind, each with whether the commit before has the path. */
  readonly commits: readonly { readonly commit: string; readonly hadPath: boolean }[];
}

/** One that replaces files (`--hard`) fails where it can't, and moves nothing. */
const BY_RESET = /^reset:/;
const BY_COMMIT = /^(?:commit\b|rebase.*\((?:continue|amend))/;

/**
 * Tells what git could not replace from what its user has changed: the former is as HEAD had it before,
 * and was not written since HEAD left that.
 *
 * @param positions Where HEAD was, as far back as is known.
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
    // Taken out of the index alone is what somebody has asked for.
    const isLeft = staged && (staged.isConflict || staged.content !== undefined);
    return isLeft ? 'index' : undefined;
  }
  const wanted = now === undefined ? 'nothing' : 'head';
  for (const [index, left] of positions.entries()) {
    const isLost = contents[index] !== working.content && contents[index + 1] === working.content;
    if (!isLost || index + 1 >= contents.length) continue;
    // `git rm --cached`: what is taken out so is to stay in the working tree.
    if (contents[index] === undefined && BY_COMMIT.test(left.message)) return undefined;
    if (!BY_RESET.test(left.message) && isOlder(working, left, begin)) return wanted;
  }
  if (contents.includes(working.content)) return undefined;
  // Its user's own, which git was to overwrite all the same (`checkout -f`).
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

/** Whether the path was not written since HEAD got to a position. */
function isOlder(
  { time }: WorkingFile,
  position: Position | undefined,
  { at, movedAt }: CommandBegin,
): boolean {
  if (position === undefined) return false;
  if (position.isOwn) return time <= at;
  // The log of HEAD has whole seconds, but is itself as old as its last move.
  return Math.floor(time) <= position.time && !(time >= movedAt);
}
