// Imported before a far side: each of its commands becomes a span, written as a line to the file in SPANS.

import { tracingChannel } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { trace } from '@opentelemetry/api';
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';

const { SPANS: file = '' } = process.env;

/** @type {import('@opentelemetry/sdk-trace-node').SpanExporter} */
const exporter = {
  export(spans, done) {
    for (const span of spans) {
      const { traceId, spanId } = span.spanContext();
      const parent = span.parentSpanContext;
      const line = {
        traceId,
        spanId,
        parent: parent?.spanId,
        state: parent?.traceState?.serialize(),
      };
      const { attributes, events } = span;
      const thrown = events.map(({ attributes: told }) => told?.['exception.message']);
      appendFileSync(file, `${JSON.stringify({ ...line, attributes, thrown })}\n`);
    }
    done({ code: 0 });
  },
  async shutdown() {},
};
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();

const tracer = trace.getTracer('far');
const spans = new WeakMap();
const nothing = () => {};
/** @type {import('node:diagnostics_channel').TracingChannel<unknown, import('../../../src/index.js').CommandTrace>} */
const commands = tracingChannel('forkline:command');
commands.subscribe({
  start: (told) => void spans.set(told, tracer.startSpan(told.command)),
  error: (told) => spans.get(told).recordException(String(told.error)),
  asyncEnd: (told) => {
    const { outcome } = told.receipt ?? {};
    const command = told.command;
    spans.get(told).setAttributes({
      command,
      outcome: outcome?.kind,
      code: outcome?.kind === 'exited' ? outcome.exitCode : undefined,
    });
    spans.get(told).end();
  },
  end: nothing,
  asyncStart: nothing,
});
