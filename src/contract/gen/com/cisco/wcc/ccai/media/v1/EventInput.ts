// Original file: proto/byova_common.proto

import type { Struct as _google_protobuf_Struct, Struct__Output as _google_protobuf_Struct__Output } from '../../../../../../google/protobuf/Struct.ts';

// Original file: proto/byova_common.proto

export const _com_cisco_wcc_ccai_media_v1_EventInput_EventType = {
  UNSPECIFIED_INPUT: 0,
  /**
   * A call begins; answered with the welcome on the same RPC (G-20, G-21).
   */
  SESSION_START: 1,
  /**
   * The caller hung up or the flow ended the session (G-74).
   */
  SESSION_END: 2,
  /**
   * The configured silence has passed (G-70).
   */
  NO_INPUT: 3,
  /**
   * The first key was pressed; answered with nothing (G-60, G-61).
   */
  START_OF_DTMF: 4,
  /**
   * Named data from the flow, at any time (G-72).
   */
  CUSTOM_EVENT: 5,
} as const;

export type _com_cisco_wcc_ccai_media_v1_EventInput_EventType =
  | 'UNSPECIFIED_INPUT'
  | 0
  /**
   * A call begins; answered with the welcome on the same RPC (G-20, G-21).
   */
  | 'SESSION_START'
  | 1
  /**
   * The caller hung up or the flow ended the session (G-74).
   */
  | 'SESSION_END'
  | 2
  /**
   * The configured silence has passed (G-70).
   */
  | 'NO_INPUT'
  | 3
  /**
   * The first key was pressed; answered with nothing (G-60, G-61).
   */
  | 'START_OF_DTMF'
  | 4
  /**
   * Named data from the flow, at any time (G-72).
   */
  | 'CUSTOM_EVENT'
  | 5

export type _com_cisco_wcc_ccai_media_v1_EventInput_EventType__Output = typeof _com_cisco_wcc_ccai_media_v1_EventInput_EventType[keyof typeof _com_cisco_wcc_ccai_media_v1_EventInput_EventType]

/**
 * Something the platform tells the connector. The numbers differ from those of OutputEvent.
 */
export interface EventInput {
  'event_type'?: (_com_cisco_wcc_ccai_media_v1_EventInput_EventType);
  'name'?: (string);
  'parameters'?: (_google_protobuf_Struct | null);
}

/**
 * Something the platform tells the connector. The numbers differ from those of OutputEvent.
 */
export interface EventInput__Output {
  'event_type'?: (_com_cisco_wcc_ccai_media_v1_EventInput_EventType__Output);
  'name'?: (string);
  'parameters'?: (_google_protobuf_Struct__Output);
}
