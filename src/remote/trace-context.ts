import { lateLibrary, OPEN_ONE_BY_ONE } from '../faces/engine.js';
import { hasCode, messageOf } from '../support/errors.js';
import { warnHost } from '../support/logger.js';

/** The part of OpenTelemetry's interface that carries traces. */
type TraceApi = Pick<typeof import('@opentelemetry/api'), 'context' | 'propagation'>;

/** The place of a call in a trace, as the headers of W3C Trace Context have it. */
export interface TraceContext {
  /** The identifiers of the trace and of the span that is the parent. */
  readonly traceparent: string;
  /** What vendors add. Absent: nothing. */
  readonly tracestate?: string;
}

/** The longest headers that are taken, in characters: those of the standard, with some room. */
const LONGEST = 1024;

const loadApi = lateLibrary('the interface of OpenTelemetry', importApi, OPEN_ONE_BY_ONE);

/** Imports it, or tells that it is not installed. Bundlers take an import within `try` for optional. */
async function importApi(): Promise<TraceApi | 'absent'> {
  try {
    return await import('@opentelemetry/api');
  } catch (error) {
    if (hasCode(error, 'ERR_MODULE_NOT_FOUND') || hasCode(error, 'MODULE_NOT_FOUND'))
      return 'absent';
    throw error;
  }
}

/** The interface, once it was loaded; `'absent'`: it is not installed, and there are no traces. */
let api: TraceApi | 'absent' | undefined;

/** Whether {@link loadTraceApi} need not be waited for. */
export function isTraceApiKnown(): boolean {
  return api !== undefined;
}

/**
 * Loads OpenTelemetry's interface where it is installed. Never rejects: commands run without traces, too. A fault other
 * than that it is not installed is a process warning, and the next call tries again.
 */
export async function loadTraceApi(): Promise<void> {
  try {
    api ??= await loadApi();
  } catch (error) {
    warnHost(`There are no traces: @opentelemetry/api: ${messageOf(error)}`);
  }
}

/** Returns the context of the caller's span; undefined: the caller has none, or no tracing is set up. */
export function traceOfCaller(): TraceContext | undefined {
  if (api === undefined || api === 'absent') return undefined;
  const headers: Partial<Record<string, string>> = {};
  api.propagation.inject(api.context.active(), headers);
  const { traceparent, tracestate } = headers;
  if (traceparent === undefined || !isCarried(traceparent)) return undefined;
  return { traceparent, ...(isCarried(tracestate) && { tracestate }) };
}

/**
 * Calls a function in the context of a client's span: spans that begin there are children of it. A context that is not
 * valid is passed over, as the standard has it.
 */
export function inTrace<T>(trace: TraceContext | undefined, begin: () => T): T {
  if (trace === undefined || api === undefined || api === 'absent') return begin();
  const { traceparent, tracestate } = trace;
  if (!isCarried(traceparent)) return begin();
  // Nothing else of a client is taken for a header.
  const headers = { traceparent, ...(isCarried(tracestate) && { tracestate }) };
  const { context, propagation } = api;
  return context.with(propagation.extract(context.active(), headers), begin);
}

function isCarried(header: string | undefined): header is string {
  return header !== undefined && header !== '' && header.length <= LONGEST;
}
