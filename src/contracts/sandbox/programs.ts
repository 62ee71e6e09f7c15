import { types } from 'node:util';
import type {
  ArgvPattern,
  ExecAnswer,
  ExecRule,
  SandboxExec,
} from '../../sandbox/exec/exec-policy.js';
import { firstBytes, visibleText } from '../../support/text.js';

/** Bytes that are shown of a rule. */
const SHOWN_BYTES = 60;

/**
 * Says which programs commands may not run, or only if the user allows it. The first rule for a program decides,
 * which a few words do not tell.
 *
 * @param shown Lists names, of which it leaves out what are too many.
 * @returns Undefined: all may be run.
 */
export function describePrograms(
  exec: SandboxExec | undefined,
  shown: (names: readonly string[]) => string,
): string | undefined {
  const rules = exec?.rules ?? [];
  const ends = rules.findIndex(isForAll);
  const special = ends < 0 ? rules : rules.slice(0, ends);
  const otherwise = rules[ends]?.answer ?? exec?.otherwise ?? 'allow';
  const namesOf = (answer: ExecAnswer) =>
    special.filter((rule) => rule.answer === answer).flatMap(labelsOf);
  const allowed = namesOf('allow');
  const but = allowed.length === 0 ? '' : ` but ${shown(allowed)}`;
  const denied = otherwise === 'deny' ? [] : namesOf('deny');
  const asked = otherwise === 'ask' ? [] : namesOf('ask');
  const parts = [
    ...(otherwise === 'deny' ? [`may run no programs${but}`] : []),
    ...(otherwise === 'ask' ? [`run no programs${but} unless the user allows it`] : []),
    ...(denied.length > 0 ? [`may not run ${shown(denied)}`] : []),
    ...(asked.length > 0 ? [`run ${shown(asked)} only if the user allows it`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(', and ');
}

/** Whether a rule is about each program. */
function isForAll({ program, argv }: ExecRule): boolean {
  return !program && !argv?.length;
}

/** Returns what a rule is about, for each of its programs. */
function labelsOf({ program, argv }: ExecRule): readonly string[] {
  const programs = program ? [program].flat() : ['*'];
  const patterns = (argv ?? []).map(patternText);
  return programs.map((name) => {
    const whole = [name, ...patterns].join(' ');
    const text = firstBytes(whole, SHOWN_BYTES);
    return `\`${visibleText(text === whole ? whole : `${text}…`)}\``;
  });
}

function patternText(pattern: ArgvPattern): string {
  if (typeof pattern === 'string') return pattern;
  if (types.isRegExp(pattern)) return String(pattern);
  return `/${pattern.matches}/${pattern.flags ?? ''}`;
}
