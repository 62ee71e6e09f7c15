import type { BackgroundProcess } from '../../engine/outcome.js';
import { toOutcome } from '../../engine/result.js';
import { errorCode } from '../../engine/system-error.js';
import { sandboxFacts } from '../../engine/told/report.js';
import { makeReceipt, type Receipt, type ReceiptSource } from '../../receipt/receipt.js';
import { endDenials } from './end-denials.js';
import type { KeeperState, KeptEnd, KeptMember } from './keeper/keeper-state.js';
import type { DetachedOrder } from './place/order.js';
import type { TaskPlace } from './place/place.js';

/** The parts of a detached command that its receipt is made of. */
interface DetachedParts {
  readonly place: TaskPlace;
  readonly order: DetachedOrder;
  readonly state: KeeperState;
}

/**
 * Makes the receipt of a detached command from its keeper's record. Characters and lines of its output
 * are not counted, and the program that set a pipeline's exit code cannot be found without its
 * environment.
 *
 * @param left Processes that are known to run now.
 * @param trouble A fact that could not be looked up.
 */
export async function endReceipt(
  { place, order, state }: DetachedParts,
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
    outcome: toOutcome(end, order.timeoutMs, 'kill', order.command),
    durationMs: end.durationMs,
    cpu: { userMs, systemMs },
    peakMemory: { kind: 'measured', bytes: peakBytes },
    background: left.map((member) => toProcess(member, order.command)),
    output: NOT_READ,
    ...(share !== 0 && { notLowered: { code: errorCode(share), errno: share } }),
    ...(sandbox && sandboxFacts(sandbox)),
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

/** Describes a process; one whose command line is not known still has that of the command. */
export function toProcess(member: KeptMember, command: string): BackgroundProcess {
  return { pid: member.pid, processGroup: member.group, command: member.command ?? command };
}
