import { FollowedTask } from '../followed-task.js';
import type { DetachedSubject } from './detached-subject.js';
import type { DetachedRecord } from './registry.js';

/** A command that goes on without the process that started it; any process of the same user may attach. */
export class DetachedTask extends FollowedTask {
  /** The detached command itself: its output as bytes, and all changes. */
  readonly subject: DetachedSubject;

  constructor(subject: DetachedSubject) {
    super(subject.id, subject);
    this.subject = subject;
  }

  /** The options it was started with, and its state. */
  get record(): DetachedRecord {
    return this.subject.record;
  }
}
