/** @import { Peer } from '../lib/types.d.ts' */
import { leaveOut } from '../lib/left-out.mjs';
import { missingPackage } from '../lib/not-measured.mjs';

/** A peer whose package is not installed. */
class Absent {
  /** @param {string} reason */
  constructor(reason) {
    this.reason = reason;
  }
}

/**
 * Loads a peer whose package may be missing.
 * @template {Peer} P
 * @param {() => Promise<P>} load
 * @returns {Promise<P | Absent>}
 */
export async function optional(load) {
  try {
    return await load();
  } catch (error) {
    const reason = missingPackage(error);
    if (reason === undefined) throw error;
    return new Absent(reason);
  }
}

/**
 * Returns the peers that can be measured. The others are left out.
 * @template {Peer} P
 * @param {readonly (P | Absent)[]} peers
 * @returns {P[]}
 */
export const present = (peers) =>
  peers.flatMap((peer) => {
    if (!(peer instanceof Absent)) return [peer];
    leaveOut(peer.reason);
    return [];
  });
