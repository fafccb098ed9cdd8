// Original file: proto/byova_common.proto

import type { DTMFDigits as _com_cisco_wcc_ccai_media_v1_DTMFDigits, DTMFDigits__Output as _com_cisco_wcc_ccai_media_v1_DTMFDigits__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/DTMFDigits.ts';

/**
 * How the platform collects keys before it hands them over (G-62).
 */
export interface DTMFInputConfig {
  /**
   * Longest pause between two keys, ms.
   */
  'inter_digit_timeout_msec'?: (number);
  /**
   * Key that ends the collection early.
   */
  'termchar'?: (_com_cisco_wcc_ccai_media_v1_DTMFDigits);
  /**
   * Number of keys that ends the collection.
   */
  'dtmf_input_length'?: (number);
}

/**
 * How the platform collects keys before it hands them over (G-62).
 */
export interface DTMFInputConfig__Output {
  /**
   * Longest pause between two keys, ms.
   */
  'inter_digit_timeout_msec'?: (number);
  /**
   * Key that ends the collection early.
   */
  'termchar'?: (_com_cisco_wcc_ccai_media_v1_DTMFDigits__Output);
  /**
   * Number of keys that ends the collection.
   */
  'dtmf_input_length'?: (number);
}
