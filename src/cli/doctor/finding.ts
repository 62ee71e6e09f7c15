/** One thing that was looked at. */
export interface Finding {
  readonly name: string;
  /** `limited`: commands run, and something is missing; `failed`: they do not. */
  readonly status: 'ok' | 'limited' | 'failed';
  /** What there is. */
  readonly found: string;
  /** What that costs; absent when it costs nothing. */
  readonly cost?: string;
}

export function fine(name: string, found: string): Finding {
  return { name, status: 'ok', found };
}

export function limited(name: string, found: string, cost: string): Finding {
  return { name, status: 'limited', found, cost };
}

export function failed(name: string, found: string, cost: string): Finding {
  return { name, status: 'failed', found, cost };
}
