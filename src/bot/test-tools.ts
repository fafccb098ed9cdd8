// What an assistant has used and said, as tests and evaluations read it: found in the state of a bot, at any depth.
import type { JsonObject, JsonValue } from '../base/json.ts';

/** A tool that an assistant has used. */
export interface UsedTool {
  readonly tool: string;
  readonly input: JsonValue;
  /** Left out while it runs, and when nobody knows its outcome. */
  readonly output?: JsonValue;
}

/** Adds all uses of tools, by the ids of the uses. */
export function collectUses(state: JsonValue, uses: Map<string, UsedTool>): void {
  for (const { by, id, tool, input = null, outcome } of entriesIn(state))
    if (by === 'tool' && typeof id === 'string' && typeof tool === 'string') uses.set(id, { tool, input, ...outputOf(outcome) });
}

/** The texts of the assistant since the caller's last input, including the transcript of a speech-to-speech model. */
export function lastSaid(state: JsonValue): string {
  const said: string[] = [];
  for (const { by, text } of entriesIn(state)) {
    if (by === 'caller') said.length = 0;
    if (by === 'assistant' && typeof text === 'string') said.push(text);
  }
  return said.join(' ').trim();
}

/** All entries of histories, in order. */
function* entriesIn(value: JsonValue): Generator<JsonObject> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value) && 'by' in value) yield value;
  else for (const part of Object.values<JsonValue>(value)) yield* entriesIn(part);
}

function outputOf(outcome: JsonValue | undefined): Pick<UsedTool, 'output'> {
  if (typeof outcome !== 'object' || outcome === null || !('value' in outcome)) return {};
  return { output: outcome['value'] ?? null };
}
