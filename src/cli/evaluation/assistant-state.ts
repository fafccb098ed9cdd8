// Finds the history of assistants in the state of a bot, at any depth.
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { UsedTool } from './verdict.ts';

/** Adds all uses of tools, by their ids. */
export function collectTools(state: JsonValue, tools: Map<string, UsedTool>): void {
  for (const { by, id, tool, input = null } of entriesIn(state))
    if (by === 'tool' && typeof id === 'string' && typeof tool === 'string') tools.set(id, { tool, input });
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
