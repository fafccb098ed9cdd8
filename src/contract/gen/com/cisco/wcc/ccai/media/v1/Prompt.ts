// Original file: proto/voicevirtualagent.proto


/**
 * Something the caller hears: audio, or text that the platform may speak, or an address it may fetch.
 */
export interface Prompt {
  /**
   * Never beside streamed audio: the platform may speak it as well (G-46).
   */
  'text'?: (string);
  'audio_uri'?: (string);
  /**
   * A WAV file in WAV mode (G-41), bare samples in CHUNK mode (G-42).
   */
  'audio_content'?: (Buffer | Uint8Array | string);
  /**
   * Whether the caller may talk over it (G-51, G-56). Never on a prompt beside a terminal event (G-55).
   */
  'is_barge_in_enabled'?: (boolean);
}

/**
 * Something the caller hears: audio, or text that the platform may speak, or an address it may fetch.
 */
export interface Prompt__Output {
  /**
   * Never beside streamed audio: the platform may speak it as well (G-46).
   */
  'text'?: (string);
  'audio_uri'?: (string);
  /**
   * A WAV file in WAV mode (G-41), bare samples in CHUNK mode (G-42).
   */
  'audio_content'?: (Buffer);
  /**
   * Whether the caller may talk over it (G-51, G-56). Never on a prompt beside a terminal event (G-55).
   */
  'is_barge_in_enabled'?: (boolean);
}
