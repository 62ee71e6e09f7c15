import type { BytesChunk } from '../../../index.js';

/** The two outputs of a command, each for a reader of its own. */
interface ByteStreams {
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
}

/** Bytes that an unread stream holds; then the command waits, as on any full pipe. */
const WAITING_BYTES = 8 * 1024 * 1024;

/**
 * Passes the chunks of each stream on to it. Each stream has room for 8 MiB; once one is full, the
 * command waits for its reader. A cancelled stream drops its chunks.
 */
export function byteStreams(chunks: AsyncIterable<BytesChunk>): ByteStreams {
  const outputs = { stdout: new StreamOutput(), stderr: new StreamOutput() };
  // The pump never rejects: a failure goes to both streams.
  void pump(chunks, outputs);
  return { stdout: outputs.stdout.readable, stderr: outputs.stderr.readable };
}

async function pump(
  chunks: AsyncIterable<BytesChunk>,
  { stdout, stderr }: { readonly stdout: StreamOutput; readonly stderr: StreamOutput },
): Promise<void> {
  try {
    for await (const { stream, bytes } of chunks) {
      await (stream === 'stderr' ? stderr : stdout).put(bytes);
    }
    for (const output of [stdout, stderr]) output.close();
  } catch (error) {
    for (const output of [stdout, stderr]) output.fail(error);
  }
}

class StreamOutput {
  readonly readable: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #isOpen = true;
  #roomAgain: (() => void) | undefined;

  constructor() {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#goOn(),
        cancel: () => {
          this.#isOpen = false;
          this.#goOn();
        },
      },
      { highWaterMark: WAITING_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
    );
  }

  async put(bytes: Uint8Array): Promise<void> {
    while (this.#isOpen && (this.#controller.desiredSize ?? 0) <= 0) {
      await new Promise<void>((resolve) => {
        this.#roomAgain = resolve;
      });
    }
    if (this.#isOpen) this.#controller.enqueue(bytes);
  }

  close(): void {
    if (this.#isOpen) this.#controller.close();
    this.#isOpen = false;
  }

  fail(error: unknown): void {
    if (this.#isOpen) this.#controller.error(error);
    this.#isOpen = false;
  }

  #goOn(): void {
    this.#roomAgain?.();
    this.#roomAgain = undefined;
  }
}
