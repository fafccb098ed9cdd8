// The validated options of an assistant, with defaults. Made once, when the bot is loaded.
import { z } from 'zod';
import type { JsonObject } from '../base/json.ts';
import type { ModelTool } from './model.ts';
import type { AssistantLimits, AssistantManners, TransferRule } from './options.ts';
import { phrasesIn, type Phrases } from './phrases.ts';
import type { Exit, KeyedTool, Tool } from './tool.ts';

/** What a model may use: tools, exits and built-in actions. */
export type Usable<D extends JsonObject> =
  | Tool<D>
  | KeyedTool<D>
  | Exit
  | { readonly kind: 'transfer'; readonly description: string; readonly input: typeof TRANSFER_INPUT; readonly rule: TransferRule<D> }
  | {
      readonly kind: 'end';
      readonly description: string;
      readonly input: z.ZodType;
      readonly says: string | undefined;
      readonly outcome: string;
    }
  | { readonly kind: 'language'; readonly description: string; readonly input: z.ZodType<{ readonly language: string }> };

/** See {@link AssistantOptions}. */
export interface AssistantRules<D extends JsonObject> extends AssistantManners<D> {
  readonly limits: AssistantLimits;
  readonly usable: ReadonlyMap<string, Usable<D>>;
  /** The tools as the model gets them. */
  readonly shown: readonly ModelTool[];
  /** Set when a `fallback` step continues the call after the model's last failure. */
  readonly hasFallback?: boolean;
}

const LIMITS: AssistantLimits = {
  turns: 60,
  rounds: 6,
  tokens: 200_000,
  seconds: 1800,
  historyChars: 40_000,
  firstTokenMs: 4000,
  stallMs: 3000,
};

/** Tool names that every provider accepts. */
const TOOL_NAME = /^[a-zA-Z][\w-]{0,63}$/u;

const TRANSFER_INPUT = z.object({
  reason: z.string().describe('why, in a few words'),
  summary: z.string().describe('what the colleague must know, in one or two sentences'),
});

/** Validates the options. @throws TypeError for an invalid or duplicate tool name. */
export function rulesOf<D extends JsonObject>(options: AssistantManners<D>): AssistantRules<D> {
  const usable = new Map<string, Usable<D>>();
  for (const [name, entry] of [...Object.entries(options.tools ?? {}), ...Object.entries(options.exits ?? {}), ...builtIn(options)]) {
    if (!TOOL_NAME.test(name)) throw new TypeError(`no model can use a tool named "${name}": a letter, then letters, digits, _ and -`);
    if (usable.has(name)) throw new TypeError(`two tools are named "${name}"`);
    usable.set(name, entry);
  }
  const shown = [...usable].map(([name, entry]) => ({
    ...{ type: 'function' as const, name, description: entry.description },
    inputSchema:
      entry.kind === 'keyed' ? { type: 'object', properties: {} } : z.toJSONSchema(entry.input, { target: 'draft-7', io: 'input' }),
  }));
  return { ...options, limits: { ...LIMITS, ...options.limits }, usable, shown };
}

function builtIn<D extends JsonObject>({ transfer = false, end = true, languages }: AssistantManners<D>): [string, Usable<D>][] {
  const entries: [string, Usable<D>][] = [];
  if (transfer !== false) {
    const rule = transfer === true ? {} : transfer;
    const description = 'Transfers the caller to a colleague, a person. Use it when the caller asks for one or you cannot help.';
    entries.push(['transfer', { kind: 'transfer', description, input: TRANSFER_INPUT, rule }]);
  }
  if (end !== false) {
    const { says, outcome = 'completed' } = end === true ? {} : end;
    const description = 'Hangs up. Say goodbye first. Use it only when the caller is done.';
    entries.push(['end_call', { kind: 'end', description, input: z.object({}), says, outcome }]);
  }
  const tags = Object.keys(languages ?? {});
  if (tags.length > 0) {
    const description = `Changes the language of the call. Use it when the caller speaks or wants another one of: ${tags.join(', ')}.`;
    entries.push(['switch_language', { kind: 'language', description, input: z.object({ language: z.enum(tags) }) }]);
  }
  return entries;
}

/** The phrases for a call. @param changed - the language to which the model has changed; undefined: it has not. */
export function phrasesOf<D extends JsonObject>({ language, languages, phrases }: AssistantRules<D>, changed: string | undefined): Phrases {
  if (changed === undefined) return { ...phrasesIn(language), ...phrases };
  return { ...phrasesIn(changed), ...languages?.[changed]?.phrases };
}
