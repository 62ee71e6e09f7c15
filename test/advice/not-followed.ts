/** A text that sounds like advice and has no case, and why. */
export interface NotFollowed {
  readonly says: RegExp;
  readonly why: string;
}

const by = (why: string, ...texts: readonly RegExp[]): readonly NotFollowed[] =>
  texts.map((says) => ({ says, why }));

/** Advice that tests of its own follow, by their file. */
export const FOLLOWED_ELSEWHERE: readonly { readonly says: RegExp; readonly by: string }[] = [
  ...[
    /^put right after the pipeline: ; echo …$/,
    /^use … in its place$/,
    /^begin the command with: set -o pipefail;$/,
    /^send its output to a file in place of the pipe: >FILE 2>&1$/,
    /^Exit code 141 means SIGPIPE: .* To let it finish, …$/,
  ].map((says) => ({ says, by: 'test/advice/pipelines.test.ts' })),
  {
    // What is blocked is what the tool can do: commands by abilities.
    says: /^Use the `\w+` tool to /,
    by: 'test/contracts/workspace/input/intercept-abilities.test.ts',
  },
];

/** Texts that have words of advice in them, and advise no command and no parameter. */
export const NOT_FOLLOWED: readonly NotFollowed[] = [
  ...by(
    'it names nothing that could be followed literally',
    /^Out of memory(?:, probably)?: .* Do less at a time\.$/,
    /^The limit of .* was reached: .* Do less /,
    /^Do without it, or ask the user(?: to allow that host)?\.$/,
    /^Do without it\.$/,
    /^Run it without (?:changing it meanwhile|a tracer)\.$/,
    /^Give it fewer at a time\.$/,
    /^…: do without it, or ask the user\.$/,
    /Type one only if the user has given it to you for this; else ask the user\.$/,
    /^End it, and give its command what it asks for as arguments, or by a pipe/,
    /^whoever connects to such a port could run programs\. Use another port, or ask the user\.$/,
    /^Do the next step in a command of its own\.$/,
    /^Leave it as it is, or ask the user to change it\.$/,
    /^Git could not replace it: commit nothing until the user has replaced it\.$/,
    /^Commands use a secret for that host, .* use a program that reads SSL_CERT_FILE or the like\.$/,
    /That commit should not be pushed, but made anew outside\.$/,
    /^…?, and commit … has the old files/,
  ),
  ...by(
    'it is for the programmer of a host, not for a model',
    /^abortSignal: not known here, pass it as signal$/,
    /^follow the task by read\(\), wait\(\) or onEvent$/,
    /^start it with stdin: 'pipe', and write\(\)$/,
    /^look at the denials of its receipt, and start it again yourself$/,
    /^write: expected a task /,
    /^beside needs: 'exec' it is `program` and `argv`$/,
  ),
  ...by(
    'it only tells what is so',
    /can't be read: …/,
    /^it runs no more commands, as after `set -n`/,
    /^The shell was ended with the call before, which was cancelled; this one ran in a new one/,
    /^there is no trustworthy record of its start/,
    /^…=1 is set$/,
    /^\(nothing new since the last look\)$/,
    /^a key that a terminal can send with these modifiers$/,
  ),
  ...by(
    'it describes an input ahead of the call',
    /^Ids of jobs to wait for; empty: all$/,
    /^Follows commands that run in the background .* Give exactly one of these:$/,
    /^- `write`: writes to its stdin (?:\(started with `stdin: true`\)|or terminal)/,
  ),
  ...by('it is the text of a shell', /^set -o pipefail; …$/, /^(?:\{ …;)?for _ in/),
];
