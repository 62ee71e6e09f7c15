import { abortReason, isAbortSignal, onAbort } from '../../support/abort.js';
import type { BashTool, ToolCall, ToolEvent } from '../contract.js';
import { answerTo } from './answer.js';
import { Progress } from './progress.js';

type Events<Details> = AsyncGenerator<ToolEvent<Details>, void, void>;

/** Runs a call as `BashTool.stream` does. */
export function streamOf<Details>(
  tool: Pick<BashTool<Details>, 'execute'>,
  input: unknown,
  { signal }: Pick<ToolCall<Details>, 'signal'> = {},
): Events<Details> {
  const leaving = new AbortController();
  const events = follow(tool, input, signal, leaving);
  // The generator's own `return()` would wait for the next event, and a silent command has none.
  const leave = <Left>(left: Promise<Left>): Promise<Left> => {
    leaving.abort();
    return left;
  };
  const next = events.return.bind(events);
  const fail = events.throw.bind(events);
  return Object.assign(events, {
    return: (value: void | PromiseLike<void>) => leave(next(value)),
    throw: (error: unknown) => leave(fail(error)),
  });
}

async function* follow<Details>(
  tool: Pick<BashTool<Details>, 'execute'>,
  input: unknown,
  signal: AbortSignal | undefined,
  leaving: AbortController,
): Events<Details> {
  const progress = new Progress();
  const own = new AbortController();
  const abort = (from: AbortSignal) => () => own.abort(abortReason(from));
  const takenBack = [leaving.signal, signal].map((from) => {
    if (!isAbortSignal(from)) return undefined;
    if (from.aborted) abort(from)();
    return onAbort(from, abort(from));
  });
  let answered = false;
  const answering = answerTo(tool, input, {
    // Something that is no signal is passed on, so that the call refuses it.
    signal: signal === undefined || isAbortSignal(signal) ? own.signal : signal,
    onOutput: (chunk) => progress.add(chunk),
    onUpdate: ({ content }) => progress.show(content.map(({ text }) => text).join('')),
  }).finally(() => {
    answered = true;
    progress.end();
  });
  // Awaited below. Until then its rejection must not count as unhandled.
  answering.catch(() => {});
  try {
    while (!leaving.signal.aborted) {
      const taken = progress.take();
      if (taken !== undefined) yield { kind: 'output', ...taken };
      else if (!answered) await progress.next();
      else break;
    }
    if (!leaving.signal.aborted) yield { kind: 'answer', answer: await answering };
  } finally {
    if (!answered) leaving.abort();
    await answering.catch(() => {});
    for (const takeBack of takenBack) takeBack?.();
  }
}
