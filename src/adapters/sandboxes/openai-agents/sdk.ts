/** The parts of the Agents SDK that are called. */
type Sdk = Pick<typeof import('@openai/agents'), 'applyDiff'> &
  Pick<
    typeof import('@openai/agents/sandbox'),
    | 'Manifest'
    | 'normalizeExposedPort'
    | 'normalizeSandboxClientCreateArgs'
    | 'Permissions'
    | 'recordExposedPortEndpoint'
    | 'SandboxUnsupportedFeatureError'
  >;

let loaded: Sdk | undefined;

/**
 * Loads the SDK, before a client makes a session. An import at the top would fail where the SDK is missing
 * or old, before any code could say so.
 */
export async function loadSdk(): Promise<Sdk> {
  if (loaded === undefined) {
    const [agents, sandbox] = [import('@openai/agents'), import('@openai/agents/sandbox')];
    loaded = { ...(await agents), ...(await sandbox) };
  }
  return loaded;
}

/** Returns the SDK, which has been loaded for the client. */
export function sdk(): Sdk {
  if (loaded === undefined) throw new Error('a session is made by a LocalSandboxClient');
  return loaded;
}
