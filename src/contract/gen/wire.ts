// Neutral names for the generated types and enums. Written by scripts/generate.mjs.
export type { VirtualAgentInfo__Output as DecodedAgent } from './com/cisco/wcc/ccai/media/v1/VirtualAgentInfo.ts';
export type { HealthCheckRequest__Output as DecodedHealthRequest } from './com/cisco/wcc/ccai/v1/HealthCheckRequest.ts';
export type { HealthCheckResponse__Output as DecodedHealthResponse } from './com/cisco/wcc/ccai/v1/HealthCheckResponse.ts';
export type { InputHandlingConfig__Output as DecodedInputHandling } from './com/cisco/wcc/ccai/media/v1/InputHandlingConfig.ts';
export type { ListVARequest__Output as DecodedListAgentsRequest } from './com/cisco/wcc/ccai/media/v1/ListVARequest.ts';
export type { ListVAResponse__Output as DecodedListAgentsResponse } from './com/cisco/wcc/ccai/media/v1/ListVAResponse.ts';
export type { Prompt__Output as DecodedPrompt } from './com/cisco/wcc/ccai/media/v1/Prompt.ts';
export type { VoiceVARequest__Output as DecodedRequest } from './com/cisco/wcc/ccai/media/v1/VoiceVARequest.ts';
export type { VoiceVAResponse__Output as DecodedResponse } from './com/cisco/wcc/ccai/media/v1/VoiceVAResponse.ts';
export type { Struct__Output as DecodedStruct } from './google/protobuf/Struct.ts';
export type { Value__Output as DecodedValue } from './google/protobuf/Value.ts';
export { DTMFDigits as DTMF_DIGITS } from './com/cisco/wcc/ccai/media/v1/DTMFDigits.ts';
export { _com_cisco_wcc_ccai_media_v1_EventInput_EventType as EVENT_INPUT } from './com/cisco/wcc/ccai/media/v1/EventInput.ts';
export { _com_cisco_wcc_ccai_media_v1_OutputEvent_EventType as EVENT_OUTPUT } from './com/cisco/wcc/ccai/media/v1/OutputEvent.ts';
export { VoiceVAInputMode as INPUT_MODE } from './com/cisco/wcc/ccai/media/v1/VoiceVAInputMode.ts';
export { _com_cisco_wcc_ccai_media_v1_VoiceVAResponse_ResponseType as RESPONSE_TYPE } from './com/cisco/wcc/ccai/media/v1/VoiceVAResponse.ts';
export { _com_cisco_wcc_ccai_v1_HealthCheckResponse_ServingStatus as SERVING_STATUS } from './com/cisco/wcc/ccai/v1/HealthCheckResponse.ts';
export { _com_cisco_wcc_ccai_media_v1_VoiceInput_VoiceEncoding as VOICE_ENCODING } from './com/cisco/wcc/ccai/media/v1/VoiceInput.ts';
