// What an assistant's model may use: tools, exits, and tools for digits that no model sees. Types, and the functions that make them.
import type { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import type { CallFacts } from '../dialog/call.ts';

/** The context of a tool's code. */
export interface ToolContext<D = JsonObject> {
  readonly call: CallFacts;
  /** Never log what the caller said or typed. */
  readonly log: Logger;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** The author's data of this call. */
  readonly data: D;
  /** Changes members of the data; saved when the tool has ended. */
  set(data: Partial<D>): void;
  /** Identifies this tool use permanently and on every server: an idempotency key. */
  readonly useId: string;
  /** Aborts at the tool's limit; for a read-only tool also when the caller interrupts. */
  readonly signal: AbortSignal;
}

/** A tool as its author defines it. */
export interface ToolDefinition<I, D = JsonObject> {
  /** For the model: what it does, and when to use it. */
  readonly description: string;
  /** The input that the model must give, as a zod object. Other input is refused, and the model gets the reason. */
  readonly input: z.ZodType<I>;
  /**
   * True for a tool that changes nothing: it stops when the caller interrupts. Default false: the tool runs once, whatever the caller
   * does, and the next turn gets its outcome.
   */
  readonly readOnly?: boolean;
  /** Spoken before the tool runs, unless the model has already spoken in this turn. */
  readonly says?: string;
  /** Longest run, ms; after that the model reads that the tool took too long. Default 20,000. */
  readonly limitMs?: number;
  /** Runs the tool. The model reads what it returns, and of an error only that the tool failed. */
  readonly run: (input: I, context: ToolContext<D>) => JsonValue | Promise<JsonValue>;
}

/** A tool without the type of its input. Made by {@link tool}. */
export interface Tool<D = JsonObject> extends Omit<ToolDefinition<never, D>, 'input' | 'run'> {
  readonly kind: 'tool';
  readonly input: z.ZodType;
  /** Gets only input that the schema accepts. */
  readonly run: (input: never, context: ToolContext<D>) => JsonValue | Promise<JsonValue>;
}

/** Leaves the assistant: the surrounding bot decides how the call continues. Made by {@link exit}. */
export interface Exit {
  readonly kind: 'exit';
  readonly description: string;
  readonly input: z.ZodType;
}

/** Digits that no model sees. Made by {@link keyed}. */
export interface KeyedTool<D = JsonObject> {
  readonly kind: 'keyed';
  readonly description: string;
  /** The question to the caller, word for word. */
  readonly ask: string;
  /** Number of keys, 1 to 64. */
  readonly digits: number;
  /** How often to ask the caller. Default 3. */
  readonly tries?: number;
  /** Gets the digits. The model reads what it returns; undefined asks the caller again. */
  readonly use: (digits: string, context: ToolContext<D>) => JsonValue | undefined | Promise<JsonValue | undefined>;
}

/**
 * Makes a tool; its schema gives the type of the input.
 *
 * @example
 * tool({ description: 'Books a slot', input: z.object({ slot: z.string() }), run: ({ slot }, { useId }) => practice.book(slot, useId) })
 */
export function tool<I, D = JsonObject>(definition: ToolDefinition<I, D>): Tool<D> {
  return { ...definition, kind: 'tool' };
}

/** Makes an exit, which the model takes with input of this schema. */
export function exit(description: string, input: z.ZodType): Exit {
  return { kind: 'exit', description, input };
}

/**
 * Makes a tool that asks the caller for digits and passes them only to your code: no model, log, snapshot or transcript holds them.
 *
 * @throws TypeError for an impossible number of digits.
 */
export function keyed<D = JsonObject>(definition: Omit<KeyedTool<D>, 'kind'>): KeyedTool<D> {
  if (!Number.isInteger(definition.digits) || definition.digits < 1 || definition.digits > 64)
    throw new TypeError(`a caller cannot key in ${String(definition.digits)} digits: 1 to 64`);
  return { ...definition, kind: 'keyed' };
}
