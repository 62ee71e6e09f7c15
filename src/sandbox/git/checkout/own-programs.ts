import { basename } from 'node:path';
import type { OnExec } from '../../../engine/exec/exec-request.js';
import type { EngineSandbox } from '../../../engine/message.js';
import { MULTI_CALL } from '../../../engine/told/programs.js';
import { isAmong } from '../../paths.js';
import { OWN_GIT_OPTIONS, READING_PROGRAMS, READING_SUBCOMMANDS } from './scripts.js';

/**
 * Answers for a command that looks at a checkout: its shell and the programs of its script may be executed, and what
 * a repository's configuration names may not.
 *
 * @param argv The program and its arguments.
 */
export function lookingOnly(
  argv: readonly string[] | undefined,
  { writable }: Pick<EngineSandbox, 'writable'>,
): OnExec {
  // Whatever a program there is called, a command may have put it there.
  const places = writable.filter((path) => path !== '/');
  return ({ program, argv: asked }) => {
    const [called = '', ...rest] = asked;
    const file = basename(program);
    const name = MULTI_CALL.has(file) ? basename(called) : file;
    const isOwnShell = argv !== undefined && areEqual(asked, argv);
    const isOwn = isOwnShell || READING_PROGRAMS.has(name) || isOwnGit(name, rest);
    return isOwn && !isAmong(program, places) ? 'allow' : 'deny';
  };
}

function isOwnGit(name: string, args: readonly string[]): boolean {
  const [subcommand = ''] = args.slice(OWN_GIT_OPTIONS.length);
  const isOwn = areEqual(args.slice(0, OWN_GIT_OPTIONS.length), OWN_GIT_OPTIONS);
  return name === 'git' && isOwn && READING_SUBCOMMANDS.has(subcommand);
}

function areEqual(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}
