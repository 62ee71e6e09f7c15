import { createRuleFilter } from '../rules/rule-filter.js';
import type { Section } from '../rules/section.js';

const BUILD: Section = {
  begins:
    /^(?:> Task :|:\S+ (?:UP-TO-DATE|FROM-CACHE|NO-SOURCE|SKIPPED)$|Starting a Gradle Daemon)/,
  ends: /^BUILD (?:SUCCESSFUL|FAILED) in /,
};

const TASK = /^(?:> Task )?:\S+(?: (?:UP-TO-DATE|FROM-CACHE|NO-SOURCE|SKIPPED))?$/;

/** Finds tasks below which there is output of their own: their name says what it is about. */
function tasksWithOutput(lines: readonly string[]): Set<number> {
  const found = new Set<number>();
  let task: number | undefined;
  for (const [index, line] of lines.entries()) {
    if (TASK.test(line)) {
      task = index;
    } else if (task !== undefined) {
      if (line.trim() !== '' && !isEnd(line)) found.add(task);
      task = undefined;
    }
  }
  return found;
}

function isEnd(line: string): boolean {
  return /^(?:> Task |:|BUILD |FAILURE:|\d+ actionable tasks?:)/.test(line);
}

/** Gradle: tasks that printed nothing, downloads. */
export const gradleFilter = createRuleFilter({
  name: 'gradle',
  programs: ['gradle', 'gradlew'],
  noise: [
    { what: 'tasks', pattern: TASK, within: BUILD },
    { what: 'downloads', pattern: /^Download(?:ing)? https?:\/\/\S+/ },
    { what: 'progress', pattern: /^<[=-]+> \d+% [A-Z]+ \[/ },
    { what: 'idle workers', pattern: /^> IDLE$/ },
    {
      what: 'greetings',
      pattern: /^(?:Welcome to Gradle |To honour the JVM settings for this build )/,
    },
    { what: 'daemon', pattern: /^(?:Starting a Gradle Daemon|Daemon will be stopped)\b/ },
  ],
  except: tasksWithOutput,
});
