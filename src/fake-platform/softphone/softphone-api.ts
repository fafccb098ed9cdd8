// What a page and the softphone send each other over the one WebSocket of a call, besides sound: binary messages of 160 bytes are frames of
// µ-law, 8 kHz, in both directions; a WAV from the page is spoken at once. Types only, and no imports: browsers know them, too.

export type PhoneKey = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | '*' | '#' | 'A' | 'B' | 'C' | 'D';
export type LineQuality = 'good' | 'jitter' | 'bursts' | 'slow reader' | 'noise' | 'breaks off';

/** What a page may choose for a call. */
export interface WantedCall {
  readonly type: 'call';
  readonly agentId: string;
  readonly transport: 'grpc' | 'websocket';
  readonly line: LineQuality;
  /** Id of an earlier call: its caller calls again, in place of the person. */
  readonly again?: string | undefined;
}

/** The first message of a page is the call; the others are what its person does. */
export type FromPage =
  | WantedCall
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'press'; readonly key: PhoneKey }
  | { readonly type: 'hang_up' };

export type ToPage =
  /** One line of the caller's timeline. */
  | { readonly type: 'event'; readonly atMs: number; readonly who: string; readonly what: string; readonly detail?: string }
  /** The caller interrupted: what the page still holds of the prompts is not to be heard. */
  | { readonly type: 'flush' }
  /** What is shown of the call, whole (a `CallView`); at most four times a second. */
  | { readonly type: 'view'; readonly view: object }
  /** Something that the person did had no effect. */
  | { readonly type: 'problem'; readonly message: string }
  /** The call is over, or did not come about (`refused`), and why; the socket closes. */
  | { readonly type: 'over'; readonly outcome: string; readonly message?: string };

/** The body of GET /choices: what a call may be. */
export interface Choices {
  readonly bots: readonly { readonly id: string; readonly name: string; readonly isDefault: boolean }[];
  readonly lines: readonly LineQuality[];
  /** Id of the last call of any page, whose caller can call again. */
  readonly lastCall?: string | undefined;
  /** Why calls do not meet the bots as they are saved. */
  readonly problem?: string | undefined;
}
