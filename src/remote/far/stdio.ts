import type { Readable, Writable } from 'node:stream';
import { checkMethod, isMissing, type OptionNames, readOptions } from '../../support/checks.js';
import { claimStandardOutput } from '../../support/streams/standard-output.js';
import { StreamLink } from '../wire/link.js';
import { PREAMBLE } from '../wire/protocol.js';
import { Client } from './client.js';
import { limitsOf, profilesOf, SERVE_OPTION_NAMES, type ServeOptions } from './options.js';
import { Restriction } from './restriction.js';

/** Options of a far side on a byte stream. */
export interface ServeStreamOptions extends ServeOptions {
  /** The streams from and to the client. Default: standard input and output. */
  readonly streams?: { readonly input: Readable; readonly output: Writable } | undefined;
}

const NAMES: OptionNames<ServeStreamOptions> = { ...SERVE_OPTION_NAMES, streams: true };

/** A running service for one client. */
export interface FarService {
  /** Settles when the client has gone and nothing is left of what it has started. */
  readonly closed: Promise<void>;
  /** Ends the service: commands get SIGTERM, their grace period, SIGKILL. Settles like `closed`. */
  close(): Promise<void>;
}

/**
 * Serves one client on a byte stream: the one that has started this process, by `ssh` or `docker exec`.
 * When the client closes its end or dies, all that it has started ends.
 *
 * Meanwhile standard output belongs to the protocol: other writes to it go to standard error.
 *
 * @throws {InputError} An option is not valid.
 */
export function serveStream(given: ServeStreamOptions = {}): FarService {
  const options = readOptions('options', given, NAMES);
  const limits = limitsOf(options);
  const profiles = profilesOf(options);
  const restriction = new Restriction(options.always);
  if (!isMissing(options.streams)) {
    checkMethod('streams.input', 'on', options.streams.input ?? {});
    checkMethod('streams.output', 'write', options.streams.output ?? {});
  }
  const claimed = isMissing(options.streams) ? claimStandardOutput() : undefined;
  const input = options.streams?.input ?? process.stdin;
  const output = options.streams?.output ?? claimed?.stream;
  if (output === undefined) throw new TypeError('expected an output');
  output.write(PREAMBLE);
  const client = new Client(new StreamLink(input, output, { closesTogether: true }), {
    limits,
    profiles,
    restriction,
    mayInheritAll: true,
  });
  const closed = client.ended.then(() => claimed?.release());
  return {
    closed,
    close: async () => {
      client.close('the far side was told to end');
      await closed;
    },
  };
}
