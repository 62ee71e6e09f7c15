import { utimesSync } from 'node:fs';
import { join } from 'node:path';

/** The directories of layers, by the plans of sandboxes that have them. */
const layersOfPlan = new Map<string, string>();
const MOST_PLANS = 256;

/** Notes that a sandbox of this plan has layers in this directory. */
export function noteLayers(plan: string, layers: string): void {
  layersOfPlan.delete(plan);
  layersOfPlan.set(plan, layers);
  const [oldest] = layersOfPlan.keys();
  if (layersOfPlan.size > MOST_PLANS && oldest !== undefined) layersOfPlan.delete(oldest);
}

/**
 * Has the other sandboxes of a workspace notice what commands in one of them have put into its caches.
 * Without that, they would not see a file in a directory that they have looked at. To be called before a
 * command in the sandbox of this plan, and after it.
 */
export function refreshLayers(plan: string): void {
  const layers = layersOfPlan.get(plan);
  if (layers === undefined) return;
  const isShared = [...layersOfPlan].some(([other, theirs]) => theirs === layers && other !== plan);
  if (!isShared) return;
  try {
    const now = new Date();
    utimesSync(join(layers, 'used'), now, now);
  } catch {
    // No sandbox has been made yet.
  }
}
