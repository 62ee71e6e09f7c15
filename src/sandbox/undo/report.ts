import type { BaseResult } from '../../engine/outcome.js';
import type { Owner } from '../../engine/owner.js';
import type { EngineReport, SandboxReport } from '../../engine/sandbox-report.js';
import type { ChangeFacts } from '../../engine/undo/changes.js';
import { readJournals } from '../../engine/undo/journal.js';
import { messageOf } from '../../support/errors.js';
import { noFacts } from './elsewhere.js';
import { noteOfOwner } from './of-owner.js';
import { RevertibleChanges } from './revertible.js';
import { noteCommand, undoDirectory } from './store.js';
import { untilWritten } from './written.js';

/** The most paths in a report that can't be taken back. */
const MOST_TOLD = 20;

/** The parts of a result that tell of changes. */
type ChangingResult = Pick<BaseResult, 'sandbox' | 'changes'>;

/** The command of a result. */
interface ChangingCommand {
  readonly text: string;
  readonly cwd: string;
  /** The owner, by which its tool finds it again. Undefined: the host. */
  readonly owner: Owner | undefined;
}

/** Adds to a result what its command has changed, of which the engine knows the journal. */
export async function withChanges<R extends ChangingResult>(
  result: R,
  { text, cwd, owner }: ChangingCommand,
): Promise<R> {
  const { undoId, ...report } = result.sandbox as EngineReport;
  if (report.enforced.undo !== 'journal') return result;
  const ids = undoId === undefined ? [] : [undoId];
  const facts = await changesBy(ids);
  if (undoId !== undefined) {
    await noteJournal(undoId, { text, cwd, owner });
  }
  const changes = new RevertibleChanges(facts, ids, cwd);
  return { ...result, sandbox: withCounts(report, facts), changes };
}

/** Adds to a journal what the host knows of its command, unless that is there, and to those of its owner. */
export async function noteJournal(
  id: string,
  { text, cwd, owner }: ChangingCommand,
): Promise<void> {
  await noteCommand(undoDirectory() ?? '', id, { line: text, cwd });
  if (owner !== undefined) noteOfOwner(owner, { id, command: text, cwd });
}

/** Does the same for a report without a result: it has how much was changed, but no way to take it back. */
export async function withChangeRows(
  known: EngineReport,
  command: ChangingCommand,
): Promise<EngineReport> {
  const { undoId, ...report } = known;
  if (report.enforced.undo !== 'journal') return known;
  const facts = await changesBy(undoId === undefined ? [] : [undoId]);
  if (undoId !== undefined) await noteJournal(undoId, command);
  return withCounts(report, facts);
}

/**
 * Adds to the result of a command that was run twice what the first run has changed: both can be taken back.
 *
 * @param cwd The command's directory.
 */
export async function withEarlierChanges<R extends ChangingResult>(
  second: R,
  first: ChangingResult,
  cwd: string,
): Promise<R> {
  const earlier = RevertibleChanges.idsOf(first.changes);
  if (earlier.length === 0) return second;
  const ids = [...earlier, ...RevertibleChanges.idsOf(second.changes)];
  const facts = await changesBy(ids);
  const sandbox = second.sandbox && withCounts(second.sandbox, facts);
  const changes = new RevertibleChanges(facts, ids, cwd);
  return { ...second, changes, ...(sandbox && { sandbox }) };
}

/** Reads journals; one that can't be read is what is not known. */
async function changesBy(ids: readonly string[]): Promise<ChangeFacts> {
  const directory = undoDirectory();
  const id = ids.at(-1);
  if (id === undefined || directory === undefined) return { state: 'made', ...noFacts() };
  await untilWritten(directory, id);
  try {
    const { isReverted: _, ...facts } = await readJournals(directory, ids);
    return { id, ...facts };
  } catch (error) {
    const reason = `the record of them can't be read: ${messageOf(error)}`;
    return { state: 'made', ...noFacts(reason), id };
  }
}

/** Adds to a report how much was changed. */
export function withCounts<Report extends SandboxReport>(
  report: Report,
  facts: ChangeFacts,
): Report {
  // Without methods, such as those of held changes.
  const { list: _, more: __, unrevertable, ...counts } = { ...facts };
  const left = unrevertable.length - MOST_TOLD;
  const changes = {
    ...counts,
    unrevertable: unrevertable.slice(0, MOST_TOLD),
    ...(left > 0 && { moreUnrevertable: left }),
  };
  return { ...report, changes };
}
