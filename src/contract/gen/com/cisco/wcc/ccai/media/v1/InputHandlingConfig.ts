// Original file: proto/byova_common.proto

import type { DTMFInputConfig as _com_cisco_wcc_ccai_media_v1_DTMFInputConfig, DTMFInputConfig__Output as _com_cisco_wcc_ccai_media_v1_DTMFInputConfig__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/DTMFInputConfig.ts';
import type { InputSpeechTimers as _com_cisco_wcc_ccai_media_v1_InputSpeechTimers, InputSpeechTimers__Output as _com_cisco_wcc_ccai_media_v1_InputSpeechTimers__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/InputSpeechTimers.ts';

/**
 * Rules for the caller's next input. Every FINAL that does not end the call carries one (G-80), one that does carries
 * none (G-78).
 */
export interface InputHandlingConfig {
  'dtmf_config'?: (_com_cisco_wcc_ccai_media_v1_DTMFInputConfig | null);
  'speech_timers'?: (_com_cisco_wcc_ccai_media_v1_InputSpeechTimers | null);
}

/**
 * Rules for the caller's next input. Every FINAL that does not end the call carries one (G-80), one that does carries
 * none (G-78).
 */
export interface InputHandlingConfig__Output {
  'dtmf_config'?: (_com_cisco_wcc_ccai_media_v1_DTMFInputConfig__Output);
  'speech_timers'?: (_com_cisco_wcc_ccai_media_v1_InputSpeechTimers__Output);
}
