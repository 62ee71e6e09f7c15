import { checkObject, type OptionNames, readOptions, wholeFrom } from '../../../support/checks.js';
import { InputError, showValue } from '../../../support/errors.js';
import type { FarLine } from '../machine.js';
import { forwardPort } from './forward.js';
import type { RelayedPort } from './relayed-port.js';
import { reversePort } from './reverse.js';

/** A port of the far side that is reached from here. */
export interface ForwardOptions {
  /** The number of the port there: 1 to 65,535. */
  readonly port: number;
  /** The host that the far side connects to. Default: `127.0.0.1`, the far side itself. */
  readonly host?: string | undefined;
  /** The number of the port here, on loopback. Default: 0, any that is free. */
  readonly listen?: number | undefined;
}

/** A port of this side that is reached from the far side. */
export interface ReverseOptions {
  /** The number of the port here: 1 to 65,535. */
  readonly port: number;
  /** The host here that is connected to. Default: `127.0.0.1`. */
  readonly host?: string | undefined;
  /** The number of the port there, on loopback. Default: 0, any that is free. */
  readonly listen?: number | undefined;
}

const NAMES: OptionNames<ForwardOptions> = { port: true, host: true, listen: true };

/** Ports of a far side: each connection is a call over the line. */
export class FarPorts {
  readonly #line: () => FarLine;

  /** Made by a connection, or with a tool. */
  constructor(line: () => FarLine) {
    this.#line = line;
  }

  /** Returns the ports of whatever this returns at each call. */
  static following(current: () => FarPorts): FarPorts {
    return new FarPorts(() => current().#line());
  }

  /**
   * Listens here, on loopback, and connects whoever comes to a port of the far side, as a server there sees it from its
   * own machine.
   *
   * @throws {InputError} An option is not valid, or the far side has no ports, as `forkline-far`, or lets no client
   *   reach this one.
   * @throws Error The port here is taken.
   */
  async forward(options: ForwardOptions): Promise<RelayedPort> {
    const { port, host, listen } = checked(options);
    return forwardPort(withPorts(this.#line()), { port, host }, listen);
  }

  /**
   * Listens on loopback of the far side, and connects whoever comes there to a port here.
   *
   * @throws {InputError} An option is not valid, or the far side has no ports, or lets no client listen.
   * @throws Error The port there is taken.
   */
  async reverse(options: ReverseOptions): Promise<RelayedPort> {
    const { port, host, listen } = checked(options);
    return reversePort(withPorts(this.#line()), { port, host }, listen);
  }
}

function checked(
  given: ForwardOptions,
): Required<{ [Name in keyof ForwardOptions]: NonNullable<ForwardOptions[Name]> }> {
  checkObject('options', given);
  const { port, host, listen } = readOptions('options', given, NAMES);
  if (host !== undefined && (typeof host !== 'string' || host === '')) {
    throw new InputError(`host: expected a name or an address, got ${showValue(host)}`);
  }
  return {
    port: wholeFrom('port', 1, port, 65_535),
    host: host ?? '127.0.0.1',
    listen: wholeFrom('listen', 0, listen ?? 0, 65_535),
  };
}

/** @throws {InputError} The far side has no ports. */
function withPorts(line: FarLine): FarLine {
  if (line.hasPorts) return line;
  throw new InputError(
    'ports: expected a far side with Node, got one that relays no ports, as forkline-far',
  );
}
