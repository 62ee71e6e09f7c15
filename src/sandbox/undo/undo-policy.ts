/** How much is kept of what a command changes, so that it can be taken back. */
export interface SandboxUndo {
  /** The most bytes that are kept for one command. Default: 1 GiB. */
  readonly maxBytes?: number | undefined;
  /**
   * What becomes of a change of which no copy can be kept, since `maxBytes` or the disk is full. `go-on`: it is
   * made, and can't be taken back; `refuse`: it fails, as on a full disk. Default: 'go-on'.
   */
  readonly whenFull?: 'go-on' | 'refuse' | undefined;
}

/** Whether changes can be taken back, and how much of them. */
export type UndoOption = boolean | SandboxUndo;
