import { hasCode } from '../../support/errors.js';
import type { SubjectState } from '../subject.js';
import { endReceipt } from './end-receipt.js';
import { isOfAnotherBoot, lookFor } from './identity.js';
import { KeeperConnection, KeeperSilent } from './keeper/connection.js';
import { type KeeperState, type KeptEnd, OtherVersion } from './keeper/keeper-state.js';
import type { DetachedOrder } from './place/order.js';
import type { TaskPlace } from './place/place.js';
import { lookAtRecord, readRecord, type SeenRecord } from './place/record.js';

/** The known state of a command, and its source. */
export type Standing =
  /** The keeper reports it, and can be asked for more. */
  | {
      readonly kind: 'kept';
      readonly connection: KeeperConnection;
      readonly state: KeeperState;
    }
  /** The keeper runs and writes its record, but accepts no connection. */
  | { readonly kind: 'recorded'; readonly state: KeeperState }
  /** It is not known to have ended, and its keeper can't be asked; `state`: the last known state. */
  | {
      readonly kind: 'unheard';
      readonly state: KeeperState | undefined;
      readonly trouble: string;
    }
  /** No process of the command is left. */
  | { readonly kind: 'over'; readonly state: KeeperState; readonly end: KeptEnd }
  /** The command had ended when its keeper was killed; processes that were left then may still run. */
  | { readonly kind: 'abandoned'; readonly state: KeeperState; readonly end: KeptEnd }
  /** `state`: the last known state. */
  | { readonly kind: 'lost'; readonly state: KeeperState | undefined; readonly reason: string };

/** Asks the keeper of a command, or else its record. */
export async function findStanding({ directory }: TaskPlace): Promise<Standing> {
  const before = await readRecord(directory);
  if (before?.stage.kind === 'ended') return { kind: 'over', state: before, end: before.stage.end };
  try {
    const connection = await KeeperConnection.open(directory);
    return { kind: 'kept', connection, state: connection.state };
  } catch (error) {
    // Read after the connection failed: a keeper that has just exited has written it before.
    return withoutAnswer(error, await lookAtRecord(directory), directory);
  }
}

async function withoutAnswer(
  error: unknown,
  { state: recorded, trouble }: SeenRecord,
  directory: string,
): Promise<Standing> {
  const isWhole = recorded !== undefined && trouble === undefined;
  if (isWhole && recorded.stage.kind === 'ended') {
    return { kind: 'over', state: recorded, end: recorded.stage.end };
  }
  // Only a keeper accepts connections.
  if (error instanceof OtherVersion) {
    const state = isWhole ? recorded : (error.begun ?? recorded);
    return { kind: 'unheard', state, trouble: await withLeader(error.message, state) };
  }
  const keeper = recorded === undefined ? '' : `, process ${recorded.keeper.pid},`;
  if (error instanceof KeeperSilent || hasCode(error, 'EAGAIN')) {
    const silent = `its keeper${keeper} does not answer`;
    return { kind: 'unheard', state: recorded, trouble: await withLeader(silent, recorded) };
  }
  if (recorded === undefined) {
    const why = trouble === undefined ? '' : `: ${trouble}`;
    const reason = `there is no trustworthy record of its start${why}`;
    return { kind: 'lost', state: undefined, reason };
  }
  if (await isOfAnotherBoot(recorded)) return afterReboot(recorded, trouble);
  const presence = await lookFor(recorded, recorded.keeper);
  if (presence === 'there') {
    // The keeper has no socket, or accepts no further connection.
    if (isWhole) return { kind: 'recorded', state: recorded };
    return { kind: 'unheard', state: recorded, trouble: await withLeader(trouble ?? '', recorded) };
  }
  if (presence === 'unknown' && !hasCode(error, 'ECONNREFUSED')) {
    const unseen = `whether its keeper${keeper} still runs can't be seen`;
    return { kind: 'unheard', state: recorded, trouble: unseen };
  }
  if (!isWhole) {
    const gone = `its keeper${keeper} has ended, and ${trouble}`;
    return { kind: 'lost', state: recorded, reason: await withLeader(gone, recorded) };
  }
  // The keeper may have exited since, with a last record.
  return withoutKeeper((await readRecord(directory)) ?? recorded);
}

async function withLeader(what: string, state: KeeperState | undefined): Promise<string> {
  return state === undefined ? what : `${what}; ${await describeLeader(state)}`;
}

async function withoutKeeper(state: KeeperState): Promise<Standing> {
  const { stage, keeper } = state;
  switch (stage.kind) {
    case 'ended':
      return { kind: 'over', state, end: stage.end };
    case 'left':
      return { kind: 'abandoned', state, end: stage.end };
    case 'running': {
      const leader = await describeLeader(state);
      const reason = `its keeper, process ${keeper.pid}, was killed; ${leader}`;
      return { kind: 'lost', state, reason };
    }
  }
}

/** After a reboot, no process of the command is left. */
function afterReboot(state: KeeperState, trouble: string | undefined): Standing {
  const { stage } = state;
  if (stage.kind === 'left' && trouble === undefined) {
    return { kind: 'over', state, end: stage.end };
  }
  return { kind: 'lost', state, reason: 'the machine was restarted while it ran' };
}

async function describeLeader(state: KeeperState): Promise<string> {
  const { pid } = state.leader;
  switch (await lookFor(state, state.leader)) {
    case 'there':
      return `the command's process, ${pid}, still runs`;
    case 'gone':
      return "the command's process has ended since";
    case 'unknown':
      return `whether the command's process, ${pid}, still runs can't be seen`;
  }
}

const KEEPER_KILLED = 'its keeper was killed: whether processes of it still run is not known';

/** Returns the command's state for its followers. */
export async function stateOf(
  standing: Standing,
  place: TaskPlace,
  order: DetachedOrder,
): Promise<SubjectState> {
  if (standing.kind === 'lost') return { kind: 'lost', reason: standing.reason };
  if (standing.kind === 'unheard') return { kind: 'running', trouble: standing.trouble };
  const { state } = standing;
  const subject = { place, order, state };
  if (standing.kind === 'over') {
    const receipt = await endReceipt(subject, standing.end, []);
    return { kind: 'ended', receipt, endedAt: standing.end.at };
  }
  if (standing.kind === 'abandoned') {
    const receipt = await endReceipt(subject, standing.end, [], KEEPER_KILLED);
    return { kind: 'left', receipt, endedAt: standing.end.at };
  }
  const { stage } = state;
  if (stage.kind === 'running') return { kind: 'running' };
  const left = stage.kind === 'left' ? stage.end.left : [];
  const receipt = await endReceipt(subject, stage.end, left);
  return { kind: stage.kind, receipt, endedAt: stage.end.at };
}

/** Returns why a running command can't be asked how it is; undefined: it can. */
export function troubleIn(state: SubjectState): string | undefined {
  return state.kind === 'running' ? state.trouble : undefined;
}
