import type { RunResult } from '../../../engine/outcome.js';
import type { IncompleteCheckout } from '../../../engine/sandbox-report.js';
import { isAmong } from '../../paths.js';
import { type FileContent, judgePath, type Position, type WorkingFile } from './judge.js';
import type { CheckoutMark } from './mark.js';
import { FILES_SCRIPT, POSITIONS_SCRIPT, TREES_SCRIPT } from './scripts.js';

/** Runs a script in the sandbox. */
export type RunScript = (script: string, args: readonly string[]) => Promise<RunResult>;

/** The most files that are examined. */
const MOST_FILES = 500;

/** An object of git that has a name. */
interface GitObject {
  readonly type: string;
  readonly id: string;
}

interface Positions {
  readonly branch: string;
  readonly positions: readonly Position[];
  /** The objects at each position, by name. */
  readonly objects: readonly ReadonlyMap<string, GitObject>[];
  readonly staged: ReadonlyMap<string, { content: FileContent; isConflict: boolean }>;
}

/**
 * Finds the protected files that a command's moves of HEAD and the index have left behind, and the
 * commits that have recorded them.
 *
 * @throws {Error} Git could not tell.
 */
export async function incompleteIn(
  mark: CheckoutMark,
  run: RunScript,
): Promise<readonly IncompleteCheckout[]> {
  const { repository, at, movedAt } = mark;
  const { top, names } = repository;
  const known = await positionsOf(mark, run);
  if (known === undefined) return [];
  const { positions, objects, staged } = known;
  const begin = { at: at / 1000, movedAt };
  const open = names.filter((name) => {
    const ids = new Set(objects.map((those) => those.get(name)?.id));
    return ids.size > 1 || [...staged.keys()].some((path) => isAmong(path, [name]));
  });
  if (open.length === 0) return [];
  const trees = await treesOf(top, open, objects, run);
  const contents = objects.map((those) => filesOf(open, those, trees));
  const paths = [...new Set([...contents.flatMap((files) => [...files.keys()]), ...staged.keys()])];
  const looked = paths.filter((path) => isAmong(path, open)).slice(0, MOST_FILES);
  const working = await workingFiles(top, looked, run);
  const head = known.branch.replace(/^refs\/heads\//, '') || (positions[0]?.commit ?? '');
  const found = new Map<string, LeftChanges>();
  for (const [index, path] of looked.entries()) {
    const file = working[index];
    const name = open.find((one) => isAmong(path, [one]));
    if (file === undefined || name === undefined) continue;
    const history = {
      working: file,
      contents: contents.map((files) => files.get(path)),
      staged: staged.get(path),
    };
    const { wanted, commits } = judgePath(positions, history, begin);
    if (wanted === undefined && commits.length === 0) continue;
    const those = found.get(name) ?? noChanges();
    found.set(name, those);
    if (wanted !== undefined) those[LIST_OF[wanted]].push(path);
    for (const { commit, hadPath } of commits) {
      const recorded = those.commits.get(commit) ?? { changed: [], added: [] };
      those.commits.set(commit, recorded);
      recorded[hadPath ? 'changed' : 'added'].push(path);
    }
  }
  return [...found].map(([path, { changed, staged: inIndex, leftover, commits }]) => {
    const recorded = [...commits].map(([commit, files]) => {
      return { commit, isHead: positions[0]?.commit === commit, ...files };
    });
    return { path, repository: top, head, changed, staged: inIndex, leftover, recorded };
  });
}

const LIST_OF = { head: 'changed', index: 'staged', nothing: 'leftover' } as const;

interface LeftChanges {
  readonly changed: string[];
  readonly staged: string[];
  readonly leftover: string[];
  readonly commits: Map<string, { changed: string[]; added: string[] }>;
}

function noChanges(): LeftChanges {
  return { changed: [], staged: [], leftover: [], commits: new Map() };
}

/** Returns undefined when nothing has been committed yet. */
async function positionsOf(
  { repository: { top, git, names }, commit: old, logBytes, at }: CheckoutMark,
  run: RunScript,
): Promise<Positions | undefined> {
  const args = [top, `${git}/logs/HEAD`, String(logBytes), old, ...names];
  const lines = await linesOf(run(POSITIONS_SCRIPT, args));
  const branch = valueIn(lines, 'branch ') ?? '';
  const begin = lines.indexOf('objects');
  const end = lines.lastIndexOf('index');
  const moves = lines.slice(0, begin).flatMap((line) => {
    const [, to = '', time = 0, message = ''] = MOVE.exec(line) ?? [];
    return to === '' ? [] : [{ commit: to, time: Number(time), message }];
  });
  const [headLine = '', ...answers] = lines.slice(begin + 1, end);
  const head = objectIn(headLine);
  if (head === undefined) return undefined;
  if (lines.at(-1) === 'failed') throw new Error('git could not read its index');
  const all = answers.map(objectIn);
  const namesFrom = (start: number): ReadonlyMap<string, GitObject> =>
    new Map(
      names.flatMap((name, index) => {
        const object = all[start + index];
        return object === undefined ? [] : [[name, object] as const];
      }),
    );
  const ofOld = old === '' ? 0 : names.length;
  const since = Math.floor(at / 1000);
  const told = valueIn(lines, 'new ');
  const isNew = (time: number, index: number): boolean =>
    told === undefined ? time >= since : index < Number(told);
  const seen = moves.map((move, index) => ({
    position: { ...move, isOwn: isNew(move.time, index) },
    objects: namesFrom(names.length + ofOld + index * names.length),
  }));
  // The repository keeps no log of HEAD.
  if (seen[0]?.position.commit !== head.id) {
    const position = { commit: head.id, time: since, message: '', isOwn: true };
    seen.unshift({ position, objects: namesFrom(0) });
  }
  const first = seen.findIndex(({ position }) => !position.isOwn);
  const before = first < 0 ? seen.length : first;
  if (old !== '' && seen[before]?.position.commit !== old) {
    const position = { commit: old, time: 0, message: '', isOwn: false };
    seen.splice(before, 0, { position, objects: namesFrom(names.length) });
  }
  return {
    branch,
    positions: seen.map(({ position }) => position),
    objects: seen.map(({ objects }) => objects),
    staged: stagedIn(lines.slice(end + 1)),
  };
}

const MOVE = /^move ([\da-f]{40,64}) \S*@\{(\d+)\} ?(.*)$/;

function objectIn(line: string): GitObject | undefined {
  const [, type, id] = /^(blob|tree|commit) ([\da-f]{40,64})$/.exec(line) ?? [];
  return type === undefined || id === undefined ? undefined : { type, id };
}

/** Returns the entries of the index that differ from HEAD. */
function stagedIn(lines: readonly string[]): Positions['staged'] {
  const found = new Map<string, { content: FileContent; isConflict: boolean }>();
  for (const line of lines) {
    const [, id = '', status, path] = STAGED.exec(line) ?? [];
    if (path === undefined) continue;
    const content = status === 'D' || /^0+$/.test(id) ? undefined : id;
    found.set(path, {
      content,
      isConflict: status === 'U' || found.get(path)?.isConflict === true,
    });
  }
  return found;
}

const STAGED = /^:\d+ \d+ [\da-f]+ ([\da-f]+) ([A-Z])\d*\t(.+)$/;

async function treesOf(
  top: string,
  names: readonly string[],
  objects: Positions['objects'],
  run: RunScript,
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const all = objects.flatMap((those) => names.flatMap((name) => those.get(name) ?? []));
  const ids = [...new Set(all.filter(({ type }) => type === 'tree').map(({ id }) => id))];
  const trees = new Map<string, Map<string, string>>();
  if (ids.length === 0) return trees;
  let files = new Map<string, string>();
  for (const line of await linesOf(run(TREES_SCRIPT, [top, ...ids]))) {
    const [, tree] = /^tree ([\da-f]+)$/.exec(line) ?? [];
    if (tree !== undefined) {
      files = new Map();
      trees.set(tree, files);
    }
    const [, id, path] = /^\d+ blob ([\da-f]+)\t(.+)$/.exec(line) ?? [];
    if (id !== undefined && path !== undefined) files.set(path, id);
  }
  return trees;
}

/** Returns the files that a position has under these names. */
function filesOf(
  names: readonly string[],
  objects: ReadonlyMap<string, GitObject>,
  trees: ReadonlyMap<string, ReadonlyMap<string, string>>,
): ReadonlyMap<string, string> {
  return new Map(
    names.flatMap((name) => {
      const object = objects.get(name);
      if (object === undefined) return [];
      if (object.type === 'blob') return [[name, object.id] as const];
      const files = trees.get(object.id) ?? new Map<string, string>();
      return [...files].map(([path, id]) => [`${name}/${path}`, id] as const);
    }),
  );
}

/** Returns the contents of files; undefined for one that could not be read. */
async function workingFiles(
  top: string,
  paths: readonly string[],
  run: RunScript,
): Promise<readonly (WorkingFile | undefined)[]> {
  const lines = await linesOf(run(FILES_SCRIPT, [top, ...paths]));
  return paths.map((_, index) => {
    const [, content, seconds, rest = ''] = FILE.exec(lines[index] ?? '') ?? [];
    if (content === undefined) return undefined;
    const time = Number(`${seconds}.${rest}`);
    return { content: content === 'none' ? undefined : content, time };
  });
}

/** `2f… 1795980186 2026-11-29 19:23:06.123456789 +0000`; some systems print no fraction of a second. */
const FILE = /^(none|[\da-f]{40,64}) (\d+) [\d-]+ [\d:]+\.?(\d*)/;

/** @throws {Error} The output is incomplete. */
async function linesOf(running: Promise<RunResult>): Promise<readonly string[]> {
  const result = await running;
  const stdout = 'stdout' in result ? result.stdout : result.output;
  const lines = stdout.kind === 'complete' ? stdout.text.split('\n').slice(0, -1) : [];
  if (lines.at(-1) === 'end') return lines.slice(0, -1);
  const { outcome } = result;
  throw new Error(
    outcome.kind === 'timedOut' ? 'git took too long' : `git failed (${describe(outcome)})`,
  );
}

function describe(outcome: RunResult['outcome']): string {
  return outcome.kind === 'exited' ? `exit code ${outcome.exitCode}` : outcome.kind;
}

function valueIn(lines: readonly string[], word: string): string | undefined {
  return lines
    .find((line) => line.startsWith(word))
    ?.slice(word.length)
    .trim();
}
