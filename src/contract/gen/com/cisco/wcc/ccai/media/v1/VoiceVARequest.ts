// Original file: proto/voicevirtualagent.proto

import type { VoiceInput as _com_cisco_wcc_ccai_media_v1_VoiceInput, VoiceInput__Output as _com_cisco_wcc_ccai_media_v1_VoiceInput__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/VoiceInput.ts';
import type { DTMFInputs as _com_cisco_wcc_ccai_media_v1_DTMFInputs, DTMFInputs__Output as _com_cisco_wcc_ccai_media_v1_DTMFInputs__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/DTMFInputs.ts';
import type { EventInput as _com_cisco_wcc_ccai_media_v1_EventInput, EventInput__Output as _com_cisco_wcc_ccai_media_v1_EventInput__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/EventInput.ts';

/**
 * One thing the caller or the flow did.
 */
export interface VoiceVARequest {
  /**
   * Names the call; the same on all of its RPCs. Mandatory.
   */
  'conversation_id'?: (string);
  /**
   * Organization id, a plain UUID; must be the one the token speaks for (G-08). Mandatory.
   */
  'customer_org_id'?: (string);
  /**
   * An id from ListVirtualAgents. Empty means the default agent (G-07); a change within a call is refused (G-17).
   */
  'virtual_agent_id'?: (string);
  /**
   * Only when true may the answer hold PARTIAL responses (G-45).
   */
  'allow_partial_responses'?: (boolean);
  /**
   * Opaque text of the administrator's agent configuration.
   */
  'vendor_specific_config'?: (string);
  'audio_input'?: (_com_cisco_wcc_ccai_media_v1_VoiceInput | null);
  'dtmf_input'?: (_com_cisco_wcc_ccai_media_v1_DTMFInputs | null);
  'event_input'?: (_com_cisco_wcc_ccai_media_v1_EventInput | null);
  /**
   * Reserved for later use; tolerated.
   */
  'additional_info'?: ({[key: string]: string});
  /**
   * Exactly one is mandatory (G-18).
   */
  'voice_va_input_type'?: "audio_input"|"dtmf_input"|"event_input";
}

/**
 * One thing the caller or the flow did.
 */
export interface VoiceVARequest__Output {
  /**
   * Names the call; the same on all of its RPCs. Mandatory.
   */
  'conversation_id'?: (string);
  /**
   * Organization id, a plain UUID; must be the one the token speaks for (G-08). Mandatory.
   */
  'customer_org_id'?: (string);
  /**
   * An id from ListVirtualAgents. Empty means the default agent (G-07); a change within a call is refused (G-17).
   */
  'virtual_agent_id'?: (string);
  /**
   * Only when true may the answer hold PARTIAL responses (G-45).
   */
  'allow_partial_responses'?: (boolean);
  /**
   * Opaque text of the administrator's agent configuration.
   */
  'vendor_specific_config'?: (string);
  'audio_input'?: (_com_cisco_wcc_ccai_media_v1_VoiceInput__Output);
  'dtmf_input'?: (_com_cisco_wcc_ccai_media_v1_DTMFInputs__Output);
  'event_input'?: (_com_cisco_wcc_ccai_media_v1_EventInput__Output);
  /**
   * Reserved for later use; tolerated.
   */
  'additional_info'?: ({[key: string]: string});
}
