import { existsSync } from 'node:fs';
import type { BaseResult } from '../outcome.js';
import {
  type Denial,
  type EngineReport,
  type SandboxReport,
  toSandboxPort,
} from '../sandbox-report.js';
import { toAgentNews } from './agent-news.js';
import { deniedPrograms, toPrograms } from './programs.js';

/**
 * Parses the engine's report on a sandbox.
 *
 * @param lines `write=namespace tmp=none`, and denials: `socket=40`, a family, or `connect=/a%20b`, a
 * socket by its path, or an address; `held=` and the id of a change that was held back; `lost=` and the path of
 * one that could not be; `undo=` and the id of the journal with its changes; `port=3000,3001,7,node,0`, a published port; what agents have signed or refused; `renewed=yes`;
 * `exec=` and a program, each as often as it was executed; `exec-more=` and the number of others.
 */
export function toReport(lines: string): EngineReport {
  const { executed, more, others } = toPrograms(lines.split(' '));
  const all = [...new Set(others)].map((line): [string, string] => {
    const [name = '', value = ''] = line.split('=');
    return [name, value];
  });
  const denials = all.flatMap(([name, value]) => toDenial(name, value) ?? []);
  const heldIds = all.flatMap(([name, value]) => (name === 'held' ? value : []));
  const ports = all.flatMap(([name, value]) =>
    name === 'port' ? (toSandboxPort(value) ?? []) : [],
  );
  const signatures = all.flatMap(([name, value]) => {
    const news = toAgentNews(name, value);
    return news !== undefined && 'signature' in news ? news.signature : [];
  });
  const isRule = ([name, value]: [string, string]): boolean =>
    !TOLD.has(name) &&
    !isUndoId([name, value]) &&
    !toDenial(name, value) &&
    !toAgentNews(name, value);
  const [, undoId] = all.find(isUndoId) ?? [];
  const { renewed, ...enforced } = Object.fromEntries(all.filter(isRule));
  const lost = all.flatMap(([name, value]) => (name === 'lost' ? decodeURIComponent(value) : []));
  const isHidden = enforced.write === 'namespace' && areProcessesHidden();
  const unseen = [
    ...(isHidden ? [HIDDEN] : []),
    ...lost.map((path) => `what was written to ${path} is not in effect, and was not held back`),
  ];
  // Landlock alone does not tell it, nor do older keepers of detached commands.
  const settings = enforced.write === 'namespace' ? 'mount' : 'none';
  return {
    enforced: { settings, undo: 'none', ...enforced } as EngineReport['enforced'],
    writable: [],
    denials: [...denials, ...deniedPrograms(executed)],
    ...(executed.length > 0 && { executed }),
    ...(more > 0 && { moreExecuted: more }),
    ...(heldIds.length > 0 && { heldIds }),
    ...(undoId !== undefined && { undoId }),
    ...(ports.length > 0 && { ports }),
    ...(signatures.length > 0 && { signatures }),
    ...(renewed !== undefined && { renewed: true }),
    ...(unseen.length > 0 && { unseen }),
  };
}

/** Returns what the engine's report on a sandbox says, as fields of a result. */
export function sandboxFacts({ executed, moreExecuted, ...sandbox }: EngineReport): SandboxFacts {
  return {
    sandbox,
    ...(executed !== undefined && { executed }),
    ...(moreExecuted !== undefined && { moreExecuted }),
  };
}

type SandboxFacts = Pick<BaseResult, 'executed' | 'moreExecuted'> & {
  readonly sandbox: SandboxReport;
};

/** The names of lines that are neither about what enforces a rule nor denials. */
const TOLD = new Set(['held', 'lost', 'port']);

/** Returns whether a line has the id of a journal, and not whether one is kept. */
function isUndoId([name, value]: [string, string]): boolean {
  return name === 'undo' && /^[\da-f]{16}$/.test(value);
}

const HIDDEN =
  "/proc hides other users' processes (hidepid), by which the kernel's denials, what is held back, published ports and requests to agents are told";
let isHiding: boolean | undefined;

/** Returns whether `/proc` shows only the processes of this user: then those in a sandbox are hidden, too. */
export function areProcessesHidden(): boolean {
  isHiding ??= existsSync('/proc/self/stat') && !existsSync('/proc/1/stat');
  return isHiding;
}

function toDenial(name: string, value: string): Denial | undefined {
  const news = toAgentNews(name, value);
  if (news !== undefined) return 'denial' in news ? news.denial : undefined;
  if (name === 'connect') {
    const target = decodeURIComponent(value);
    const rule = target.startsWith('/') ? 'allowUnixSockets' : 'network';
    return { kind: 'connect', target, rule, source: 'kernel' };
  }
  if (name !== 'socket') return undefined;
  const family = Number(value);
  const rule = family === 2 || family === 10 ? 'network' : 'socketFamilies';
  const target = SOCKET_FAMILIES[family] ?? `AF_${family}`;
  return { kind: 'socket', target, rule, source: 'kernel' };
}

/** Names of the socket families that programs use. */
const SOCKET_FAMILIES: Readonly<Record<number, string>> = {
  2: 'AF_INET',
  10: 'AF_INET6',
  16: 'AF_NETLINK',
  17: 'AF_PACKET',
  29: 'AF_CAN',
  31: 'AF_BLUETOOTH',
  38: 'AF_ALG',
  40: 'AF_VSOCK',
  44: 'AF_XDP',
};
