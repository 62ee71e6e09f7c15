// The local machines of frameworks, theirs and ours, with one interface.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * The features of a framework's protocol; an absent one is not supported.
 * @typedef {object} Machine
 * @property {(command: string, signal?: AbortSignal) => Promise<{ code: number | null | undefined, text:
 * string }>} run
 * @property {boolean} hasSignal `run` takes a signal.
 * @property {boolean} hasTime The machine has a time limit for each command.
 * @property {(command: string) => Promise<{ output(): Promise<string>, stop(): Promise<unknown> }>}
 * [start]
 * @property {(command: string) => Promise<string>} [terminal]
 * @property {(path: string, bytes: Uint8Array) => Promise<unknown>} [write]
 * @property {(path: string) => Promise<Uint8Array>} [read]
 * @property {(path: string) => Promise<string[]>} [list]
 * @property {() => Promise<unknown>} close
 */

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Directories with frameworks; FRAMEWORKS names one with those that are too big for this repository. */
const places = [root, process.env.FRAMEWORKS].filter((place) => place !== undefined);

const ours = (/** @type {string} */ name) =>
  import(pathToFileURL(join(root, `dist/adapters/sandboxes/${name}/index.js`)).href);

/** @param {string} entry such as `@mastra/core/workspace` */
async function theirs(entry) {
  for (const place of places) {
    try {
      return await import(pathToFileURL(createRequire(`${place}/`).resolve(entry)).href);
    } catch (error) {
      if (!String(error).includes('Cannot find module')) throw error;
    }
  }
  throw new Error(`${entry} is not installed`);
}

/** Returns the installed version, if there is one. @param {string} name of a package */
export function versionOf(name) {
  for (const place of places) {
    const path = join(place, 'node_modules', name, 'package.json');
    if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')).version;
  }
  return undefined;
}

/** @param {ReadableStream<Uint8Array>} stream @param {(text: string) => void} take */
async function drain(stream, take) {
  const decoder = new TextDecoder();
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
}

/** @type {Record<string, { framework: string, package: string, open(directory: string, timeoutMs: number): Promise<Machine> }>} */
export const MACHINES = {
  'ai-sdk': {
    framework: 'AI SDK: forkline',
    package: 'ai-7',
    async open(directory, timeoutMs) {
      const { createSandboxSession } = await ours('ai-sdk');
      const session = await createSandboxSession({ root: directory, timeoutMs });
      return {
        hasSignal: true,
        hasTime: true,
        async run(command, abortSignal) {
          const { exitCode, stdout, stderr } = await session.run({ command, abortSignal });
          return { code: exitCode, text: stdout + stderr };
        },
        async start(command) {
          const started = await session.spawn({ command });
          let text = '';
          void drain(started.stdout, (chunk) => {
            text += chunk;
          });
          return { output: async () => text, stop: () => started.kill() };
        },
        write: (path, content) => session.writeBinaryFile({ path, content }),
        read: (path) => session.readBinaryFile({ path }),
        list: async (path) =>
          (await session.listDirectory({ path })).map(
            (/** @type {{ name: string }} */ { name }) => name,
          ),
        close: () => session.dispose(),
      };
    },
  },
  deepagents: {
    framework: 'deepagents: forkline',
    package: 'deepagents',
    async open(directory, timeoutMs) {
      const { createBackend } = await ours('deepagents');
      const backend = await createBackend({ root: directory, timeoutMs });
      return { ...deepAgents(backend), close: () => backend.dispose() };
    },
  },
  'deepagents-own': {
    framework: 'deepagents: LocalShellBackend',
    package: 'deepagents',
    async open(directory, timeoutMs) {
      const { LocalShellBackend } = await theirs('deepagents');
      const backend = await LocalShellBackend.create({
        rootDir: directory,
        virtualMode: true,
        inheritEnv: true,
        timeout: timeoutMs / 1000,
      });
      return { ...deepAgents(backend), close: () => backend.close() };
    },
  },
  'openai-agents': {
    framework: 'OpenAI Agents: forkline',
    package: '@openai/agents',
    async open(directory, timeoutMs) {
      const { LocalSandboxClient } = await ours('openai-agents');
      const client = new LocalSandboxClient({ root: directory, timeoutMs });
      return openAiAgents(await client.create(), true);
    },
  },
  'openai-agents-own': {
    framework: 'OpenAI Agents: UnixLocalSandboxClient',
    package: '@openai/agents',
    async open(directory) {
      const { UnixLocalSandboxClient } = await theirs('@openai/agents/sandbox/local');
      const client = new UnixLocalSandboxClient({ workspaceBaseDir: directory });
      return openAiAgents(await client.create(), false);
    },
  },
  mastra: {
    framework: 'Mastra: forkline',
    package: '@mastra/core',
    async open(directory, timeoutMs) {
      const { createWorkspaceSandbox } = await ours('mastra');
      const base = await theirs('@mastra/core/workspace');
      const sandbox = await createWorkspaceSandbox({ root: directory, timeoutMs, base });
      return mastra(sandbox, timeoutMs);
    },
  },
  'mastra-own': {
    framework: 'Mastra: LocalSandbox',
    package: '@mastra/core',
    async open(directory, timeoutMs) {
      const { LocalSandbox } = await theirs('@mastra/core/workspace');
      const sandbox = new LocalSandbox({
        workingDirectory: directory,
        timeout: timeoutMs,
        env: process.env,
      });
      return mastra(sandbox, timeoutMs);
    },
  },
};

/**
 * @param {import('deepagents').SandboxBackendProtocolV2} backend
 * @returns {Omit<Machine, 'close'>}
 */
function deepAgents(backend) {
  return {
    hasSignal: false,
    hasTime: true,
    async run(command) {
      const { output, exitCode } = await backend.execute(command);
      return { code: exitCode, text: output };
    },
    async write(path, bytes) {
      const [result] =
        (await backend.uploadFiles?.([[`/${path}`.replace(/^\/+/, ''), bytes]])) ?? [];
      if (result?.error) throw new Error(result.error);
    },
    async read(path) {
      const [result] = (await backend.downloadFiles?.([path])) ?? [];
      if (result?.content == null) throw new Error(String(result?.error));
      return result.content;
    },
    async list(path) {
      const { files = [] } = await backend.ls(path);
      return files.map((file) => file.path.replace(/\/$/, '').split('/').slice(-1).join());
    },
  };
}

/**
 * @param {import('@openai/agents/sandbox').SandboxSession} session
 * @param {boolean} hasTime
 * @returns {Machine}
 */
function openAiAgents(session, hasTime) {
  const exec = /** @type {NonNullable<typeof session.exec>} */ (session.exec?.bind(session));
  const yieldTimeMs = 60_000;
  return {
    hasSignal: false,
    hasTime,
    async run(cmd) {
      const { exitCode, output } = await exec({ cmd, login: false, yieldTimeMs });
      if (exitCode === undefined) throw new Error('not over after 60 s');
      return { code: exitCode, text: output };
    },
    async start(cmd) {
      const { sessionId = 0, output } = await exec({ cmd, login: false, yieldTimeMs: 300 });
      let text = output;
      return {
        async output() {
          text += (await session.writeStdin?.({ sessionId, yieldTimeMs: 0 })) ?? '';
          return text;
        },
        async stop() {
          await session.stop?.();
        },
      };
    },
    async terminal(cmd) {
      const { output } = await exec({ cmd, login: false, tty: true, yieldTimeMs: 10_000 });
      return output;
    },
    async write(path, content) {
      await session.materializeEntry?.({ path, entry: { type: 'file', content } });
    },
    async read(path) {
      return /** @type {Uint8Array} */ (await session.readFile?.({ path }));
    },
    list: async (path) => ((await session.listDir?.({ path })) ?? []).map(({ name }) => name),
    async close() {
      await session.close?.();
    },
  };
}

/**
 * @typedef {object} MastraSandbox The used part of the class, whose package is not in this repository.
 * @property {() => Promise<unknown>} start
 * @property {() => Promise<unknown>} destroy
 * @property {(command: string, args: string[], options: object) => Promise<{ exitCode: number, stdout: string, stderr: string }>} executeCommand
 * @property {{ spawn(command: string, options?: object): Promise<{ stdout: string, kill(): Promise<unknown> }> }} processes
 * @property {(files: { path: string, content: Buffer }[]) => Promise<void>} [writeFiles]
 */

/**
 * @param {MastraSandbox} sandbox
 * @param {number} timeoutMs
 * @returns {Promise<Machine>}
 */
async function mastra(sandbox, timeoutMs) {
  await sandbox.start();
  const { writeFiles } = sandbox;
  return {
    hasSignal: true,
    hasTime: true,
    async run(command, abortSignal) {
      const options = { abortSignal, timeout: timeoutMs };
      const { exitCode, stdout, stderr } = await sandbox.executeCommand(command, [], options);
      return { code: exitCode, text: stdout + stderr };
    },
    async start(command) {
      const handle = await sandbox.processes.spawn(command);
      return { output: async () => handle.stdout, stop: () => handle.kill() };
    },
    ...(writeFiles && {
      write: (path, bytes) => writeFiles.call(sandbox, [{ path, content: Buffer.from(bytes) }]),
    }),
    close: () => sandbox.destroy(),
  };
}
