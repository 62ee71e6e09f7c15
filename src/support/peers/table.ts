/** A package of others that an entry point works with. */
export interface Peer {
  /** The name of the package. */
  readonly name: string;
  /** The lowest version that is taken: the oldest with which it was seen to work. No newer one is refused. */
  readonly from: string;
  /** What older versions lack. */
  readonly since: string;
  /**
   * Whether the entry point can't be imported where the package is missing. Otherwise it takes the package by
   * its shape, or loads it only for one function.
   */
  readonly isNeeded: boolean;
}

/**
 * The packages that entry points work with. Errors, the documentation and tests take them from here. The
 * manifest names them as optional peers in `peerDependenciesMeta` alone, so that none refuses an install.
 */
export const PEERS = {
  'forkline/ai-sdk': {
    name: 'ai',
    from: '6.0.0',
    since: 'Standard Schemas',
    isNeeded: false,
  },
  'forkline/langchain': {
    name: '@langchain/core',
    from: '1.1.40',
    since: 'Standard Schemas as those of tools',
    isNeeded: true,
  },
  'forkline/openai': {
    name: '@openai/agents',
    from: '0.14.0',
    since: 'tools get the signal of a run',
    isNeeded: false,
  },
  'forkline/anthropic': {
    name: '@anthropic-ai/sdk',
    from: '0.90.0',
    since: 'tools get the signal of a request',
    isNeeded: false,
  },
  'forkline/genai': {
    name: '@google/genai',
    from: '1.30.0',
    since: '`text` after calls of tools',
    isNeeded: false,
  },
  'forkline/pi': {
    name: '@earendil-works/pi-agent-core',
    from: '0.74.0',
    since: 'nothing older was tried',
    isNeeded: false,
  },
  'forkline/sandboxes/ai-sdk': {
    name: 'ai',
    from: '7.0.0',
    since: '`experimental_sandbox`',
    isNeeded: false,
  },
  'forkline/sandboxes/deepagents': {
    name: 'deepagents',
    from: '1.10.0',
    since: '`SandboxBackendProtocolV2`',
    isNeeded: false,
  },
  'forkline/sandboxes/openai-agents': {
    name: '@openai/agents',
    from: '0.17.2',
    since: '`@openai/agents/testing`: nothing older was tried',
    isNeeded: true,
  },
  'forkline/sandboxes/mastra': {
    name: '@mastra/core',
    from: '1.8.0',
    since: '`SandboxProcessManager`, `ProcessHandle`',
    isNeeded: false,
  },
  'forkline/fleet': {
    name: '@nats-io/transport-node',
    from: '3.0.0',
    since: 'there is no older one',
    isNeeded: true,
  },
} as const satisfies Readonly<Record<string, Peer>>;

/** An entry point that works with a package of others. */
export type EntryPoint = keyof typeof PEERS;

/** Describes what an entry point takes: `6 or newer`. */
export function takenBy(entry: EntryPoint): string {
  return `${PEERS[entry].from.replace(/(?:\.0)+$/, '')} or newer`;
}
