/** Options of the command line. */
export interface Settings {
  /** A fifth of the work: enough to see that it runs, too noisy for a verdict. */
  readonly quick: boolean;
  /** The number of commands between the two measurements of the `past` suite. */
  readonly past: number;
}

/** A way to run commands from Node, as a user of it would write it. */
export interface Peer {
  readonly name: string;
  /** Runs a command to its end and returns its output. */
  run(command: string): Promise<string>;
  /** Reads a command's output to the end without keeping it. */
  drain?(command: string): Promise<unknown>;
  /** Puts a command's output into a file. */
  spill?(command: string, path: string): Promise<unknown>;
}

/** A task to be timed. It returns nothing to be timed from outside, or its time in milliseconds. */
export interface Task {
  readonly name: string;
  readonly run: () => Promise<number | undefined> | number;
}

/** The samples of one task, round by round. */
export type Rounds = readonly (readonly number[])[];

/** The target of a ratio or a figure. */
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
  /** The ratio, and the reference; absent where the target is absolute. */
  readonly ratio?: { readonly to: string; readonly value: number };
  /** forkline's ratio to the launch floor, for information: it has no target. */
  readonly launchRatio?: number;
  readonly target?: string;
  readonly met?: boolean;
  /** The same ratio or figure for the peers. */
  readonly others: Readonly<Record<string, string>>;
}

export interface Report {
  readonly rows: readonly Row[];
  /** Medians of every round, by task, from which the rows were made. */
  readonly medians: Readonly<Record<string, readonly number[]>>;
}

export interface Suite {
  measure(settings: Settings): Promise<Report>;
}

/** The message of a suite's process before it ends. */
export type Message =
  | {
      readonly report: Report;
      /** What the suite compares with elsewhere and is not on this machine, and where to get it. */
      readonly leftOut: readonly string[];
    }
  | { readonly failure: string }
  /** What is not on this machine, so that nothing was measured. */
  | { readonly missing: string };

/** The result of a suite. */
export interface SuiteResult {
  readonly name: string;
  readonly seconds: number;
  /** The average number of cores that other programs kept busy. */
  readonly otherWork: number;
  readonly report?: Report;
  readonly leftOut?: readonly string[];
  readonly failure?: string;
  readonly missing?: string;
}

/** A whole run, as its file has it. */
export interface Run {
  /** When it ended, by ISO 8601. */
  readonly date: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGiB: number;
    readonly kernel: string;
    readonly node: string;
  };
  /** Versions of forkline and of what it is compared with. */
  readonly versions: Readonly<Record<string, string>>;
  readonly settings: Settings;
  readonly suites: SuiteResult[];
}

/** A column of the table. */
export interface Column {
  readonly title: string;
  readonly cell: (row: Row) => string;
}
