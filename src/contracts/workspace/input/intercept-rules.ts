import type { ExecRule } from '../../../sandbox/exec/exec-policy.js';
import type { Computed } from '../../../shell/reading.js';

/** Conditions of a rule on the shell syntax of a command, besides its text. */
export interface InterceptorNeeds {
  /**
   * Destination of the output: `shown` to the model, also through `head`, `grep` and the like; a `file`, by
   * redirection or `tee`; or its end, which only `append` is. Default: any.
   */
  readonly output?: 'shown' | 'file' | 'append' | undefined;
  /** The most that the shell may have to expand in the words. Default: `commands`. */
  readonly computed?: Computed | undefined;
}

/** A rule that sends a model to a dedicated tool. */
export interface InterceptorRule {
  /**
   * Regular expression for one simple command: program, arguments and redirections with one blank between
   * them. Quoted text is empty: `grep "a b" >x` is `grep "" >x`. A program with a path in `/bin`, `/usr/bin`
   * or `/usr/local/bin` is also tried by its name alone.
   */
  readonly pattern: string;
  /** Flags of the expression. Default: none. */
  readonly flags?: string | undefined;
  /** Name of the tool: the rule applies only while the runtime has it, and to what it can do. */
  readonly tool: string;
  /** Message for the model: what to use instead. Each word of it must work when it is followed. */
  readonly message: string;
  /** Further conditions on the shell syntax. Absent: none. */
  readonly needs?: InterceptorNeeds | undefined;
}

/**
 * A rule that sends a model to a dedicated tool, and holds for the programs that are executed, whatever text has
 * led to them, and not for what is written. The tool's sandbox keeps it, before the rules of its own policy.
 */
export interface InterceptorExecRule extends Pick<ExecRule, 'program' | 'argv' | 'exact'> {
  /** Name of the tool: the rule applies only if the runtime has it. */
  readonly tool: string;
  /** Message for the model: what to use instead. */
  readonly message: string;
  /** That it holds for what is executed. */
  readonly needs: 'exec';
}

// An operand that is a file: not an option, a redirection or a device.
const FILE = String.raw`\s+(?![-+]|\d*[<>&]|/(?:dev|proc|sys)/)\S`;
const NO_INLINE_INPUT = '(?!.*<<)';
// Answers advise commands that read artifacts.
const NO_ARTIFACT = '(?!.*artifact://)';
const OPTIONS = String.raw`(?:\s+-\S+)*`;
// `-n 5` and `-c 5`: a number is not a file.
const COUNTING_OPTIONS = String.raw`(?:\s+(?:-[nc]\s+\S+|-(?![nc]\s)\S+))*`;
const FOLLOWS = '(?:-[A-Za-z0-9]*[fF]|--follow)';
// Options that ask for a count or for whether there is a match, not for the matches.
const NO_MATCHES = '(?:-[A-Zabd-pr-z]*[cq][A-Za-z]*|--(?:count|quiet|silent|files|help|version))';
// Actions on each file found, and tests of anything but its name and kind.
const BEYOND_NAMES =
  '(?:-(?:exec|execdir|ok|okdir|delete|print0|printf|fprint\\w*|fls|ls|x|X|0|newer\\w*|[acm]time|' +
  '[acm]min|size|perm|user|group|uid|gid|empty|links|inum|samefile)|' +
  '--(?:exec|exec-batch|print0|size|changed-within|changed-before|owner|list-details))';
const BY_NAME =
  '(?:-(?:i?name|i?path|i?wholename|i?regex|type|t|g|e)|--(?:type|glob|extension|regex))';
const WRITING = String.raw`^(?:(?:echo|printf)(?:\s|$)|(?:cat|tee)\s(?:.*\s)?\d*<<)`;

/**
 * The default rules. They are advice that leads a model to a better tool, not a boundary: `$(printf cat)
 * file` passes, and so does every doubtful case.
 */
export const DEFAULT_INTERCEPTOR_RULES: readonly InterceptorRule[] = [
  {
    tool: 'read',
    pattern:
      `^${NO_ARTIFACT}(?:(?:cat|less|more)${NO_INLINE_INPUT}${OPTIONS}|` +
      String.raw`(?:head|tail(?!.*\s${FOLLOWS}))${NO_INLINE_INPUT}${COUNTING_OPTIONS})${FILE}`,
    message: 'Use the `read` tool to look at files.',
    needs: { output: 'shown', computed: 'variables' },
  },
  {
    tool: 'search',
    pattern:
      `^(?:[ef]?grep|rg|ripgrep|ag|ack)(?=\\s)(?!.*\\s${NO_MATCHES}(?:\\s|$))${NO_INLINE_INPUT}` +
      String.raw`${OPTIONS}\s+(?!-|\d*[<>&])\S`,
    message: 'Use the `search` tool to search the contents of files.',
    needs: { output: 'shown', computed: 'variables' },
  },
  {
    tool: 'find',
    pattern:
      `^(?:find|fd|fdfind|locate)(?=\\s)(?!.*\\s${BEYOND_NAMES}(?:[\\s=]|$))` +
      `.*\\s${BY_NAME}(?:[\\s=]|$)`,
    message: 'Use the `find` tool to find files by name or kind.',
    needs: { output: 'shown', computed: 'variables' },
  },
  {
    tool: 'edit',
    pattern:
      // With a suffix there is a copy of the file as it was, which no tool makes.
      String.raw`^(?:sed(?=.*\s(?:-[nErsuz]*i|--in-place)(?:\s|$))|` +
      // Only perl's own options: the `-i` of `perl script.pl -i` belongs to the script.
      String.raw`perl(?:\s+-(?:\S*[eE]\s+\S+|(?!\S*[eE]\s)\S+))*?` +
      String.raw`\s+-[0-9acflnpsStTuUwWX]*i[nple]*(?:\s|$)|` +
      String.raw`g?awk(?=.*\s(?:-i\s*|--include[\s=])inplace(?:\s|$)))`,
    message: 'Use the `edit` tool to change files in place.',
    needs: { computed: 'variables' },
  },
  {
    tool: 'write',
    pattern: WRITING,
    message: 'Use the `write` tool to append to files; the content needs no quoting there.',
    needs: { output: 'append', computed: 'nothing' },
  },
  {
    tool: 'write',
    pattern: WRITING,
    message: 'Use the `write` tool to write files; the content needs no quoting there.',
    needs: { output: 'file', computed: 'nothing' },
  },
];
