import type { BaseResult } from '../../engine/outcome.js';
import type { EngineReport, HeldChange } from '../../engine/sandbox-report.js';
import { type Held, NOTHING_HELD } from '../../engine/sandbox-report.js';
import { messageOf } from '../../support/errors.js';
import { HeldBack } from './held-back.js';
import type { HeldRecord } from './record.js';
import { heldDirectory, heldRecord, idsIn } from './store.js';

/** The most held changes of one command that are looked up. */
const MOST_HELD = 100;

/** The parts of a result that tell of held changes. */
type WithReport = Pick<BaseResult, 'sandbox' | 'heldBack'>;

/** Adds to a result the changes that its sandbox has held back, of which the engine knows the ids. */
export async function withHeld<R extends WithReport>(result: R): Promise<R> {
  const { heldIds, ...report } = result.sandbox as EngineReport;
  if (heldIds === undefined) return result;
  const { records, unseen } = await recordsOf(heldIds);
  const directory = heldDirectory() ?? '';
  const heldBack: Held[] = [];
  for (const record of records) {
    try {
      heldBack.push(await HeldBack.of(directory, record));
    } catch (error) {
      unseen.push(
        `a change of ${record.path} was held back, and can't be read: ${messageOf(error)}`,
      );
    }
  }
  const sandbox = withRows(report, records, unseen);
  return { ...result, sandbox, heldBack: heldBack.length === 0 ? NOTHING_HELD : heldBack };
}

/** Does the same for a report without a result: it has what was held back, but no way to accept it. */
export async function withHeldRows(known: EngineReport): Promise<EngineReport> {
  const { heldIds, ...report } = known;
  if (heldIds === undefined) return known;
  const { records, unseen } = await recordsOf(heldIds);
  return withRows(report, records, unseen);
}

const GONE = 'what was held back has been accepted, dropped or displaced since';

async function recordsOf(
  ids: readonly string[],
): Promise<{ readonly records: readonly HeldRecord[]; readonly unseen: string[] }> {
  const directory = heldDirectory();
  if (directory === undefined) return { records: [], unseen: [GONE] };
  const records: HeldRecord[] = [];
  const unseen: string[] = [];
  let there: ReadonlySet<string>;
  try {
    there = new Set(await idsIn(directory));
  } catch (error) {
    return { records, unseen: [`what was held back can't be read: ${messageOf(error)}`] };
  }
  // A change that was tried again has taken the place of the first, and of very many the first are displaced.
  const held = ids.filter((id) => there.has(id));
  for (const id of held.slice(-MOST_HELD)) {
    try {
      const record = await heldRecord(directory, id);
      if (record !== undefined) records.push(record);
    } catch (error) {
      unseen.push(`a change was held back as ${id}, and can't be read: ${messageOf(error)}`);
    }
  }
  if (held.length === 0) unseen.push(GONE);
  const more = held.length - MOST_HELD;
  if (more > 0) unseen.push(`${more} more changes were held back: forkline held lists them`);
  if (more > 0 && held.length < ids.length) unseen.push(GONE.replace('what', 'what else'));
  return { records, unseen };
}

function withRows(
  report: EngineReport,
  records: readonly HeldRecord[],
  unseen: readonly string[],
): EngineReport {
  const held = records.map(({ id, path, reason, keys, at }): HeldChange => {
    return { id, path, reason, at, ...(keys !== undefined && { keys }) };
  });
  return {
    ...report,
    ...(held.length > 0 && { held }),
    ...(unseen.length > 0 && { unseen: [...(report.unseen ?? []), ...unseen] }),
  };
}
