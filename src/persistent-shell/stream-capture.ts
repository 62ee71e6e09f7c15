import { TextDecoder } from 'node:util';
import { DecodedCapture } from '../command/encoding/decoded-capture.js';
import { TextCapture } from '../engine/local-stream.js';
import type { Capture } from '../engine/outcome.js';
import type { OutputLimits } from '../options/command-options.js';

/** The capture of a stream of a call. */
export interface StreamCapture {
  /** Adds bytes. Returns their text, if that is asked for, up to the last whole character. */
  push(bytes: Uint8Array): string;
  /** Ends the stream. Returns the text of an incomplete character. */
  end(): string;
  capture(): Capture;
}

/**
 * Makes a capture.
 *
 * @param encoding The encoding of the stream; undefined: UTF-8.
 * @param givesText Whether `push()` and `end()` are to return text.
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
    // A byte order mark is kept as a character.
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
