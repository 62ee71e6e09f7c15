import { checkSwitch, type OptionNames, readOptions, wholeFrom } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { absolutePath } from '../support/paths.js';

/** Options of a directory for artifacts. Sizes in bytes, times in milliseconds. */
export interface ArtifactStoreOptions {
  /**
   * Directory of the files; created with mode 0700 when it does not exist, refused when other users may
   * look into it. It should not be in the workspace. Default: a directory for this store alone, below
   * `forkline-<uid>` in the system's temporary directory, created when it is first needed.
   */
  readonly directory?: string | undefined;
  /**
   * Bytes of one artifact. The number of dropped bytes is written at its end. Default: 268,435,456 (256
   * MiB).
   */
  readonly maxBytes?: number | undefined;
  /** Bytes of all artifacts together; the oldest are removed. Default: 2,147,483,648 (2 GiB). */
  readonly maxTotalBytes?: number | undefined;
  /** The age after which artifacts are removed. Default: 604,800,000 (7 days). */
  readonly maxAgeMs?: number | undefined;
  /** Whether to remove this store's artifacts when it is disposed of. Default: true without `directory`. */
  readonly removeOnDispose?: boolean | undefined;
}

const NAMES: OptionNames<ArtifactStoreOptions> = {
  directory: true,
  maxBytes: true,
  maxTotalBytes: true,
  maxAgeMs: true,
  removeOnDispose: true,
};

/** The options, with the defaults filled in. */
export interface ArtifactStoreSettings {
  /** Undefined: a directory for this store alone. */
  readonly directory: string | undefined;
  readonly maxBytes: number;
  readonly maxTotalBytes: number;
  readonly maxAgeMs: number;
  readonly removeOnDispose: boolean;
}

/**
 * Fills in the defaults.
 *
 * @throws {InputError} An option is not valid.
 */
export function resolveStoreOptions(given: ArtifactStoreOptions): ArtifactStoreSettings {
  const options = readOptions('options', given, NAMES);
  checkSwitch('removeOnDispose', options.removeOnDispose);
  const { directory } = options;
  if (directory !== undefined && (typeof directory !== 'string' || directory === '')) {
    throw new InputError(`directory: expected a path, got ${showValue(directory)}`);
  }
  const maxTotalBytes = wholeFrom('maxTotalBytes', 1, options.maxTotalBytes ?? 2 * 1024 ** 3);
  const maxBytes = wholeFrom('maxBytes', 1, options.maxBytes ?? 256 * 1024 ** 2);
  return {
    directory: directory === undefined ? undefined : absolutePath('directory', directory),
    maxBytes: Math.min(maxBytes, maxTotalBytes),
    maxTotalBytes,
    maxAgeMs: wholeFrom('maxAgeMs', 1, options.maxAgeMs ?? 7 * 24 * 3600 * 1000),
    removeOnDispose: options.removeOnDispose ?? directory === undefined,
  };
}
