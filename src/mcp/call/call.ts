import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import {
  type BashTool,
  type TextContent,
  ToolAbortError,
  ToolError,
  type ToolResult,
} from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { withClient } from '../asking/ask-client.js';
import type { CallingClient } from '../asking/calling-client.js';
import type { CallLog, CallOutcome } from '../call-log.js';
import { ProgressStream } from './progress.js';

/** The part that the calls of a connection share. */
export interface CallContext {
  /** The session's name in the log. */
  readonly session: string;
  readonly log: CallLog | undefined;
  readonly delivery: Delivery | undefined;
  /** Makes of a tool's result what the client of a request can show a model. */
  shown(tool: string, result: CallToolResult, request: ServerContext): Promise<CallToolResult>;
}

/** The functions of a transport that the SDK's transports do not have. */
export interface Delivery {
  /** Settles when the client of an HTTP request has taken what it was sent. */
  taken(request: Request | undefined): Promise<void>;
  /** Tells that the client has cancelled the request: no response comes. */
  unanswered(id: string | number): void;
}

/** The text that stands for an empty one. */
const NO_OUTPUT = '(no output)';

/** Characters of a command in the log. */
const MAX_LOGGED = 2000;

/**
 * Runs one `tools/call`. Every failure is a result that the model can read: a protocol error would go
 * to the client, which can do nothing about it.
 */
export async function callTool(
  tool: BashTool,
  input: Readonly<Record<string, unknown>>,
  client: CallingClient,
  context: CallContext,
): Promise<CallToolResult> {
  const started = performance.now();
  const id = client.request.mcpReq.id;
  const of = { session: context.session, request: id, tool: tool.name };
  context.log?.write({ event: 'call', ...of, ...commandOf(input) });

  const signal = signalOf(client);
  const progress = progressOf(client, context);
  const stop = (): void => progress?.stop();
  signal.addEventListener('abort', stop, { once: true });
  const settling = withClient(client, () => settle(tool, input, signal, progress));
  const { result: whole, outcome, error } = await settling;
  const { request, wasMute } = client;
  const result = await context.shown(tool.name, wasMute ? withNotice(whole) : whole, request);
  // No progress may come after the response, so the last note must be on its way first.
  await progress?.finish();
  signal.removeEventListener('abort', stop);
  if (request.mcpReq.signal.aborted) context.delivery?.unanswered(request.mcpReq.id);
  client.over();

  context.log?.write({
    event: 'result',
    ...of,
    outcome,
    durationMs: Math.round(performance.now() - started),
    bytes: result.content.reduce((sum, part) => sum + bytesOf(part), 0),
    ...(error !== undefined && { error }),
  });
  return result;
}

/** Says why a program was denied about which the user should have been asked. */
function withNotice(result: CallToolResult): CallToolResult {
  const text = "Nobody was asked: the client can't ask its user about programs (any more).";
  return { ...result, content: [...result.content, { type: 'text', text }] };
}

interface Settled {
  readonly result: CallToolResult;
  readonly outcome: CallOutcome;
  readonly error?: string;
}

async function settle(
  tool: BashTool,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  progress: ProgressStream | undefined,
): Promise<Settled> {
  try {
    const answer = await tool.execute(input, {
      signal,
      onOutput: progress && ((chunk) => progress.push(chunk)),
    });
    return { result: resultOf(answer), outcome: answer.isError ? 'failed' : 'ok' };
  } catch (error) {
    const message = messageOf(error);
    return {
      result: { content: [{ type: 'text', text: message }], isError: true },
      ...(error instanceof ToolAbortError
        ? { outcome: 'cancelled' }
        : { outcome: 'error', error: error instanceof ToolError ? error.kind : message }),
    };
  }
}

function resultOf({ content, structured, isError }: ToolResult<unknown>): CallToolResult {
  return {
    content: content.map(orNoOutput),
    ...(structured && { structuredContent: { ...structured } }),
    ...(isError && { isError }),
  };
}

/**
 * Replaces an empty text: APIs of models refuse it, and so would fail the client's next request.
 */
function orNoOutput(part: TextContent): TextContent {
  return part.text === '' ? { ...part, text: NO_OUTPUT } : part;
}

/**
 * Returns a signal that is aborted by the client's cancellation, by the end of the connection and, over
 * HTTP, when the response can no longer be delivered.
 */
function signalOf({ signal, request: { mcpReq, http } }: CallingClient): AbortSignal {
  if (signal !== undefined) return signal;
  const request = http?.req;
  return request === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, request.signal]);
}

function progressOf(client: CallingClient, { delivery }: CallContext): ProgressStream | undefined {
  if (client.request.mcpReq._meta?.progressToken === undefined) return undefined;
  return new ProgressStream(async (note) => {
    const { mcpReq, http } = client.request;
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken === undefined) return;
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...note } });
    await delivery?.taken(http?.req);
  });
}

function commandOf({ command }: Readonly<Record<string, unknown>>): { command?: string } {
  return typeof command === 'string' ? { command: command.slice(0, MAX_LOGGED) } : {};
}

function bytesOf(part: CallToolResult['content'][number]): number {
  return part.type === 'text' ? Buffer.byteLength(part.text) : 0;
}
