import type { Computed } from '../../../shell/reading.js';

/** What of shell syntax a rule asks of a command besides its text. */
export interface InterceptorNeeds {
  /**
   * Where its output goes: `shown` to the model, also by way of `head`, `grep` and the like; or to
   * a `file`, by redirection or `tee`. Default: anywhere.
   */
  readonly output?: 'shown' | 'file' | undefined;
  /** The most that the shell may have to work out in its words. Default: `commands`. */
  readonly computed?: Computed | undefined;
}

/** A rule that sends a model to a dedicated tool. */
export interface InterceptorRule {
  /**
   * Regular expression for one simple command: program, arguments and redirections with one blank
   * between them. What is quoted is empty: `grep "a b" >x` is `grep "" >x`. A program with its path
   * in `/bin`, `/usr/bin` or `/usr/local/bin` is tried with its name alone as well.
   */
  readonly pattern: string;
  /** Flags of the expression. Default: none. */
  readonly flags?: string | undefined;
  /** The rule is live only while the runtime has a tool of this name. */
  readonly tool: string;
  /** For the model: what to use instead. */
  readonly message: string;
  /** What must hold besides of where the output goes. Absent: nothing. */
  readonly needs?: InterceptorNeeds | undefined;
}

// An operand that is a file: not an option, a redirection or a device.
const FILE = String.raw`\s+(?![-+]|\d*[<>&]|/(?:dev|proc|sys)/)\S`;
const NO_INLINE_INPUT = '(?!.*<<)';
const OPTIONS = String.raw`(?:\s+-\S+)*`;
// `-n 5` and `-c 5`: a number is not a file.
const COUNTING_OPTIONS = String.raw`(?:\s+(?:-[nc]\s+\S+|-(?![nc]\s)\S+))*`;
const FOLLOWS = '(?:-[A-Za-z0-9]*[fF]|--follow)';
// Asked for a count or a yes, not for what matches.
const NO_MATCHES = '(?:-[A-Zabd-pr-z]*[cq][A-Za-z]*|--(?:count|quiet|silent|files|help|version))';
// What is done with each file found, and what is asked about it besides its name and kind.
const BEYOND_NAMES =
  '(?:-(?:exec|execdir|ok|okdir|delete|print0|printf|fprint\\w*|fls|ls|x|X|0|newer\\w*|[acm]time|' +
  '[acm]min|size|perm|user|group|uid|gid|empty|links|inum|samefile)|' +
  '--(?:exec|exec-batch|print0|size|changed-within|changed-before|owner|list-details))';
const BY_NAME =
  '(?:-(?:i?name|i?path|i?wholename|i?regex|type|t|g|e)|--(?:type|glob|extension|regex))';

/**
 * The rules that apply unless others are given. They are advice that saves a model a worse way, not
 * a boundary: `$(printf cat) file` passes, and so does whatever they are not sure about.
 */
export const DEFAULT_INTERCEPTOR_RULES: readonly InterceptorRule[] = [
  {
    tool: 'read',
    pattern:
      `^(?:(?:cat|less|more)${NO_INLINE_INPUT}${OPTIONS}|` +
      String.raw`(?:head|tail(?!.*\s${FOLLOWS}))${NO_INLINE_INPUT}${COUNTING_OPTIONS})${FILE}`,
    message: 'Use the `read` tool to look at files; it can read a part of one, too.',
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
      String.raw`^(?:sed(?=.*\s(?:-[nErsuz]*i|--in-place))|` +
      // Only perl's own options: `perl script.pl -i` is the script's.
      String.raw`perl(?:\s+-(?:\S*[eE]\s+\S+|(?!\S*[eE]\s)\S+))*?\s+-[0-9acflnpsStTuUwWX]*i|` +
      String.raw`g?awk(?=.*\s(?:-i\s*|--include[\s=])inplace(?:\s|$)))`,
    message: 'Use the `edit` tool to change files in place.',
    needs: { computed: 'variables' },
  },
  {
    tool: 'write',
    pattern: String.raw`^(?:(?:echo|printf)(?:\s|$)|(?:cat|tee)\s(?:.*\s)?\d*<<)`,
    message: 'Use the `write` tool to write files; the content needs no quoting there.',
    needs: { output: 'file', computed: 'nothing' },
  },
];
