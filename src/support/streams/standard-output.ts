import { Writable } from 'node:stream';

/** Standard output, reserved for one writer. */
interface ClaimedOutput {
  readonly stream: Writable;
  /** Gives standard output back. */
  release(): void;
}

/**
 * Reserves standard output for a protocol: anything else written to `process.stdout`, such as by
 * `console.log`, goes to standard error until it is released.
 */
export function claimStandardOutput(): ClaimedOutput {
  const { stdout, stderr } = process;
  const own = stdout.write;
  const write = own.bind(stdout);
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => void write(chunk, done),
  });
  // The transport adds a listener for each message that waits for a slow client.
  stream.setMaxListeners(0);
  // Each write reports its own errors to its callback; without a listener they would end the process.
  stdout.on('error', ignore);
  stream.on('error', ignore);
  stdout.write = stderr.write.bind(stderr);
  return {
    stream,
    release: () => {
      stdout.write = own;
    },
  };
}

function ignore(): void {}
