import { type ChildProcess, spawn } from 'node:child_process';
import { messageOf } from '../../../support/errors.js';
import { warnHost } from '../../../support/logger.js';
import { onBehalfOfNobody } from '../../caller.js';

/**
 * Ends the process groups that it was told of, once its stdin reaches EOF, which is when the host has
 * ended in any way: SIGTERM, two seconds, SIGKILL. Plain text for every `sh`.
 */
const SCRIPT = `trap '' HUP INT TERM
groups=' '
while read -r what group; do
  case $what in
    add) groups="$groups$group " ;;
    drop) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
living() { for group in $groups; do kill -0 "-$group" 2>/dev/null && return; done; return 1; }
for group in $groups; do kill -TERM "-$group"; kill -CONT "-$group"; done 2>/dev/null
for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  living || exit 0
  sleep 0.1
done
for group in $groups; do kill -KILL "-$group"; done 2>/dev/null`;

/** The process that outlives the host, to end its commands. There is one, from the first command on. */
class Guard {
  readonly #groups = new Set<number>();
  #child: ChildProcess | undefined;

  add(group: number): void {
    this.#groups.add(group);
    if (this.#child === undefined) this.#start();
    else this.#tell(`add ${group}`);
  }

  drop(group: number): void {
    if (this.#groups.delete(group)) this.#tell(`drop ${group}`);
  }

  #start(): void {
    try {
      this.#spawn();
    } catch (error) {
      warnHost(
        `The guard that ends commands with their host cannot be started: ${messageOf(error)}`,
        'FORKLINE_NO_GUARD',
      );
    }
  }

  #spawn(): void {
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'forkline-guard'], {
      cwd: '/',
      env: { PATH: '/bin:/usr/bin' },
      // Signals to the host's process group, from a terminal for instance, must not reach it.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#child = child;
    // The guard was ended: the next command starts another one, which is told of all groups.
    const gone = (): void => {
      if (this.#child === child) this.#child = undefined;
    };
    child.on('error', gone);
    child.on('exit', gone);
    child.stdin?.on('error', gone);
    child.unref();
    // Node makes this pipe a socket; it must not keep the host alive.
    (child.stdin as { unref?: () => void } | null)?.unref?.();
    for (const group of this.#groups) this.#tell(`add ${group}`);
  }

  #tell(line: string): void {
    this.#child?.stdin?.write(`${line}\n`);
  }
}

let guard: Guard | undefined;

/** Makes the guard end a group with the host, until {@link dropGuarded} is called for it. */
export function addGuarded(group: number): void {
  guard ??= onBehalfOfNobody(() => new Guard());
  guard.add(group);
}

export function dropGuarded(group: number): void {
  guard?.drop(group);
}
