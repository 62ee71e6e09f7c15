import { TextDecoder } from 'node:util';
import { DecodedCapture } from '../command/encoding/decoded-capture.js';
import { TextCapture } from '../engine/local-stream.js';
import type { Capture } from '../engine/outcome.js';
import type { OutputLimits } from '../options/command-options.js';

/** What is kept of a stream of a call. */
export interface StreamCapture {
  /** Takes what comes next; its text, if that was asked for, as far as its characters are whole. */
  push(bytes: Uint8Array): string;
  /** Nothing follows: the text of what never became whole. */
  end(): string;
  capture(): Capture;
}

/**
 * @param encoding Undefined: UTF-8.
 * @param givesText Somebody wants the text as it comes.
 */
export function captureStream(
  encoding: string | undefined,
  limits: OutputLimits,
  givesText: boolean,
): StreamCapture {
  if (encoding !== undefined) return new DecodedCapture(encoding, limits);
  return new Utf8Capture(limits, givesText);
}

class Utf8Capture implements StreamCapture {
  readonly #capture: TextCapture;
  readonly #decoder: TextDecoder | undefined;

  constructor(limits: OutputLimits, givesText: boolean) {
    this.#capture = new TextCapture(limits);
    // A byte order mark is a character like any other.
    this.#decoder = givesText ? new TextDecoder('utf-8', { ignoreBOM: true }) : undefined;
  }

  push(bytes: Uint8Array): string {
    this.#capture.push(bytes);
    return visible(this.#decoder?.decode(bytes, { stream: true }));
  }

  end(): string {
    return visible(this.#decoder?.decode());
  }

  capture(): Capture {
    return this.#capture.capture();
  }
}

function visible(text = ''): string {
  return text.replaceAll('\0', '␀');
}
