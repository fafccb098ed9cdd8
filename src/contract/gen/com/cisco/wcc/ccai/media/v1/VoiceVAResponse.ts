// Original file: proto/voicevirtualagent.proto

import type { Prompt as _com_cisco_wcc_ccai_media_v1_Prompt, Prompt__Output as _com_cisco_wcc_ccai_media_v1_Prompt__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/Prompt.ts';
import type { OutputEvent as _com_cisco_wcc_ccai_media_v1_OutputEvent, OutputEvent__Output as _com_cisco_wcc_ccai_media_v1_OutputEvent__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/OutputEvent.ts';
import type { VoiceVAInputMode as _com_cisco_wcc_ccai_media_v1_VoiceVAInputMode, VoiceVAInputMode__Output as _com_cisco_wcc_ccai_media_v1_VoiceVAInputMode__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/VoiceVAInputMode.ts';
import type { InputHandlingConfig as _com_cisco_wcc_ccai_media_v1_InputHandlingConfig, InputHandlingConfig__Output as _com_cisco_wcc_ccai_media_v1_InputHandlingConfig__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/InputHandlingConfig.ts';
import type { TextContent as _com_cisco_wcc_ccai_media_v1_TextContent, TextContent__Output as _com_cisco_wcc_ccai_media_v1_TextContent__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/TextContent.ts';

// Original file: proto/voicevirtualagent.proto

export const _com_cisco_wcc_ccai_media_v1_VoiceVAResponse_ResponseType = {
  /**
   * The last answer, and what an answer that names no type is.
   */
  FINAL: 0,
  /**
   * An early answer, only when allowed (G-45).
   */
  PARTIAL: 1,
  /**
   * A piece of an answer (G-42).
   */
  CHUNK: 2,
} as const;

export type _com_cisco_wcc_ccai_media_v1_VoiceVAResponse_ResponseType =
  /**
   * The last answer, and what an answer that names no type is.
   */
  | 'FINAL'
  | 0
  /**
   * An early answer, only when allowed (G-45).
   */
  | 'PARTIAL'
  | 1
  /**
   * A piece of an answer (G-42).
   */
  | 'CHUNK'
  | 2

export type _com_cisco_wcc_ccai_media_v1_VoiceVAResponse_ResponseType__Output = typeof _com_cisco_wcc_ccai_media_v1_VoiceVAResponse_ResponseType[keyof typeof _com_cisco_wcc_ccai_media_v1_VoiceVAResponse_ResponseType]

/**
 * One answer. In WAV mode the only one of its RPC (G-41); in CHUNK mode audio comes in chunks and a FINAL without
 * audio closes (G-42, G-43).
 */
export interface VoiceVAResponse {
  /**
   * Played in list order (G-22).
   */
  'prompts'?: (_com_cisco_wcc_ccai_media_v1_Prompt)[];
  /**
   * The platform takes the first and ignores the rest.
   */
  'output_events'?: (_com_cisco_wcc_ccai_media_v1_OutputEvent)[];
  /**
   * The caller's next input is a card number, a PIN or the like (G-83).
   */
  'input_sensitive'?: (boolean);
  /**
   * What the caller may use next (G-80, G-81).
   */
  'input_mode'?: (_com_cisco_wcc_ccai_media_v1_VoiceVAInputMode);
  /**
   * Timers and key rules for the caller's next input (G-80).
   */
  'input_handling_config'?: (_com_cisco_wcc_ccai_media_v1_InputHandlingConfig | null);
  /**
   * Words of the whole session; counts only on the session's last answer (G-7B).
   */
  'session_transcript'?: (_com_cisco_wcc_ccai_media_v1_TextContent | null);
  /**
   * Summary of the whole session; counts only on the session's last answer (G-7B).
   */
  'session_summary'?: (_com_cisco_wcc_ccai_media_v1_TextContent | null);
  'response_type'?: (_com_cisco_wcc_ccai_media_v1_VoiceVAResponse_ResponseType);
  /**
   * Goes with PARTIAL: it plays on when a later answer comes, which would cancel it otherwise (G-45).
   */
  'disable_prompt_cancellation'?: (boolean);
}

/**
 * One answer. In WAV mode the only one of its RPC (G-41); in CHUNK mode audio comes in chunks and a FINAL without
 * audio closes (G-42, G-43).
 */
export interface VoiceVAResponse__Output {
  /**
   * Played in list order (G-22).
   */
  'prompts'?: (_com_cisco_wcc_ccai_media_v1_Prompt__Output)[];
  /**
   * The platform takes the first and ignores the rest.
   */
  'output_events'?: (_com_cisco_wcc_ccai_media_v1_OutputEvent__Output)[];
  /**
   * The caller's next input is a card number, a PIN or the like (G-83).
   */
  'input_sensitive'?: (boolean);
  /**
   * What the caller may use next (G-80, G-81).
   */
  'input_mode'?: (_com_cisco_wcc_ccai_media_v1_VoiceVAInputMode__Output);
  /**
   * Timers and key rules for the caller's next input (G-80).
   */
  'input_handling_config'?: (_com_cisco_wcc_ccai_media_v1_InputHandlingConfig__Output);
  /**
   * Words of the whole session; counts only on the session's last answer (G-7B).
   */
  'session_transcript'?: (_com_cisco_wcc_ccai_media_v1_TextContent__Output);
  /**
   * Summary of the whole session; counts only on the session's last answer (G-7B).
   */
  'session_summary'?: (_com_cisco_wcc_ccai_media_v1_TextContent__Output);
  'response_type'?: (_com_cisco_wcc_ccai_media_v1_VoiceVAResponse_ResponseType__Output);
  /**
   * Goes with PARTIAL: it plays on when a later answer comes, which would cancel it otherwise (G-45).
   */
  'disable_prompt_cancellation'?: (boolean);
}
