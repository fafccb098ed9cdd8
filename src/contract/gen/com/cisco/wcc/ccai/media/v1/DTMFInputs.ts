// Original file: proto/byova_common.proto

import type { DTMFDigits as _com_cisco_wcc_ccai_media_v1_DTMFDigits, DTMFDigits__Output as _com_cisco_wcc_ccai_media_v1_DTMFDigits__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/DTMFDigits.ts';

/**
 * The collected keys in the order pressed. May be empty (G-65) and may still hold the ending key (G-67).
 */
export interface DTMFInputs {
  'dtmf_events'?: (_com_cisco_wcc_ccai_media_v1_DTMFDigits)[];
}

/**
 * The collected keys in the order pressed. May be empty (G-65) and may still hold the ending key (G-67).
 */
export interface DTMFInputs__Output {
  'dtmf_events'?: (_com_cisco_wcc_ccai_media_v1_DTMFDigits__Output)[];
}
