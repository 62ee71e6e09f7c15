import { connect, type Socket } from 'node:net';
import { startTimer } from '../../../support/timing.js';
import { type DomainRules, findAddress } from './domains.js';

/** Connects to a host, if that is allowed; undefined: it is not, or nobody is there. */
export type Tunnel = (host: string, port: number) => Promise<Socket | undefined>;

const CONNECT_MS = 30_000;

/** One by these rules. `deny` is told of every host that it is not for. */
export function tunnelBy(rules: DomainRules, deny: (host: string) => void): Tunnel {
  return async (host, port) => {
    const address = await findAddress(host, rules);
    if (address === undefined) {
      deny(host);
      return undefined;
    }
    return new Promise((resolve) => {
      const socket = connect({ host: address, port });
      socket.unref();
      const inTime = startTimer(CONNECT_MS, () => socket.destroy());
      socket.once('error', () => resolve(undefined));
      socket.once('close', () => resolve(undefined));
      socket.once('connect', () => {
        inTime();
        resolve(socket);
      });
    });
  };
}
