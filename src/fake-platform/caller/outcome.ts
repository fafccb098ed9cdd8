// How a call can end, as one word that results, expectations and timelines share, and the event that ended it.
import type { TerminalEvent } from './answer.ts';

/**
 * `ended` and `transferred`: by the server; `hung_up`: by the caller; `lost`: the connection was broken on purpose;
 * `failed`: by a fatal finding; `interrupted`: from outside.
 */
export type CallOutcome = 'transferred' | 'ended' | 'hung_up' | 'lost' | 'failed' | 'interrupted';

/** The event with which the server ended a call, and the RPC it came on, counted from 1. */
export type Ending = TerminalEvent & { readonly turn: number };
