// What an assistant's model may use: tools, exits, and digits that no model sees. Types, and the functions that make them.
import type { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import type { CallFacts } from '../dialog/call.ts';

/** What the code of a tool gets. */
export interface ToolContext<D = JsonObject> {
  readonly call: CallFacts;
  /** Never log what the caller said or typed. */
  readonly log: Logger;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** The author's data of this call. */
  readonly data: D;
  /** Changes some of it; what a tool sets counts when the tool has ended. */
  set(data: Partial<D>): void;
  /** Names this use for ever, also on another server: an idempotency key. */
  readonly useId: string;
  /** Aborts at the tool's limit; for a read-only tool also when the caller interrupts. */
  readonly signal: AbortSignal;
}

/** What the author writes of a tool. */
export interface ToolDefinition<I, D = JsonObject> {
  /** For the model: what it does, and when to use it. */
  readonly description: string;
  /** What the model must give, as a zod object. Other input is refused and told to the model. */
  readonly input: z.ZodType<I>;
  /**
   * Changes nothing, so it stops when the caller interrupts. Default false: the tool runs once, whatever the caller does, and the next turn
   * knows what came of it.
   */
  readonly readOnly?: boolean;
  /** Said before the tool runs when the model has said nothing in this turn. */
  readonly says?: string;
  /** Longest run, ms; then the model reads that it took too long. Default 20,000. */
  readonly limitMs?: number;
  /** Does it. What it returns is what the model reads; an error is told to the model without its message. */
  readonly run: (input: I, context: ToolContext<D>) => JsonValue | Promise<JsonValue>;
}

/** A tool with its input's type forgotten: made by {@link tool}. */
export interface Tool<D = JsonObject> extends Omit<ToolDefinition<never, D>, 'input' | 'run'> {
  readonly kind: 'tool';
  readonly input: z.ZodType;
  /** Only with what `input` has let pass. */
  readonly run: (input: never, context: ToolContext<D>) => JsonValue | Promise<JsonValue>;
}

/** Leaves the assistant: the bot around it says how the call goes on. Made by {@link exit}. */
export interface Exit {
  readonly kind: 'exit';
  readonly description: string;
  readonly input: z.ZodType;
}

/** Digits that no model sees. Made by {@link keyed}. */
export interface KeyedTool<D = JsonObject> {
  readonly kind: 'keyed';
  readonly description: string;
  /** What the caller is asked, word for word. */
  readonly ask: string;
  /** How many keys, 1 to 64. */
  readonly digits: number;
  /** How often the caller is asked. Default 3. */
  readonly tries?: number;
  /** Gets the digits. What it returns is what the model reads; undefined asks the caller again. */
  readonly use: (digits: string, context: ToolContext<D>) => JsonValue | undefined | Promise<JsonValue | undefined>;
}

/**
 * Makes a tool; the input's type follows from its schema.
 *
 * @example
 * tool({ description: 'Books a slot', input: z.object({ slot: z.string() }), run: ({ slot }, { useId }) => practice.book(slot, useId) })
 */
export function tool<I, D = JsonObject>(definition: ToolDefinition<I, D>): Tool<D> {
  return { ...definition, kind: 'tool' };
}

/** Makes an exit: the model leaves through it, with input of this schema. */
export function exit(description: string, input: z.ZodType): Exit {
  return { kind: 'exit', description, input };
}

/**
 * Makes a tool that asks the caller for digits and gives them to your code alone: no model, log, snapshot or transcript holds them.
 *
 * @throws TypeError for an impossible number of digits.
 */
export function keyed<D = JsonObject>(definition: Omit<KeyedTool<D>, 'kind'>): KeyedTool<D> {
  if (!Number.isInteger(definition.digits) || definition.digits < 1 || definition.digits > 64)
    throw new TypeError(`a caller cannot key in ${String(definition.digits)} digits: 1 to 64`);
  return { ...definition, kind: 'keyed' };
}
