import { checkSwitch, type OptionNames, readOptions } from '../../support/checks.js';
import { makePortRecords } from '../../support/directories/port-records.js';
import { InputError, showValue } from '../../support/errors.js';
import { ownerOfDangerous } from './dangerous.js';

/** A port of the host that commands reach by a port of their own loopback. */
export interface ReachedPort {
  /** The number of the port inside, by which commands connect. */
  readonly inside: number;
  /** The number of the port of the host's 127.0.0.1, or ::1, that it leads to. */
  readonly host: number;
}

/** A port inside that is reached from the host while a command listens on it. */
export interface PublishedPort {
  /** The number of the port on which commands listen. */
  readonly inside: number;
  /** The number of the port of the host's 127.0.0.1 and ::1; the next free one if it is taken; 0: any. */
  readonly host: number;
}

/** TCP ports between a sandbox and the host's loopback. */
export interface SandboxPorts {
  /**
   * Ports of the host's loopback that commands reach, by the same port of theirs or another one. Default:
   * none.
   */
  readonly reach?: readonly (number | ReachedPort)[] | undefined;
  /**
   * Ports that are opened on the host's loopback while commands listen on them: 'auto', all; or these. A
   * number: the same port of the host, or the next free one. Default: none.
   */
  readonly publish?: 'auto' | readonly (number | PublishedPort)[] | undefined;
  /**
   * Whether ports may be relayed by which whoever connects controls a program or the machine, as those of
   * Docker and of debuggers. Default: false.
   */
  readonly dangerous?: boolean | undefined;
}

const NAMES: OptionNames<SandboxPorts> = { reach: true, publish: true, dangerous: true };
const PAIR_NAMES: OptionNames<ReachedPort> = { inside: true, host: true };
const HIGHEST = 65_535;
/** The most ports of each list. */
const MOST = 64;

/**
 * Checks the ports of a policy.
 *
 * @param taken A port of the sandbox's own that is not free; undefined: there is none.
 * @throws {InputError} Names the field, what is expected and what was given.
 */
export function checkPorts(given: SandboxPorts, taken: number | undefined): void {
  const ports = readOptions('sandbox.ports', given, NAMES, {
    within: 'sandbox.ports.',
  });
  checkSwitch('sandbox.ports.dangerous', ports.dangerous);
  checkList('reach', ports.reach, 1);
  if (ports.publish !== 'auto') {
    checkList('publish', ports.publish, 0, "'auto' or an array of ports");
  }
  const reach = reachedPorts(ports);
  const published = publishedPorts(ports);
  const listened = [...reach, ...published].map(({ inside }) => inside);
  const twice = listened.find((port, index) => listened.indexOf(port) !== index);
  if (twice !== undefined) {
    throw new InputError(`sandbox.ports: expected each port inside once, got ${twice} twice`);
  }
  if (taken !== undefined && listened.includes(taken)) {
    const instead = `a port inside other than ${taken}, which is the proxy's`;
    throw new InputError(`sandbox.ports: expected ${instead}, got ${taken}`);
  }
  if (ports.dangerous === true) return;
  refuseDangerous(
    'reach',
    reach.map(({ host }) => host),
  );
  refuseDangerous(
    'publish',
    published.map(({ inside }) => inside),
  );
}

/** Returns the words of a sandbox's plan for its ports. */
export function portEntries(ports: SandboxPorts | undefined): readonly string[] {
  if (ports === undefined) return [];
  const pair = (word: string) => (port: ReachedPort) => `${word}\0${port.inside}:${port.host}\0`;
  const all = ports.publish === 'auto' ? ['publish\0auto\0'] : [];
  const publishes = ports.publish === 'auto' || publishedPorts(ports).length > 0;
  const records = publishes ? makePortRecords() : undefined;
  const words = [
    ...(records === undefined ? [] : [`ports-at\0${records}\0`]),
    ...reachedPorts(ports).map(pair('reach')),
    ...publishedPorts(ports).map(pair('publish')),
    ...all,
  ];
  return ports.dangerous === true && words.length > 0 ? [...words, 'ports\0dangerous\0'] : words;
}

/** Returns the ports of the host that commands reach. */
export function reachedPorts({ reach }: SandboxPorts): readonly ReachedPort[] {
  return (reach ?? []).map(asPair);
}

function publishedPorts({ publish }: SandboxPorts): readonly PublishedPort[] {
  return publish === 'auto' ? [] : (publish ?? []).map(asPair);
}

function asPair(port: number | ReachedPort): ReachedPort {
  return typeof port === 'number' ? { inside: port, host: port } : port;
}

function checkList(
  name: 'reach' | 'publish',
  given: unknown,
  lowestHost: number,
  expected = 'an array of ports',
): void {
  if (given === undefined) return;
  if (!Array.isArray(given)) {
    throw new InputError(`sandbox.ports.${name}: expected ${expected}, got ${showValue(given)}`);
  }
  if (given.length > MOST) {
    throw new InputError(
      `sandbox.ports.${name}: expected at most ${MOST} ports, got ${given.length}`,
    );
  }
  for (const port of given as readonly unknown[]) {
    if (typeof port !== 'object' || port === null) {
      checkPort(`sandbox.ports.${name}`, port, 1);
      continue;
    }
    const within = `sandbox.ports.${name}.`;
    const pair = port as ReachedPort;
    const { inside, host } = readOptions(`sandbox.ports.${name}`, pair, PAIR_NAMES, { within });
    checkPort(`${within}inside`, inside, 1);
    checkPort(`${within}host`, host, lowestHost);
  }
}

function checkPort(name: string, port: unknown, lowest: number): void {
  if (Number.isInteger(port) && Number(port) >= lowest && Number(port) <= HIGHEST) return;
  const expected = `a port from ${lowest} to ${HIGHEST}`;
  throw new InputError(`${name}: expected ${expected}, got ${showValue(port)}`);
}

function refuseDangerous(name: string, ports: readonly number[]): void {
  for (const port of ports) {
    const owner = ownerOfDangerous(port);
    if (owner === undefined) continue;
    const why = `port ${port} is ${owner}: whoever connects to it may run programs`;
    // Flags of the command line can't say it.
    const how = 'a policy allows that by `dangerous: true` in `ports`';
    throw new InputError(`sandbox.ports.${name}: ${why}; ${how}`);
  }
}
