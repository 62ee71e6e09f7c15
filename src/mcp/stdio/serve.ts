import type { Readable, Writable } from 'node:stream';
import { serveStdio as serve } from '@modelcontextprotocol/server/stdio';
import type { BashTool, Logger } from '../../index.js';
import {
  checkMethod,
  checkObject,
  isMissing,
  type OptionNames,
  readOptions,
} from '../../support/checks.js';
import { claimStandardOutput } from '../../support/streams/standard-output.js';
import { WholeAnswers } from '../answers/whole-answers.js';
import { checkTool, MCP_OPTION_NAMES, type McpOptions, readServerOptions } from '../options.js';
import { buildServer } from '../server.js';
import { type McpService, reportTo } from '../service.js';
import { LineTransport } from './line-transport.js';

/** Options of a server on standard input and output. */
export interface StdioOptions extends McpOptions {
  /**
   * Takes warnings about problems that fail no call. Default: process warnings, on standard error.
   */
  readonly logger?: Logger | undefined;
  /** The streams from and to the client. Default: standard input and output of the process. */
  readonly streams?: { readonly input: Readable; readonly output: Writable } | undefined;
}

const NAMES: OptionNames<StdioOptions> = { ...MCP_OPTION_NAMES, logger: true, streams: true };
const STREAM_NAMES = { input: true, output: true } as const;

/** Bytes of one message at most. */
const MAX_MESSAGE = 10 * 1024 * 1024;

/** Characters of one report at most. */
const MAX_REPORT = 200;

/**
 * Serves one client on standard input and output. When the client closes its end or dies, or the
 * service is closed, everything that the client has started ends and the tool is disposed of.
 *
 * Meanwhile standard output belongs to the protocol: other writes to it go to standard error.
 *
 * @throws {InputError} The tool or an option is not valid.
 */
export function serveStdio(tool: BashTool, given: StdioOptions = {}): McpService {
  checkTool(tool);
  const options = readServerOptions(given, NAMES);
  checkMethod('logger', 'warn', options.logger);
  if (options.streams !== undefined) checkStreams(options.streams);
  const report = reportTo(options.logger);
  const claimed = options.streams === undefined ? claimStandardOutput() : undefined;
  const input = options.streams?.input ?? process.stdin;
  const output = options.streams?.output ?? claimed?.stream;
  const transport = new LineTransport(input, output ?? process.stdout, MAX_MESSAGE);
  // A client may ask for the tools before it opens the connection, which takes a server each time.
  const answers = new WholeAnswers();
  const handle = serve(() => buildServer(tool, options, answers), {
    transport,
    onerror: (error) => {
      if (!isEnd(error)) report(shortened(error));
    },
  });
  const closed = transport.ended.then(async () => {
    await tool.dispose();
    await answers.dispose();
    claimed?.release();
  });
  return {
    closed,
    close: async () => {
      await handle.close();
      await closed;
    },
  };
}

/**
 * Checks the streams.
 *
 * @throws {InputError} A name is not known, or one of the two is no stream.
 */
function checkStreams(given: NonNullable<StdioOptions['streams']>): void {
  const streams = readOptions('streams', given, STREAM_NAMES, { within: 'streams.' });
  for (const [name, method] of [
    ['input', 'pipe'],
    ['output', 'write'],
  ] as const) {
    if (isMissing(streams[name])) checkObject(`streams.${name}`, streams[name]);
    checkMethod(`streams.${name}`, method, streams[name]);
  }
}

/** Returns whether an error only means that the client has left, which is how connections end. */
function isEnd(error: Error): boolean {
  return 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET');
}

/** Returns the beginning of an error's message: for an invalid message it has many lines. */
function shortened({ message }: Error): Error {
  const line = message.replaceAll(/\s+/g, ' ');
  return new Error(line.length > MAX_REPORT ? `${line.slice(0, MAX_REPORT)}…` : line);
}
