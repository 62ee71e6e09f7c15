import type { EngineOutcome } from '../../engine/message.js';
import type { RunResult } from '../../engine/outcome.js';
import { heldFacts } from '../../sandbox/held/elsewhere.js';
import { changeFacts } from '../../sandbox/undo/elsewhere.js';

/** Returns the facts of a result that only the machine of its command can tell, for another one. */
export function toldElsewhere({
  outOfMemory,
  sandbox,
  executed,
  moreExecuted,
  spill,
  limits,
  heldBack,
  changes,
}: RunResult): NonNullable<EngineOutcome['checked']> {
  const held = heldFacts(heldBack);
  return {
    ...(sandbox !== undefined && { sandbox }),
    ...(executed !== undefined && { executed }),
    ...(moreExecuted !== undefined && { moreExecuted }),
    ...(held !== undefined && { heldBack: held }),
    ...(changes !== undefined && { changes: changeFacts(changes) }),
    ...(outOfMemory !== undefined && { outOfMemory }),
    ...(spill !== undefined && { spill }),
    ...(limits !== undefined && { limits }),
  };
}
