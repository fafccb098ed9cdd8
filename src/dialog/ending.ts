// How turns and sessions end: two closed lists that engine, bots and observers share.

/** How one turn ended. */
export type TurnEnd =
  /** The whole reply of the bot was sent. */
  | 'replied'
  /** The caller said nothing on this turn, or only started to press keys (G-61). */
  | 'nothing_said'
  /** The caller spoke or pressed a key over the reply. */
  | 'interrupted'
  | 'hang_up'
  /** The turn brought no answer of its own: the session had already ended, or ends with this turn for another reason. */
  | 'superseded'
  | 'deadline'
  | 'shutdown'
  /** Bot or engine failed; the caller heard the apology or was transferred. */
  | 'failed';

/** Who ended a session and how. */
export type SessionEnd =
  | 'caller'
  | 'bot_end'
  | 'bot_transfer'
  /** The flow began the conversation anew under the same id (G-28): a new session follows. */
  | 'restarted'
  /** Nothing arrived for too long, or the caller vanished. */
  | 'idle'
  /** The longest allowed time was over; the caller was transferred. */
  | 'too_long'
  | 'shutdown'
  | 'failed';
