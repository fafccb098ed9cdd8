// How a call can end, as one word that results, expectations and timelines share.

/** `ended` and `transferred`: by the server; `hung_up`: by the caller; `failed`: by a fatal finding; `interrupted`: from outside. */
export type CallOutcome = 'transferred' | 'ended' | 'hung_up' | 'failed' | 'interrupted';
