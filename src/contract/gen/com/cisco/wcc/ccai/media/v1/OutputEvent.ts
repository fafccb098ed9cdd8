// Original file: proto/byova_common.proto

import type { Struct as _google_protobuf_Struct, Struct__Output as _google_protobuf_Struct__Output } from '../../../../../../google/protobuf/Struct.ts';

// Original file: proto/byova_common.proto

export const _com_cisco_wcc_ccai_media_v1_OutputEvent_EventType = {
  UNSPECIFIED_EVENT: 0,
  /**
   * The call is over (G-76).
   */
  SESSION_END: 1,
  /**
   * The caller goes to a human (G-77).
   */
  TRANSFER_TO_AGENT: 2,
  /**
   * Data for the flow (G-73).
   */
  CUSTOM_EVENT: 3,
  /**
   * The caller began to speak (G-36, G-37).
   */
  START_OF_INPUT: 4,
  /**
   * The caller stopped speaking (G-38).
   */
  END_OF_INPUT: 5,
  /**
   * Nothing was understood; what the platform does with it is not known (G-71).
   */
  NO_MATCH: 6,
  /**
   * Nothing was said; what the platform does with it is not known (G-71).
   */
  NO_INPUT: 7,
} as const;

export type _com_cisco_wcc_ccai_media_v1_OutputEvent_EventType =
  | 'UNSPECIFIED_EVENT'
  | 0
  /**
   * The call is over (G-76).
   */
  | 'SESSION_END'
  | 1
  /**
   * The caller goes to a human (G-77).
   */
  | 'TRANSFER_TO_AGENT'
  | 2
  /**
   * Data for the flow (G-73).
   */
  | 'CUSTOM_EVENT'
  | 3
  /**
   * The caller began to speak (G-36, G-37).
   */
  | 'START_OF_INPUT'
  | 4
  /**
   * The caller stopped speaking (G-38).
   */
  | 'END_OF_INPUT'
  | 5
  /**
   * Nothing was understood; what the platform does with it is not known (G-71).
   */
  | 'NO_MATCH'
  | 6
  /**
   * Nothing was said; what the platform does with it is not known (G-71).
   */
  | 'NO_INPUT'
  | 7

export type _com_cisco_wcc_ccai_media_v1_OutputEvent_EventType__Output = typeof _com_cisco_wcc_ccai_media_v1_OutputEvent_EventType[keyof typeof _com_cisco_wcc_ccai_media_v1_OutputEvent_EventType]

/**
 * Something the connector tells the platform. The numbers differ from those of EventInput.
 */
export interface OutputEvent {
  'event_type'?: (_com_cisco_wcc_ccai_media_v1_OutputEvent_EventType);
  /**
   * Free name of the event.
   */
  'name'?: (string);
  /**
   * Free data of the event, such as the summary for the human agent (G-79).
   */
  'metadata'?: (_google_protobuf_Struct | null);
}

/**
 * Something the connector tells the platform. The numbers differ from those of EventInput.
 */
export interface OutputEvent__Output {
  'event_type'?: (_com_cisco_wcc_ccai_media_v1_OutputEvent_EventType__Output);
  /**
   * Free name of the event.
   */
  'name'?: (string);
  /**
   * Free data of the event, such as the summary for the human agent (G-79).
   */
  'metadata'?: (_google_protobuf_Struct__Output);
}
