// Results of reading shell text. These types use none of the parser library's types, so that the
// package's public types need none either.

/** The program that set a command's exit code, when its last pipeline ends in a filter. */
export interface PipelineCode {
  /** The last program of the pipeline, which set the exit code. */
  readonly program: string;
  /** The programs before it, in order. The exit code does not tell how they ended. */
  readonly before: readonly string[];
}

/**
 * The most that the shell must evaluate to expand a word: nothing, values of variables, or output of
 * commands.
 */
export type Computed = 'nothing' | 'variables' | 'commands';
