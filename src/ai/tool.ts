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
  /** Changes members of the data. The changes are saved when the tool has ended. */
  set(data: Partial<D>): void;
  /** An idempotency key: identifies this tool use, on every server and for ever. */
  readonly useId: string;
  /** Aborts at the tool's time limit. Also aborts when the caller interrupts, but only for a read-only tool. */
  readonly signal: AbortSignal;
}

/** A tool as its author defines it. */
export interface ToolDefinition<I, D = JsonObject> {
  /** Tells the model what the tool does, and when to use it. */
  readonly description: string;
  /** The input that the model must give, as a zod object. Other input is refused, and the model gets the reason. */
  readonly input: z.ZodType<I>;
  /**
   * True: the tool changes nothing, and stops when the caller interrupts. Default false: the tool runs once, whatever the caller does, and
   * the next turn gets its outcome.
   */
  readonly readOnly?: boolean;
  /** Spoken before the tool runs, unless the model has already spoken in this turn. */
  readonly says?: string;
  /** Time limit of a run, ms. After it, the model reads that the tool took too long. Default 20,000. */
  readonly limitMs?: number;
  /** Runs the tool. The model reads the returned value. When `run` throws, the model reads only that the tool failed. */
  readonly run: (input: I, context: ToolContext<D>) => JsonValue | Promise<JsonValue>;
}

/** A tool whose type does not name the type of its input. Made by {@link tool}. */
export interface Tool<D = JsonObject> extends Omit<ToolDefinition<never, D>, 'input' | 'run'> {
  readonly kind: 'tool';
  readonly input: z.ZodType;
  /** Called only with input that the schema accepts. */
  readonly run: (input: never, context: ToolContext<D>) => JsonValue | Promise<JsonValue>;
}

/** A way out of the assistant: the surrounding bot decides how the call continues. Made by {@link exit}. */
export interface Exit {
  readonly kind: 'exit';
  readonly description: string;
  readonly input: z.ZodType;
}

/** A tool that asks the caller for digits and keeps them from the model. Made by {@link keyed}. */
export interface KeyedTool<D = JsonObject> {
  readonly kind: 'keyed';
  readonly description: string;
  /** The question that the caller hears, word for word. */
  readonly ask: string;
  /** Number of keys, 1 to 64. */
  readonly digits: number;
  /** How often to ask the caller. Default 3. */
  readonly tries?: number;
  /** Called with the digits. The model reads the returned value; after undefined, the caller is asked again. */
  readonly use: (digits: string, context: ToolContext<D>) => JsonValue | undefined | Promise<JsonValue | undefined>;
}

/**
 * Makes a tool. The schema decides the type that `run` gets.
 * @example
 * tool({ description: 'Books a slot', input: z.object({ slot: z.string() }), run: ({ slot }, { useId }) => practice.book(slot, useId) })
 */
export function tool<I, D = JsonObject>(definition: ToolDefinition<I, D>): Tool<D> {
  return { ...definition, kind: 'tool' };
}

/** Makes an exit. The model must give input that the schema accepts. */
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
