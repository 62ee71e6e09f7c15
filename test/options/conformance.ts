import { describe, expect, test, vi } from 'vitest';
import { ROADS, type RoadName, TREATMENTS } from '../../src/options/roads.js';
import { OPTIONS, type OptionName } from '../../src/options/table.js';
import { useFolders } from '../support/leftovers.js';
import { failureOf } from '../support/results.js';
import { HOST_VARIABLE, PROBES } from './probes.js';
import { kebab, type Way } from './ways.js';

const names = Object.keys(OPTIONS) as readonly OptionName[];

/** Tests what a road does with each option: the effect of each `carried`, the error of each `refused`. */
export function conforms(road: RoadName, way: Way): void {
  const treated = (as: string) => names.filter((name) => TREATMENTS[name][ROADS[road]] === as);

  describe(`options of the road ${road}`, () => {
    const folder = useFolders();
    test.each(treated('carried'))('%s has its effect', async (name) => {
      vi.stubEnv(HOST_VARIABLE, 'here');
      const { command, options, endAfterMs, atOnce = 1, sees } = PROBES[name](folder());
      const ways = Array.from({ length: atOnce }, () => way(command, options, endAfterMs));
      const [first, ...others] = await Promise.all(ways);
      if (first !== undefined) await sees(first, [first, ...others]);
    });

    test.each(treated('refused'))('%s is refused by its name', async (name) => {
      const { options } = PROBES[name](folder());
      const error = await failureOf(way('true', { [name]: options[name] }));
      expect((error as Error).message).toMatch(new RegExp(`\\b${name}\\b|--${kebab(name)}'`));
    });
  });
}
