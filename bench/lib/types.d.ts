/** What the command line chose. */
export interface Settings {
  /** A fifth of the work: good for 'does it run', too noisy for a verdict. */
  readonly quick: boolean;
  /** Commands run before the second look of the `past` suite. */
  readonly past: number;
}

/** A way to run commands from Node, as a user of it would write it. */
export interface Peer {
  readonly name: string;
  /** Runs a command to its end and returns what it printed. */
  run(command: string): Promise<string>;
  /** Reads a command's output to the end without keeping it. */
  drain?(command: string): Promise<unknown>;
  /** Puts a command's output into a file. */
  spill?(command: string, path: string): Promise<unknown>;
}

/** One thing to be timed. It returns nothing to be timed from outside, or the milliseconds itself. */
export interface Task {
  readonly name: string;
  readonly run: () => Promise<number | undefined> | number;
}

/** The samples of one task, round by round. */
export type Rounds = readonly (readonly number[])[];

/** What a ratio or a figure has to reach. */
export interface Target {
  readonly text: string;
  readonly holds: (value: number) => boolean;
}

/** One line of the table. */
export interface Row {
  readonly id: string;
  readonly what: string;
  /** forkline's own figure, with its unit. */
  readonly figure: string;
  /** To what, and how much; absent where the target is absolute. */
  readonly ratio?: { readonly to: string; readonly value: number };
  /** forkline's ratio to the launch floor, for information: no target is set against it. */
  readonly launchRatio?: number;
  readonly target?: string;
  readonly met?: boolean;
  /** The same ratio or figure of the others. */
  readonly others: Readonly<Record<string, string>>;
}

export interface Report {
  readonly rows: readonly Row[];
  /** Medians of every round, by task: what the rows were made of. */
  readonly medians: Readonly<Record<string, readonly number[]>>;
}

export interface Suite {
  measure(settings: Settings): Promise<Report>;
}

/** What a suite's process says before it ends. */
export type Message = { readonly report: Report } | { readonly failure: string };

/** How a suite went. */
export interface SuiteResult {
  readonly name: string;
  readonly seconds: number;
  /** Cores that were busy with other programs' work meanwhile. */
  readonly otherWork: number;
  readonly report?: Report;
  readonly failure?: string;
}
