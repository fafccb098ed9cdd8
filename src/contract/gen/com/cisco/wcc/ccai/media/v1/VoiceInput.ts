// Original file: proto/voicevirtualagent.proto

import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../../../../google/protobuf/Timestamp.ts';

// Original file: proto/voicevirtualagent.proto

export const _com_cisco_wcc_ccai_media_v1_VoiceInput_VoiceEncoding = {
  UNSPECIFIED_FORMAT: 0,
  LINEAR16_FORMAT: 1,
  MULAW_FORMAT: 2,
  ALAW_FORMAT: 3,
} as const;

export type _com_cisco_wcc_ccai_media_v1_VoiceInput_VoiceEncoding =
  | 'UNSPECIFIED_FORMAT'
  | 0
  | 'LINEAR16_FORMAT'
  | 1
  | 'MULAW_FORMAT'
  | 2
  | 'ALAW_FORMAT'
  | 3

export type _com_cisco_wcc_ccai_media_v1_VoiceInput_VoiceEncoding__Output = typeof _com_cisco_wcc_ccai_media_v1_VoiceInput_VoiceEncoding[keyof typeof _com_cisco_wcc_ccai_media_v1_VoiceInput_VoiceEncoding]

/**
 * One frame of caller audio: normally 20 ms of G.711 mu-law, 160 bytes (G-30), sometimes a probe of about 3 bytes
 * (G-33). Clients may name encoding and rate on the first frame only (G-32).
 */
export interface VoiceInput {
  'caller_audio'?: (Buffer | Uint8Array | string);
  'encoding'?: (_com_cisco_wcc_ccai_media_v1_VoiceInput_VoiceEncoding);
  'sample_rate_hertz'?: (number);
  'audio_timestamp'?: (_google_protobuf_Timestamp | null);
  /**
   * BCP-47 tag such as "en-US" (G-31).
   */
  'language_code'?: (string);
  'is_single_utterance'?: (boolean);
}

/**
 * One frame of caller audio: normally 20 ms of G.711 mu-law, 160 bytes (G-30), sometimes a probe of about 3 bytes
 * (G-33). Clients may name encoding and rate on the first frame only (G-32).
 */
export interface VoiceInput__Output {
  'caller_audio'?: (Buffer);
  'encoding'?: (_com_cisco_wcc_ccai_media_v1_VoiceInput_VoiceEncoding__Output);
  'sample_rate_hertz'?: (number);
  'audio_timestamp'?: (_google_protobuf_Timestamp__Output);
  /**
   * BCP-47 tag such as "en-US" (G-31).
   */
  'language_code'?: (string);
  'is_single_utterance'?: (boolean);
}
