// What users are told of a shell text: types that name none of the library that parses it, so that
// the package's own name none either.

/** Whose exit code a command's is, when a pipeline ends in a filter. */
export interface PipelineCode {
  /** The program at the pipeline's end: the exit code is its. */
  readonly program: string;
  /** Those before it, in order: how they ended, the exit code does not say. */
  readonly before: readonly string[];
}

/**
 * What the shell works out before it has a word: nothing, the values of variables, or the output of
 * commands.
 */
export type Computed = 'nothing' | 'variables' | 'commands';
