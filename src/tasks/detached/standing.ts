import { hasCode } from '../../support/errors.js';
import type { SubjectState } from '../subject.js';
import { endReceipt } from './end-receipt.js';
import { isOfAnotherBoot, lookFor } from './identity.js';
import { KeeperConnection, KeeperSilent } from './keeper/connection.js';
import type { KeeperState, KeptEnd } from './keeper/keeper-state.js';
import type { DetachedOrder } from './place/order.js';
import type { TaskPlace } from './place/place.js';
import { readRecord } from './place/record.js';

/** How a command stands, as far as anybody can tell. */
export type Standing =
  /** Its keeper says so, and can be asked for more. */
  | {
      readonly kind: 'kept';
      readonly connection: KeeperConnection;
      readonly state: KeeperState;
    }
  /** Its keeper is there and writes its record, but can't be talked to. */
  | { readonly kind: 'recorded'; readonly state: KeeperState }
  /** Nobody of it is left. */
  | { readonly kind: 'over'; readonly state: KeeperState; readonly end: KeptEnd }
  /** It had ended when its keeper was killed; who was left then may still be. */
  | { readonly kind: 'abandoned'; readonly state: KeeperState; readonly end: KeptEnd }
  /** `state`: how it stood when somebody knew that last. */
  | { readonly kind: 'lost'; readonly state: KeeperState | undefined; readonly reason: string };

/** Asks the keeper of a command, or else its record. */
export async function findStanding({ directory }: TaskPlace): Promise<Standing> {
  let error: unknown;
  try {
    const connection = await KeeperConnection.open(directory);
    return { kind: 'kept', connection, state: connection.state };
  } catch (reason) {
    error = reason;
  }
  // Only now: a keeper that has just ended has written it before.
  const state = await readRecord(directory);
  if (state === undefined) {
    return { kind: 'lost', state, reason: 'there is no record of its start that could be trusted' };
  }
  if (state.stage.kind === 'ended') return { kind: 'over', state, end: state.stage.end };
  if (await isOfAnotherBoot(state)) return afterReboot(state);
  const { pid } = state.keeper;
  if (error instanceof KeeperSilent) {
    return { kind: 'lost', state, reason: `process ${pid}, which keeps it, does not answer` };
  }
  const keeper = await lookFor(state, state.keeper);
  // It has no socket, or no room for one more.
  if (keeper === 'there') return { kind: 'recorded', state };
  if (keeper === 'unknown' && hasCode(error, 'ENOENT')) {
    const reason = `whether process ${pid}, which keeps it, is there can't be seen`;
    return { kind: 'lost', state, reason };
  }
  // It may have ended since, with a last word.
  return withoutKeeper((await readRecord(directory)) ?? state);
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
      const reason = `process ${keeper.pid}, which kept it, was killed; ${leader}`;
      return { kind: 'lost', state, reason };
    }
  }
}

/** Whatever was left then, nothing of it is now. */
function afterReboot(state: KeeperState): Standing {
  const { stage } = state;
  if (stage.kind === 'left') return { kind: 'over', state, end: stage.end };
  return { kind: 'lost', state, reason: 'the machine was started anew while it ran' };
}

async function describeLeader(state: KeeperState): Promise<string> {
  const { pid } = state.leader;
  switch (await lookFor(state, state.leader)) {
    case 'there':
      return `its own process, ${pid}, still runs`;
    case 'gone':
      return 'its own process has ended since';
    case 'unknown':
      return `whether its own process, ${pid}, still runs can't be seen`;
  }
}

const NOBODY_TELLS =
  'the process that kept it was killed: whether anybody of it still runs, nobody can tell';

/** The same for those who follow it. */
export async function stateOf(
  standing: Standing,
  place: TaskPlace,
  order: DetachedOrder,
): Promise<SubjectState> {
  if (standing.kind === 'lost') return { kind: 'lost', reason: standing.reason };
  const { state } = standing;
  const subject = { place, order, state };
  if (standing.kind === 'over') {
    const receipt = await endReceipt(subject, standing.end, []);
    return { kind: 'ended', receipt, endedAt: standing.end.at };
  }
  if (standing.kind === 'abandoned') {
    const receipt = await endReceipt(subject, standing.end, [], NOBODY_TELLS);
    return { kind: 'left', receipt, endedAt: standing.end.at };
  }
  const { stage } = state;
  if (stage.kind === 'running') return { kind: 'running' };
  const left = stage.kind === 'left' ? stage.end.left : [];
  const receipt = await endReceipt(subject, stage.end, left);
  return { kind: stage.kind, receipt, endedAt: stage.end.at };
}
