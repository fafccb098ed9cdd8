import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { DTMFInputConfig as _com_cisco_wcc_ccai_media_v1_DTMFInputConfig, DTMFInputConfig__Output as _com_cisco_wcc_ccai_media_v1_DTMFInputConfig__Output } from './com/cisco/wcc/ccai/media/v1/DTMFInputConfig.ts';
import type { DTMFInputs as _com_cisco_wcc_ccai_media_v1_DTMFInputs, DTMFInputs__Output as _com_cisco_wcc_ccai_media_v1_DTMFInputs__Output } from './com/cisco/wcc/ccai/media/v1/DTMFInputs.ts';
import type { EventInput as _com_cisco_wcc_ccai_media_v1_EventInput, EventInput__Output as _com_cisco_wcc_ccai_media_v1_EventInput__Output } from './com/cisco/wcc/ccai/media/v1/EventInput.ts';
import type { InputHandlingConfig as _com_cisco_wcc_ccai_media_v1_InputHandlingConfig, InputHandlingConfig__Output as _com_cisco_wcc_ccai_media_v1_InputHandlingConfig__Output } from './com/cisco/wcc/ccai/media/v1/InputHandlingConfig.ts';
import type { InputSpeechTimers as _com_cisco_wcc_ccai_media_v1_InputSpeechTimers, InputSpeechTimers__Output as _com_cisco_wcc_ccai_media_v1_InputSpeechTimers__Output } from './com/cisco/wcc/ccai/media/v1/InputSpeechTimers.ts';
import type { ListVARequest as _com_cisco_wcc_ccai_media_v1_ListVARequest, ListVARequest__Output as _com_cisco_wcc_ccai_media_v1_ListVARequest__Output } from './com/cisco/wcc/ccai/media/v1/ListVARequest.ts';
import type { ListVAResponse as _com_cisco_wcc_ccai_media_v1_ListVAResponse, ListVAResponse__Output as _com_cisco_wcc_ccai_media_v1_ListVAResponse__Output } from './com/cisco/wcc/ccai/media/v1/ListVAResponse.ts';
import type { OutputEvent as _com_cisco_wcc_ccai_media_v1_OutputEvent, OutputEvent__Output as _com_cisco_wcc_ccai_media_v1_OutputEvent__Output } from './com/cisco/wcc/ccai/media/v1/OutputEvent.ts';
import type { Prompt as _com_cisco_wcc_ccai_media_v1_Prompt, Prompt__Output as _com_cisco_wcc_ccai_media_v1_Prompt__Output } from './com/cisco/wcc/ccai/media/v1/Prompt.ts';
import type { TextContent as _com_cisco_wcc_ccai_media_v1_TextContent, TextContent__Output as _com_cisco_wcc_ccai_media_v1_TextContent__Output } from './com/cisco/wcc/ccai/media/v1/TextContent.ts';
import type { VirtualAgentInfo as _com_cisco_wcc_ccai_media_v1_VirtualAgentInfo, VirtualAgentInfo__Output as _com_cisco_wcc_ccai_media_v1_VirtualAgentInfo__Output } from './com/cisco/wcc/ccai/media/v1/VirtualAgentInfo.ts';
import type { VoiceInput as _com_cisco_wcc_ccai_media_v1_VoiceInput, VoiceInput__Output as _com_cisco_wcc_ccai_media_v1_VoiceInput__Output } from './com/cisco/wcc/ccai/media/v1/VoiceInput.ts';
import type { VoiceVARequest as _com_cisco_wcc_ccai_media_v1_VoiceVARequest, VoiceVARequest__Output as _com_cisco_wcc_ccai_media_v1_VoiceVARequest__Output } from './com/cisco/wcc/ccai/media/v1/VoiceVARequest.ts';
import type { VoiceVAResponse as _com_cisco_wcc_ccai_media_v1_VoiceVAResponse, VoiceVAResponse__Output as _com_cisco_wcc_ccai_media_v1_VoiceVAResponse__Output } from './com/cisco/wcc/ccai/media/v1/VoiceVAResponse.ts';
import type { VoiceVirtualAgentClient as _com_cisco_wcc_ccai_media_v1_VoiceVirtualAgentClient, VoiceVirtualAgentDefinition as _com_cisco_wcc_ccai_media_v1_VoiceVirtualAgentDefinition } from './com/cisco/wcc/ccai/media/v1/VoiceVirtualAgent.ts';
import type { ListValue as _google_protobuf_ListValue, ListValue__Output as _google_protobuf_ListValue__Output } from './google/protobuf/ListValue.ts';
import type { Struct as _google_protobuf_Struct, Struct__Output as _google_protobuf_Struct__Output } from './google/protobuf/Struct.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from './google/protobuf/Timestamp.ts';
import type { Value as _google_protobuf_Value, Value__Output as _google_protobuf_Value__Output } from './google/protobuf/Value.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  com: {
    cisco: {
      wcc: {
        ccai: {
          media: {
            v1: {
              DTMFDigits: EnumTypeDefinition
              DTMFInputConfig: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_DTMFInputConfig, _com_cisco_wcc_ccai_media_v1_DTMFInputConfig__Output>
              DTMFInputs: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_DTMFInputs, _com_cisco_wcc_ccai_media_v1_DTMFInputs__Output>
              EventInput: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_EventInput, _com_cisco_wcc_ccai_media_v1_EventInput__Output>
              InputHandlingConfig: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_InputHandlingConfig, _com_cisco_wcc_ccai_media_v1_InputHandlingConfig__Output>
              InputSpeechTimers: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_InputSpeechTimers, _com_cisco_wcc_ccai_media_v1_InputSpeechTimers__Output>
              ListVARequest: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_ListVARequest, _com_cisco_wcc_ccai_media_v1_ListVARequest__Output>
              ListVAResponse: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_ListVAResponse, _com_cisco_wcc_ccai_media_v1_ListVAResponse__Output>
              OutputEvent: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_OutputEvent, _com_cisco_wcc_ccai_media_v1_OutputEvent__Output>
              Prompt: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_Prompt, _com_cisco_wcc_ccai_media_v1_Prompt__Output>
              TextContent: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_TextContent, _com_cisco_wcc_ccai_media_v1_TextContent__Output>
              VirtualAgentInfo: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_VirtualAgentInfo, _com_cisco_wcc_ccai_media_v1_VirtualAgentInfo__Output>
              VoiceInput: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_VoiceInput, _com_cisco_wcc_ccai_media_v1_VoiceInput__Output>
              VoiceVAInputMode: EnumTypeDefinition
              VoiceVARequest: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_VoiceVARequest, _com_cisco_wcc_ccai_media_v1_VoiceVARequest__Output>
              VoiceVAResponse: MessageTypeDefinition<_com_cisco_wcc_ccai_media_v1_VoiceVAResponse, _com_cisco_wcc_ccai_media_v1_VoiceVAResponse__Output>
              VoiceVirtualAgent: SubtypeConstructor<typeof grpc.Client, _com_cisco_wcc_ccai_media_v1_VoiceVirtualAgentClient> & { service: _com_cisco_wcc_ccai_media_v1_VoiceVirtualAgentDefinition }
            }
          }
        }
      }
    }
  }
  google: {
    protobuf: {
      ListValue: MessageTypeDefinition<_google_protobuf_ListValue, _google_protobuf_ListValue__Output>
      NullValue: EnumTypeDefinition
      Struct: MessageTypeDefinition<_google_protobuf_Struct, _google_protobuf_Struct__Output>
      Timestamp: MessageTypeDefinition<_google_protobuf_Timestamp, _google_protobuf_Timestamp__Output>
      Value: MessageTypeDefinition<_google_protobuf_Value, _google_protobuf_Value__Output>
    }
  }
}

