// Original file: proto/voicevirtualagent.proto

/**
 * What the caller may use next.
 */
export const VoiceVAInputMode = {
  /**
   * Treated as INPUT_VOICE_DTMF (G-81).
   */
  INPUT_VOICE_MODE_UNSPECIFIED: 0,
  /**
   * Voice only.
   */
  INPUT_VOICE: 1,
  /**
   * Keys only.
   */
  INPUT_EVENT_DTMF: 2,
  /**
   * Both.
   */
  INPUT_VOICE_DTMF: 3,
} as const;

/**
 * What the caller may use next.
 */
export type VoiceVAInputMode =
  /**
   * Treated as INPUT_VOICE_DTMF (G-81).
   */
  | 'INPUT_VOICE_MODE_UNSPECIFIED'
  | 0
  /**
   * Voice only.
   */
  | 'INPUT_VOICE'
  | 1
  /**
   * Keys only.
   */
  | 'INPUT_EVENT_DTMF'
  | 2
  /**
   * Both.
   */
  | 'INPUT_VOICE_DTMF'
  | 3

/**
 * What the caller may use next.
 */
export type VoiceVAInputMode__Output = typeof VoiceVAInputMode[keyof typeof VoiceVAInputMode]
