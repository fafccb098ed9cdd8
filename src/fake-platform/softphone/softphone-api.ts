// What a page and the softphone send each other over the WebSocket of one call, besides audio. Binary messages of 160 bytes are frames of
// µ-law, 8 kHz, in both directions; a WAV from the page is spoken at once. Only types, without imports, because browsers use them, too.

export type PhoneKey = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | '*' | '#' | 'A' | 'B' | 'C' | 'D';
export type LineQuality = 'good' | 'jitter' | 'bursts' | 'slow reader' | 'noise' | 'breaks off';

/** What a page may choose for a call. */
export interface WantedCall {
  readonly type: 'call';
  readonly agentId: string;
  readonly transport: 'grpc' | 'websocket';
  readonly line: LineQuality;
  /** Set to repeat an earlier call: its id. That call's caller then calls again, in place of the person. */
  readonly again?: string | undefined;
}

/** A page's first message asks for the call; later ones are what its person does. */
export type FromPage =
  | WantedCall
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'press'; readonly key: PhoneKey }
  | { readonly type: 'hang_up' };

export type ToPage =
  /** One line of the caller's timeline. */
  | { readonly type: 'event'; readonly atMs: number; readonly who: string; readonly what: string; readonly detail?: string }
  /** The caller interrupted: the page drops the audio that it has not played. */
  | { readonly type: 'flush' }
  /** Everything that the page shows of the call (a `CallView`); sent at most four times a second. */
  | { readonly type: 'view'; readonly view: object }
  /** An action of the person had no effect. */
  | { readonly type: 'problem'; readonly message: string }
  /** The call is over, or was `refused`; `message` says why. The socket then closes. */
  | { readonly type: 'over'; readonly outcome: string; readonly message?: string };

/** The body of GET /choices: the possible calls. */
export interface Choices {
  readonly bots: readonly { readonly id: string; readonly name: string; readonly isDefault: boolean }[];
  readonly lines: readonly LineQuality[];
  /** Set when the caller of an earlier call can call again: the id of the last call of any page. */
  readonly lastCall?: string | undefined;
  /** Set when the bots cannot be listed, or when calls do not get the bots as they were saved: the reason. */
  readonly problem?: string | undefined;
}
