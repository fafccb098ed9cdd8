// What a language model did in one turn of a bot, in names and numbers: for the author, the log and the metrics of the server. Never words.

/**
 * The service refused, broke off or sent something unreadable (`error`), sent nothing in time (`late`), stopped in the middle (`stalled`),
 * ended without a word or a tool (`empty`), or nobody wanted the answer any more (`aborted`).
 */
export type ModelFailure = 'error' | 'late' | 'stalled' | 'empty' | 'aborted';
export const MODEL_FAILURES = ['error', 'late', 'stalled', 'empty', 'aborted'] as const satisfies readonly ModelFailure[];

/** See the `limits` of an assistant. */
export type ModelBudget = 'turns' | 'tokens' | 'seconds' | 'rounds';
export const MODEL_BUDGETS = ['turns', 'tokens', 'seconds', 'rounds'] as const satisfies readonly ModelBudget[];

/** One request to a model, until its answer was read. */
export interface ModelCall {
  readonly model: string;
  readonly atMs: number;
  readonly ms: number;
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  readonly failure?: ModelFailure;
}

/** One turn in numbers. Times are ms since the handler was called. */
export interface TurnReport {
  readonly firstTokenMs?: number;
  readonly firstSentenceMs?: number;
  /** Until the turn was over: with `speak` and `say`, until the last sentence was spoken. */
  readonly ms: number;
  /** Set when the model was asked ahead, in a pause of the caller: how long before the handler was called. */
  readonly preparedMs?: number;
  /** Time waited for the model before the turn's first words, without tools. */
  readonly waitedMs?: number;
  /** The requests to models in order. `atMs` is the beginning of a request; below 0, the model was asked ahead. */
  readonly calls?: readonly ModelCall[];
  /** The calls of tools in the order in which they ended; `atMs` is the beginning. */
  readonly tools: readonly { readonly name: string; readonly atMs?: number; readonly ms: number; readonly ok: boolean }[];
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** The last model that was asked; empty: none. */
  readonly model: string;
  readonly isFallback: boolean;
  readonly failures: readonly ModelFailure[];
  /** Why another model, or the same one again, was asked. */
  readonly fallbacks: readonly ModelFailure[];
  readonly usedUp?: ModelBudget;
  readonly isInterrupted: boolean;
}
