import { FollowedTask } from '../followed-task.js';
import type { DetachedSubject } from './detached-subject.js';
import type { DetachedRecord } from './registry.js';

/** A command that goes on without the process that started it; any of the same user's may attach. */
export class DetachedTask extends FollowedTask {
  /** What is beneath: its output as bytes, and every change. */
  readonly subject: DetachedSubject;

  constructor(subject: DetachedSubject) {
    super(subject.id, subject);
    this.subject = subject;
  }

  /** What was asked for, and how it stands. */
  get record(): DetachedRecord {
    return this.subject.record;
  }
}
