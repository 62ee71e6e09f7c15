import { hiddenPrograms } from '../shell/pipeline-code.js';
import type { PipelineCode, PipelineUse } from '../shell/reading.js';
import type { Receipt } from './receipt.js';

/** Says what a model must know of a command's pipelines, a line each: whose exit code it has seen. */
export function pipelineNotices(receipt: Receipt): readonly (string | undefined)[] {
  const { outcome, exitCodeOf, wentBy, brokenPipe } = receipt;
  const exitCode = outcome.kind === 'exited' ? outcome.exitCode : undefined;
  return [
    exitCodeOf && exitCode !== undefined ? pipelineNotice(exitCodeOf, exitCode) : undefined,
    wentBy && useNotice(wentBy),
    brokenPipe && BROKEN_PIPE_NOTICE,
  ];
}

const SHOWN_PROGRAMS = 3;

/** Says whose exit code it is; nothing, where the programs before the filter only read. */
function pipelineNotice(code: PipelineCode, exitCode: number): string | undefined {
  const hidden = hiddenPrograms(code);
  if (hidden.length === 0) return undefined;
  const remedy =
    code.remedy === 'PIPESTATUS'
      ? `put right after the pipeline: ; echo ${statusOf(code, hidden)}`
      : remedyOf(code);
  const whose = `${code.program}, not of ${namesOf(hidden)}`;
  return `Exit code ${exitCode} is that of ${whose}. For that one, ${remedy}`;
}

/** Says the same of a pipeline before the end of the command. */
function useNotice(use: PipelineUse): string {
  const hidden = hiddenPrograms(use);
  const { usedBy, program } = use;
  const goes = usedBy === '$?' ? 'is' : 'goes by';
  const remedy =
    use.remedy === 'PIPESTATUS' && usedBy === '$?' && hidden.length === 1
      ? `use ${statusOf(use, hidden)} in its place`
      : remedyOf(use);
  const where = /^\w/.test(usedBy) ? '' : ' after the pipeline';
  return (
    `\`${usedBy}\`${where} ${goes} the exit code of ${program}, not of ${namesOf(hidden)}. ` +
    `For that one, ${remedy}`
  );
}

function remedyOf({ remedy }: PipelineCode): string {
  return remedy === undefined ? 'begin the command with: set -o pipefail;' : FILE_INSTEAD;
}

/** A reader that stops early ends the program before it: only a file lets that one finish. */
const FILE_INSTEAD = 'send its output to a file in place of the pipe: >FILE 2>&1';

/** The words for the exit codes of the hidden programs. */
function statusOf({ before }: PipelineCode, [first = '', ...more]: readonly string[]): string {
  return `\${PIPESTATUS[${more.length > 0 ? '@' : before.indexOf(first)}]}`;
}

function namesOf(hidden: readonly string[]): string {
  return hidden.slice(0, SHOWN_PROGRAMS).join(' or ');
}

/** Explains 141, an exit code that no program has chosen. */
const BROKEN_PIPE_NOTICE =
  'Exit code 141 means SIGPIPE: a program was ended since what read its output, such as head or grep -q, ' +
  `had stopped reading. That alone is no failure. To let it finish, ${FILE_INSTEAD}`;
