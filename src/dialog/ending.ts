// How turns and sessions end: two closed lists for engine, bots and observers.

/** How one turn ended. */
export type TurnEnd =
  /** The bot's whole reply was sent. */
  | 'replied'
  /** The caller said nothing on this turn, or only started to press keys (G-61). */
  | 'nothing_said'
  /** The caller spoke or pressed a key during the reply. */
  | 'interrupted'
  | 'hang_up'
  /** The turn had no reply of its own: the session had already ended, or ends with this turn for another reason. */
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
  /** The flow restarted the conversation under the same id (G-28): a new session follows. */
  | 'restarted'
  /** Nothing arrived for too long, or the caller vanished. */
  | 'idle'
  /** The time limit passed; the caller was transferred. */
  | 'too_long'
  | 'shutdown'
  | 'failed';
