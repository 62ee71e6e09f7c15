// Results of reading shell text. These types use none of the parser library's types, so that the
// package's public types need none either.

/** A pipeline that ends in a filter, whose exit code is therefore the filter's. */
export interface PipelineCode {
  /** The last program of the pipeline, which set the exit code. */
  readonly program: string;
  /** The programs before it, in order. The exit code does not tell how they ended. */
  readonly before: readonly string[];
  /**
   * What shows the exit codes of the programs before. Absent: `set -o pipefail`, since every program after
   * them reads its input to the end, and fails by errors alone. `PIPESTATUS`: one of them, such as `grep`,
   * fails for another reason, too. `file`: one may stop reading early, such as `head`, and so end the
   * program before it: only output that goes to a file lets that one finish.
   */
  readonly remedy?: 'PIPESTATUS' | 'file';
}

/** What a script does by the exit code of a pipeline that ends in a filter. */
export interface PipelineUse extends PipelineCode {
  /** The syntax that uses the exit code. */
  readonly usedBy: '$?' | '&&' | '||' | 'if' | 'while' | 'until';
}

/**
 * The most that the shell must evaluate to expand a word: nothing, values of variables, or output of
 * commands.
 */
export type Computed = 'nothing' | 'variables' | 'commands';

/**
 * What a command asks of a tool that is to do its work, beyond whole text files of the user's: to `append`; to
 * show or write `bytes` that are no text; to take patterns for names of files (`globs`), further `options`,
 * such as those of grep, or internal `urls`; to show a part by `lines`; to have the rights of `root`.
 */
export type ToolAbility = 'append' | 'bytes' | 'globs' | 'lines' | 'options' | 'root' | 'urls';
