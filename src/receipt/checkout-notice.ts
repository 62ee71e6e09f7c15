import type { IncompleteCheckout, SandboxReport } from '../engine/sandbox-report.js';
import { shellQuote } from '../support/quote.js';
import { visibleText } from '../support/text.js';

const SHOWN_NAMES = 5;
const SHOWN_FILES = 20;
const ID_LENGTH = 12;

/**
 * Describes in one line that git could not replace files which a sandbox protects, and how to repair that
 * before a commit. Returns undefined when nothing is known to be left behind.
 */
export function incompleteNotice(report: SandboxReport | undefined): string | undefined {
  const { incomplete = [] } = report ?? {};
  const [first] = incomplete;
  if (first === undefined) return undefined;
  // Nearly always there is only one repository.
  const those = incomplete.filter(({ repository }) => repository === first.repository);
  const names = those.slice(0, SHOWN_NAMES).map(({ path }) => visibleText(path));
  const more = incomplete.length - names.length;
  const listed = more > 0 ? [...names, `${more} more`] : names;
  const it = listed.length === 1 ? 'it' : 'them';
  const said = `Checkout is incomplete: ${inWords(listed)} could not be replaced (the sandbox keeps ${it})`;
  const commits = new Set(those.flatMap(({ recorded }) => recorded.map(({ commit }) => commit)));
  const [commit] = commits;
  const isStanding = those.some(({ changed, staged, leftover }) =>
    [changed, staged, leftover].some((paths) => paths.length > 0),
  );
  if (commit === undefined || isStanding) {
    const also = commit === undefined ? '' : `, and commit ${shortened(commit)} has the old files`;
    const remedy = inBackquotes(standingRemedy(first.head, those));
    return `${said}${also}. Nothing should be committed before ${remedy} outside.`;
  }
  const recorded = `${said}, and commit ${shortened(commit)} has the old files. `;
  const isHead = those.some((one) =>
    one.recorded.some((each) => each.commit === commit && each.isHead),
  );
  if (!isHead) return `${recorded}That commit should not be pushed, but made anew outside.`;
  const remedy = inBackquotes(recordedRemedy(commit, those));
  return `${recorded}Nothing more should be committed, nor that pushed, before ${remedy} outside.`;
}

/** The commands that repair the working tree, for a user who can write to it. */
function standingRemedy(head: string, all: readonly IncompleteCheckout[]): string {
  const leftover = all.flatMap((one) => one.leftover);
  const changed = all.filter((one) => one.changed.length > 0).map(({ path }) => path);
  const staged = all.filter((one) => one.staged.length > 0).map(({ path }) => path);
  return joined([
    leftover.length > 0 && ['rm', '-f', '--', ...leftover.slice(0, SHOWN_FILES)],
    changed.length > 0 && ['git', 'checkout', '-f', shortened(head), '--', ...changed],
    // Restores the merge's version, with its conflicts.
    staged.length > 0 && ['git', 'checkout', '-m', '--', ...staged],
  ]);
}

/** The commands that repair a commit which has recorded the files left behind. */
function recordedRemedy(commit: string, all: readonly IncompleteCheckout[]): string {
  const those = all.flatMap(({ recorded }) => recorded.filter((one) => one.commit === commit));
  const changed = those.flatMap((one) => one.changed).slice(0, SHOWN_FILES);
  const added = those.flatMap((one) => one.added).slice(0, SHOWN_FILES);
  return joined([
    changed.length > 0 && ['git', 'checkout', '-f', `${shortened(commit)}~1`, '--', ...changed],
    added.length > 0 && ['git', 'rm', '-qf', '--', ...added],
    ['git', 'commit', '--amend', '--no-edit'],
  ]);
}

function joined(commands: readonly (readonly string[] | false)[]): string {
  return commands.flatMap((words) => words || []).length === 0
    ? 'git status'
    : commands.flatMap((words) => (words ? [shellQuote(words)] : [])).join(' && ');
}

/** Shortens a commit's id; a branch's name stays whole. */
function shortened(head: string): string {
  return /^[\da-f]{40,64}$/.test(head) ? head.slice(0, ID_LENGTH) : head;
}

function inBackquotes(text: string): string {
  return `\`${visibleText(text)}\``;
}

function inWords(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}
