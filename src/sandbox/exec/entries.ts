import type { ArgvPattern, ExecRule, SandboxExec } from './exec-policy.js';
import { patternWord } from './patterns.js';
import { type Programs, programPlaces } from './places.js';

const ASK_TIMEOUT_MS = 120_000;
/** Programs that are many, and tell by their name which one they are. */
const MULTI_CALL = ['busybox', 'toybox', 'coreutils'];

/** Returns whether programs are told or judged at all. */
function isJudging(exec: SandboxExec | undefined): exec is SandboxExec {
  return exec?.record === true || rulesApart(exec);
}

/** Returns whether commands may wait for an answer of the host. */
export function isAsking(exec: SandboxExec | undefined): boolean {
  return exec?.otherwise === 'ask' || (exec?.rules ?? []).some(({ answer }) => answer === 'ask');
}

/** Whether a rule, or what is done without, is anything but `allow`. */
function rulesApart(exec: SandboxExec | undefined): boolean {
  const answers = [exec?.otherwise ?? 'allow', ...(exec?.rules ?? []).map(({ answer }) => answer)];
  return answers.some((answer) => answer !== 'allow');
}

/**
 * Returns the words of a sandbox's plan for its rules about programs. Empty: none is judged.
 *
 * @param programs Finds programs; the first call for a rule decides.
 */
export function execEntries(exec: SandboxExec | undefined, programs: Programs): readonly string[] {
  if (!isJudging(exec)) return [];
  const multi = MULTI_CALL.flatMap((name) => programPlaces(exec, name, programs));
  return [
    `exec\0${exec.record === true ? 'record' : 'rules'}\0`,
    `exec-otherwise\0${exec.otherwise ?? 'allow'}\0`,
    `exec-ask-ms\0${exec.askTimeoutMs ?? ASK_TIMEOUT_MS}\0`,
    ...multi.map((path) => `exec-multi\0${path}\0`),
    ...(exec.rules ?? []).flatMap((rule) => ruleEntries(exec, rule, programs)),
  ];
}

function ruleEntries(exec: SandboxExec, rule: ExecRule, programs: Programs): readonly string[] {
  const { program = [], argv, answer, exact, say } = rule;
  const names = [program ?? []].flat();
  return [
    `exec-rule\0${answer}\0`,
    ...names.flatMap((name) => programEntries(exec, name, answer, programs)),
    ...(argv ?? []).map((pattern: ArgvPattern) => `exec-arg\0${patternWord(pattern)}\0`),
    exact === true ? 'exec-args\0exact\0' : '',
    say ? `exec-say\0${say}\0` : '',
  ];
}

function programEntries(
  exec: SandboxExec,
  name: string,
  answer: ExecRule['answer'],
  programs: Programs,
): readonly string[] {
  const all = programPlaces(exec, name, programs);
  const isPath = name.includes('/');
  // What commands can replace is not allowed by its name alone.
  const places =
    isPath || answer !== 'allow' ? all : all.filter((path) => !programs.isWritable(path));
  const paths = places.map((path) => `exec-at\0${path}\0`);
  return isPath ? paths : [`exec-name\0${name}\0`, ...paths];
}
