export { TaskLimitError, UnknownTaskError } from '../tasks/errors.js';
export type { TaskEvent, TaskListener } from '../tasks/events.js';
export type { WaitOptions } from '../tasks/followed-task.js';
export { TaskManager } from '../tasks/manager.js';
export type { TaskOptions } from '../tasks/start.js';
export type { TaskEnd, TaskLifetime } from '../tasks/status.js';
export type { OutputStretch, SubjectState, TaskSubject } from '../tasks/subject.js';
export { Task, type TaskWork } from '../tasks/task.js';
export { type Awaited, checkUntil, type Until } from '../tasks/wait.js';
