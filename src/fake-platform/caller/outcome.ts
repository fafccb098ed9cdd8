// How a call can end, as one word for results, expectations and timelines, and the event that ended it.
import type { TerminalEvent } from './answer.ts';

/**
 * `ended` and `transferred`: by the server; `hung_up`: by the caller; `lost`: the connection was broken on purpose;
 * `failed`: by a fatal finding; `interrupted`: from outside.
 */
export type CallOutcome = 'transferred' | 'ended' | 'hung_up' | 'lost' | 'failed' | 'interrupted';

/** The event with which the server ended a call, and its RPC, counted from 1. */
export type Ending = TerminalEvent & { readonly turn: number };
