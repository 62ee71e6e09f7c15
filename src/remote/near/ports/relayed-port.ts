/** A port that is relayed. It does not keep the process alive. */
export interface RelayedPort extends AsyncDisposable {
  /** The number of the port that is listened on: here with `forward()`, there with `reverse()`. */
  readonly port: number;
  /** The number of connections now. */
  readonly connections: number;
  /** Settles with the reason when it is closed: by {@link close}, or since the line is lost. Never rejects. */
  readonly closed: Promise<string>;
  /** Listens no more, and breaks off the connections. */
  close(): Promise<void>;
}
