import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gitProgram } from '../git/judged.js';
import { gitDirectories } from '../git/places.js';
import { isAmong } from '../paths.js';
import { identityOf } from './identity.js';
import { acceptedFiles, type PresentFile, presentAmong } from './present.js';

/** A repository by whose history changes to settings are judged. */
interface JudgingRepository {
  readonly directory: string;
  /** The top directory of the working tree. */
  readonly top: string;
  readonly before: HistoryBefore;
}

/** What was there before any command ran. */
interface HistoryBefore {
  /** The commits and tags that the references named. */
  readonly tips: readonly string[];
  /** What lay at the settings of the first sandbox. */
  readonly present: readonly PresentFile[];
}

/** References in this order count, if there are more. */
const ORDER = ['HEAD', 'refs/heads/', 'refs/stash', 'refs/remotes/', 'refs/tags/', ''];
const MOST_TIPS = 256;
const MOST_REPOSITORIES = 256;
const LONGEST_MS = 10_000;
const MOST_BYTES = 64 * 1024 * 1024;

/** By git directory: what the first sandbox found. Commands of this host can have added all later commits. */
const pinned = new Map<string, HistoryBefore>();

/**
 * Makes the entries of a plan by which the keeper judges changes to settings that are tracked in git.
 *
 * @param writable Real paths where commands write, git's directories among them.
 * @param directories Git's directories.
 * @param settings Names of settings in each writable directory.
 */
export function judgingEntries(
  writable: readonly string[],
  directories: readonly string[],
  settings: readonly string[],
): readonly string[] {
  const roots = directories.length === 0 ? [] : writable;
  return roots.flatMap((root) => {
    if (directories.includes(root)) return [];
    const lookAt = () => roots.flatMap((one) => presentAmong(one, settings));
    const found = judgingRepository(root, writable, lookAt);
    if (found === undefined || !directories.includes(found.directory)) return [];
    const { tips, present } = found.before;
    const here = [...present, ...acceptedFiles()].filter(({ path }) => isAmong(path, [root]));
    const isLong = (tips[0]?.length ?? 0) > 40;
    return [
      `repository\0${found.directory}\0top\0${found.top}\0`,
      ...tips.map((id) => `tip\0${id}\0`),
      ...settings.map((name) => `setting\0${join(root, name)}\0`),
      ...here.map(({ path, mode, sha1, sha256 }) => {
        return `present\0${path}\0blob\0${mode} ${isLong ? sha256 : sha1}\0`;
      }),
    ];
  });
}

/**
 * Finds the repository of a writable directory, what its references name, and what lies at settings. The
 * first call for a repository decides.
 *
 * @param lookAt Returns what lies at settings.
 * @returns undefined when there is no repository, or git is not installed outside of writable directories.
 */
function judgingRepository(
  workspace: string,
  writable: readonly string[],
  lookAt: () => readonly PresentFile[],
): JudgingRepository | undefined {
  const [directory] = gitDirectories(workspace);
  const top = topOf(workspace);
  const program = gitProgram(writable);
  if (directory === undefined || top === undefined || program === undefined) return undefined;
  const key = `${directory}\0${identityOf(directory)}`;
  const before = pinned.get(key) ?? { tips: tipsOf(program, top), present: lookAt() };
  pinned.delete(key);
  pinned.set(key, before);
  const [oldest] = pinned.keys();
  if (pinned.size > MOST_REPOSITORIES && oldest !== undefined) pinned.delete(oldest);
  return { directory, top, before };
}

/** Returns the nearest directory that has a `.git`. */
function topOf(workspace: string): string | undefined {
  for (let directory = workspace; ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory;
    if (directory === dirname(directory)) return undefined;
  }
}

function tipsOf(program: string, top: string): readonly string[] {
  let lines: readonly string[];
  try {
    // HEAD is that of the working tree, not of the repository.
    const text = execFileSync(program, ['show-ref', '--head'], {
      cwd: top,
      encoding: 'utf8',
      maxBuffer: MOST_BYTES,
      timeout: LONGEST_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {
        GIT_DIR: join(top, '.git'),
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_NO_REPLACE_OBJECTS: '1',
        LC_ALL: 'C',
      },
    });
    lines = text.split('\n').filter(Boolean);
  } catch {
    // Nothing has been committed yet, or nothing can be read: then no change is known.
    return [];
  }
  const references = lines.map((line) => {
    const [id = '', name = ''] = line.split(' ', 2);
    return { id, order: ORDER.findIndex((begin) => name.startsWith(begin)) };
  });
  references.sort((a, b) => a.order - b.order);
  return [...new Set(references.map(({ id }) => id))].slice(0, MOST_TIPS);
}
