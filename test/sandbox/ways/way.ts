/** A way out of a sandbox: what a command tries. */
export interface WayOut {
  readonly name: string;
  /** It prints `OUT` when it has got out, if that shows in nothing else. */
  readonly command: string;
  /** Only root could, even without a sandbox. */
  readonly forRoot?: true;
  /** Not to be tried without a sandbox, since it would harm the machine, or nobody could. */
  readonly untried?: true;
}

/** A command that runs this. */
export const python = (code: string) => `/usr/bin/python3 - <<'END'\n${code}\nEND\n`;
