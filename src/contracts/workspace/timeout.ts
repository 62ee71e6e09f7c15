/** The timeouts that a tool accepts, in seconds. */
export interface TimeoutLimits {
  /** Used when none is asked for. */
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

/** The timeout that applies. */
export interface Timeout {
  readonly seconds: number;
  /** What was asked for; present only when it is not what applies. */
  readonly requestedSeconds?: number;
}

/** Brings a requested timeout, in seconds, within the limits. */
export function clampTimeout(requested: number | undefined, limits: TimeoutLimits): Timeout {
  const wanted = requested ?? limits.default;
  const seconds = Math.min(Math.max(wanted, limits.min), limits.max);
  return seconds === wanted ? { seconds } : { seconds, requestedSeconds: wanted };
}

/** The line that tells a model that it got another timeout than it asked for, if it did. */
export function clampNotice(timeout: Timeout, limits: TimeoutLimits): string | undefined {
  if (timeout.requestedSeconds === undefined) return undefined;
  return (
    `Timeout clamped to ${timeout.seconds}s (requested ${timeout.requestedSeconds}s; ` +
    `allowed range ${limits.min}-${limits.max}s).`
  );
}
