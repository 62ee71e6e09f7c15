/** The result of one check. */
export interface Finding {
  readonly name: string;
  /** `limited`: commands run, and something is missing; `failed`: they do not. */
  readonly status: 'ok' | 'limited' | 'failed';
  /** The state of the thing that was checked. */
  readonly found: string;
  /** The consequence for commands; absent: there is none. */
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
