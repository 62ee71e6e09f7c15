import type { BackgroundProcess } from '../../engine/outcome.js';
import { toOutcome } from '../../engine/result.js';
import { errorCode } from '../../engine/system-error.js';
import { makeReceipt, type Receipt, type ReceiptSource } from '../../receipt/receipt.js';
import { endDenials } from './end-denials.js';
import type { KeeperState, KeptEnd, KeptMember } from './keeper/keeper-state.js';
import type { DetachedOrder } from './place/order.js';
import type { TaskPlace } from './place/place.js';

/** What a receipt needs to know of a command beside its end. */
interface Subject {
  readonly place: TaskPlace;
  readonly order: DetachedOrder;
  readonly state: KeeperState;
}

/**
 * The receipt of a detached command, of what its keeper has recorded. Its output's characters and lines
 * are not counted, and whose exit code a pipeline's is can't be told without its environment.
 *
 * @param left Those who are known to be there now.
 * @param trouble What could not be looked at.
 */
export async function endReceipt(
  { place, order, state }: Subject,
  end: KeptEnd,
  left: readonly KeptMember[],
  trouble?: string,
): Promise<Receipt> {
  const { userMs, systemMs, peakBytes, outputBytes, cutBytes, share } = end;
  const until = state.stage.kind === 'ended' ? state.stage.goneAt : Number.POSITIVE_INFINITY;
  const sandbox = end.sandbox === '' ? undefined : await endDenials(place, order, end, until);
  const result: ReceiptSource = {
    command: order.command,
    pid: state.leader.pid,
    outcome: toOutcome(end, order.timeoutMs, 'kill'),
    durationMs: end.durationMs,
    cpu: { userMs, systemMs },
    peakMemory: { kind: 'measured', bytes: peakBytes },
    background: left.map((member) => toProcess(member, order.command)),
    output: NOT_READ,
    ...(share !== 0 && { notLowered: { code: errorCode(share), errno: share } }),
    ...(sandbox && { sandbox }),
  };
  const kept = { path: place.output, bytes: outputBytes, missing: cutBytes };
  const receipt = await makeReceipt(result, { text: '', kept });
  const hidden = left.length > 0 ? end.totalLeft - end.left.length : 0;
  const more = hidden > 0 ? [`${hidden} more processes were left`] : [];
  const troubles = [...receipt.troubles, ...more, ...(trouble === undefined ? [] : [trouble])];
  return { ...receipt, streams: {}, troubles };
}

const NOTHING = { bytes: 0, characters: 0, lines: 0 };
const NOT_READ = { kind: 'complete', text: '', total: NOTHING, lossy: false } as const;

/** Whose command line is not known has still that of the command. */
export function toProcess(member: KeptMember, command: string): BackgroundProcess {
  return { pid: member.pid, processGroup: member.group, command: member.command ?? command };
}
