import { createRuleFilter } from '../rules/rule-filter.js';

const TASK = /^(?:TASK|RUNNING HANDLER) \[.*\] \*{3,}$/;
const UNCHANGED = /^(?:ok|skipping): \[[^\]]+\](?: => \(item=.*\))?$/;

/** Finds tasks that changed nothing and told nothing on any host, with their results. */
function quietTasks(lines: readonly string[]): Map<number, string> {
  const found = new Map<number, string>();
  let task: number[] | undefined;
  const close = (): void => {
    // A task without results is one that runs.
    if (task !== undefined && task.length > 1) {
      for (const index of task) found.set(index, 'tasks without changes');
    }
    task = undefined;
  };
  for (const [index, line] of lines.entries()) {
    if (TASK.test(line)) {
      close();
      task = [index];
    } else if (UNCHANGED.test(line)) {
      task?.push(index);
    } else if (line.trim() === '') {
      close();
    } else {
      task = undefined;
    }
  }
  // The last task may still run on other hosts.
  return found;
}

/** ansible: tasks that were as they should be. */
export const ansibleFilter = createRuleFilter({
  name: 'ansible',
  programs: ['ansible', 'ansible-playbook', 'ansible-pull', 'molecule'],
  noise: [],
  more: quietTasks,
});
