import type { SandboxReport } from '../../engine/sandbox-report.js';
import type { ChangeState } from '../../engine/undo/changes.js';
import { visibleText } from '../../support/text.js';

const SHOWN_PATHS = 3;
const KINDS = ['created', 'changed', 'deleted', 'renamed'] as const;

/** Says whether what a command has changed is in effect. */
const EFFECT: Readonly<Record<ChangeState, (files: string) => string>> = {
  made: (files) => `Changed ${files}.`,
  held: (files) => `Held, not in effect: ${files}. The user can accept them.`,
  discarded: (files) => `Discarded, not in effect: ${files}.`,
};

/**
 * Says how many files a command has changed, what is not known of that, and what of it can't be taken back, in one
 * line each. Empty: it has changed nothing, or what it changes is not recorded. The exact words are for models, too.
 */
export function changeNotices({ changes }: SandboxReport): readonly string[] {
  if (changes === undefined) return [];
  const { complete, unseen } = changes;
  const some = KINDS.filter((kind) => changes[kind] > 0);
  const total = some.reduce((sum, kind) => sum + changes[kind], 0);
  const counts = some.map((kind) => `${changes[kind]} ${kind}`).join(', ');
  const why = unseen.length === 0 ? 'some were not seen' : unseen.map(visibleText).join('; ');
  const files = `${total} ${total === 1 ? 'file' : 'files'} (${counts})`;
  return [
    ...(total === 0 ? [] : [EFFECT[changes.state](files)]),
    ...(complete ? [] : [`Not all changes are known: ${why}.`]),
    ...unrevertableNotice(changes),
  ];
}

function unrevertableNotice({
  unrevertable,
  moreUnrevertable = 0,
}: NonNullable<SandboxReport['changes']>): readonly string[] {
  if (unrevertable.length === 0) return [];
  const shown = unrevertable
    .slice(0, SHOWN_PATHS)
    .map(({ path, reason }) => `${visibleText(path)} (${visibleText(reason)})`);
  const more = unrevertable.length - shown.length + moreUnrevertable;
  const end = more > 0 ? ` and ${more} more` : '';
  return [`Can't be taken back: ${shown.join(', ')}${end}.`];
}
