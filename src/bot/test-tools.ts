// The tools that an assistant has used, as a test reads them.
import type { JsonObject, JsonValue } from '../base/json.ts';

/** A tool that an assistant has used. */
export interface UsedTool {
  readonly tool: string;
  readonly input: JsonValue;
  /** Left out while it runs, and when nobody knows what came of it. */
  readonly output?: JsonValue;
}

/** Assistants keep what they used in their state, wherever the bot around them keeps that. @param uses - filled, by the id of the use. */
export function collectUses(state: JsonValue, uses: Map<string, UsedTool>): void {
  if (typeof state !== 'object' || state === null) return;
  const { by, id, tool, input = null, outcome } = state as JsonObject;
  if (by === 'tool' && typeof id === 'string' && typeof tool === 'string') uses.set(id, { tool, input, ...outputOf(outcome) });
  else for (const part of Object.values(state)) collectUses(part, uses);
}

function outputOf(outcome: JsonValue | undefined): Pick<UsedTool, 'output'> {
  if (typeof outcome !== 'object' || outcome === null || !('value' in outcome)) return {};
  return { output: outcome['value'] ?? null };
}
