import type { Server } from '@modelcontextprotocol/server';
import type { BashTool, TaskEvent, TaskNews, ToldNews, WatchName } from '../index.js';

/** A message about a task for a client's log: plain data, without output. */
interface TaskLogMessage {
  readonly task: string;
  readonly label: string;
  /** News of the task, one line each. */
  readonly news: readonly string[];
  /** The watches that these news answer. */
  readonly watches?: readonly WatchName[];
  /** The watches that can't come true any more. */
  readonly unmet?: readonly WatchName[];
}

/**
 * Sends a client the events of a tool's tasks, as messages of its log. No subscription is needed; a
 * client that does not want them sets a level above `info`; one that wants only what was asked for, `notice`.
 */
export function logTasks(server: Server, { tasks }: BashTool): void {
  if (tasks === undefined) return;
  const stop = tasks.subscribe((event) => {
    if (event.news.length === 0) return;
    const data = messageOf(event);
    // A client that has gone, or takes no log, misses them.
    const level = data.watches || data.unmet ? 'notice' : 'info';
    server.sendLoggingMessage({ level, logger: 'tasks', data }).catch(() => {});
  });
  const { onclose } = server;
  server.onclose = () => {
    stop();
    onclose?.();
  };
}

function messageOf({ task, news }: TaskEvent): TaskLogMessage {
  const watches = news.flatMap(({ watch }) => watch ?? []);
  const unmet = news.flatMap((one) => one.unmet ?? []);
  return {
    task: task.id,
    label: task.label,
    news: news.map(lineOf),
    ...(watches.length > 0 && { watches }),
    ...(unmet.length > 0 && { unmet }),
  };
}

function lineOf({ unmet = [], ...news }: ToldNews): string {
  if (unmet.length === 0) return textOf(news);
  const missed = unmet.filter((name) => name !== 'ended').map((name) => MISSED[name]);
  return missed.length === 0
    ? textOf(news)
    : `${textOf(news)}, and before that ${missed.join(', ')}`;
}

const MISSED: Readonly<Record<Exclude<WatchName, 'ended'>, string>> = {
  line: 'no line was as awaited',
  port: 'no port was as awaited',
  silent: 'it was not silent for so long',
};

function textOf(news: TaskNews): string {
  switch (news.kind) {
    case 'line':
      return `it has printed: ${news.line}`;
    case 'listening':
      return `it listens on port ${news.port} (${news.address})${reachOf(news)}`;
    case 'silent':
      return (
        `it has printed nothing for ${Math.round(news.forMs / 1000)} seconds` +
        (news.stopped === undefined ? '' : ': it is stopped')
      );
    case 'ended':
      return news.running === 0
        ? `its command has ended${howOf(news)}`
        : `its command has ended${howOf(news)}, and ${news.running} of its processes still run`;
    case 'gone':
      return 'none of its processes runs any more';
    case 'lost':
      return `lost: ${news.reason}`;
  }
}

function reachOf({ otherNetwork, url }: TaskNews & { readonly kind: 'listening' }): string {
  if (url !== undefined) return ` in its sandbox: from outside it is ${url}`;
  return otherNetwork ? ' in a network of its own, reached only from inside' : '';
}

function howOf({ receipt }: TaskNews & { readonly kind: 'ended' }): string {
  const outcome = receipt?.outcome;
  if (outcome === undefined) return ': it was never started';
  return outcome.kind === 'exited' ? ` with exit code ${outcome.exitCode}` : `: ${outcome.kind}`;
}
