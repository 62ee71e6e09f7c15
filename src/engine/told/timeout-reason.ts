/** A process of the command. */
interface SeenProcess {
  /** The process id; it has ended since. */
  readonly pid: number;
  /** The beginning of its command line; the command's own text for its shell. */
  readonly command: string;
}

/**
 * What kept a command from ending in time, as one look at its processes showed just before they were ended.
 * The first that applies:
 */
export type TimeoutReason =
  /** `onExec` was asked about a program, and had not answered: `command` is that program. */
  | ({ readonly kind: 'asked' } & SeenProcess)
  /** A process waited for keys of the terminal (`pty`). */
  | ({ readonly kind: 'terminal' } & SeenProcess)
  /** A process waited for input on stdin, which is open and empty. */
  | ({ readonly kind: 'stdin' } & SeenProcess)
  /** A process waited for a lock of a file. */
  | ({
      readonly kind: 'lock';
      /** The file; absent: not known. */
      readonly path?: string;
      /** The process that held the lock then; absent: not known, as for one of another container. */
      readonly holder?: SeenProcess;
    } & SeenProcess)
  /** A process was stopped, as by SIGSTOP, or since it used the terminal from the background. */
  | ({ readonly kind: 'stopped' } & SeenProcess)
  /** A program that goes on until it is ended, such as `watch`, `top` or `tail -f`. */
  | ({ readonly kind: 'endless' } & SeenProcess)
  /** A process was computing, and had been for half of its time or more. */
  | ({
      readonly kind: 'cpu';
      /** The processor time that it had used, in milliseconds. */
      readonly cpuMs: number;
    } & SeenProcess)
  /** A process listened on TCP ports, and nothing else was at work. */
  | ({ readonly kind: 'listening'; readonly ports: readonly number[] } & SeenProcess);

/**
 * Parses the engine's words: `lock pid=7 command=npm%20ci path=/tmp/x holder=9 by=npm`.
 *
 * @param text The command's text, for its own shell, which has no name in the words.
 * @returns Undefined: the words are of another version, or broken.
 */
export function toTimeoutReason(words: string, text: string): TimeoutReason | undefined {
  const [kind, ...fields] = words.split(' ');
  const values = new Map<string, string>();
  for (const field of fields) {
    const at = field.indexOf('=');
    values.set(field.slice(0, at), decoded(field.slice(at + 1)));
  }
  const pid = Number(values.get('pid'));
  if (!(pid > 0)) return undefined;
  const process = { pid, command: values.get('command') ?? text };
  switch (kind) {
    case 'asked':
    case 'terminal':
    case 'stdin':
    case 'stopped':
    case 'endless':
      return { kind, ...process };
    case 'cpu':
      return { kind, ...process, cpuMs: Number(values.get('ms') ?? 0) };
    case 'listening':
      return { kind, ...process, ports: (values.get('ports') ?? '').split(',').map(Number) };
    case 'lock': {
      const path = values.get('path');
      const by = Number(values.get('holder') ?? 0);
      const holder = { pid: by, command: values.get('by') ?? text };
      return { kind, ...process, ...(path && { path }), ...(by > 0 && { holder }) };
    }
    default:
      return undefined;
  }
}

/** Bytes that are not UTF-8 become U+FFFD. */
function decoded(word: string): string {
  const bytes = word.replace(/%([0-9A-F]{2})/g, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}
