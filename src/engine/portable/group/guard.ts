import { type ChildProcess, spawn } from 'node:child_process';
import { messageOf } from '../../../support/errors.js';
import { warnHost } from '../../../support/logger.js';
import { onBehalfOfNobody } from '../../caller.js';

/**
 * Ends the groups of which it was told, once its stdin ends: SIGTERM, two seconds, SIGKILL. That is
 * when the host has ended, however it came about. Plain words that every `sh` understands.
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
        `What ends commands with their host cannot be started: ${messageOf(error)}`,
        'FORKLINE_NO_GUARD',
      );
    }
  }

  #spawn(): void {
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'forkline-guard'], {
      cwd: '/',
      env: { PATH: '/bin:/usr/bin' },
      // What is sent to the host's group, by a terminal for instance, is not meant for it.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#child = child;
    // Somebody has ended it: the next command starts another one, which is told of all.
    const gone = (): void => {
      if (this.#child === child) this.#child = undefined;
    };
    child.on('error', gone);
    child.on('exit', gone);
    child.stdin?.on('error', gone);
    child.unref();
    // A socket as Node makes it; it must not keep the host.
    (child.stdin as { unref?: () => void } | null)?.unref?.();
    for (const group of this.#groups) this.#tell(`add ${group}`);
  }

  #tell(line: string): void {
    this.#child?.stdin?.write(`${line}\n`);
  }
}

let guard: Guard | undefined;

/** Has the group ended with the host, until it is {@link dropGuarded}. */
export function addGuarded(group: number): void {
  guard ??= onBehalfOfNobody(() => new Guard());
  guard.add(group);
}

export function dropGuarded(group: number): void {
  guard?.drop(group);
}
