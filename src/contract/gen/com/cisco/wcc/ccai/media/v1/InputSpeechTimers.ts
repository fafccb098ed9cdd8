// Original file: proto/byova_common.proto


/**
 * How long the platform waits for speech, all in ms. Bounds and defaults of the platform are not known (G-84).
 */
export interface InputSpeechTimers {
  /**
   * Longest utterance.
   */
  'max_speech_timeout_msec'?: (number);
  /**
   * Silence after speech that makes a complete utterance.
   */
  'complete_timeout_msec'?: (number);
  /**
   * Silence after speech that does not yet make sense.
   */
  'incomplete_timeout_msec'?: (number);
  /**
   * Silence after the prompt that is reported as NO_INPUT; 0 switches the report off (G-82).
   */
  'no_input_timeout_msec'?: (number);
}

/**
 * How long the platform waits for speech, all in ms. Bounds and defaults of the platform are not known (G-84).
 */
export interface InputSpeechTimers__Output {
  /**
   * Longest utterance.
   */
  'max_speech_timeout_msec'?: (number);
  /**
   * Silence after speech that makes a complete utterance.
   */
  'complete_timeout_msec'?: (number);
  /**
   * Silence after speech that does not yet make sense.
   */
  'incomplete_timeout_msec'?: (number);
  /**
   * Silence after the prompt that is reported as NO_INPUT; 0 switches the report off (G-82).
   */
  'no_input_timeout_msec'?: (number);
}
