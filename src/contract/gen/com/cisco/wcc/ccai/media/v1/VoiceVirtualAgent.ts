// Original file: proto/voicevirtualagent.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { ListVARequest as _com_cisco_wcc_ccai_media_v1_ListVARequest, ListVARequest__Output as _com_cisco_wcc_ccai_media_v1_ListVARequest__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/ListVARequest.ts';
import type { ListVAResponse as _com_cisco_wcc_ccai_media_v1_ListVAResponse, ListVAResponse__Output as _com_cisco_wcc_ccai_media_v1_ListVAResponse__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/ListVAResponse.ts';
import type { VoiceVARequest as _com_cisco_wcc_ccai_media_v1_VoiceVARequest, VoiceVARequest__Output as _com_cisco_wcc_ccai_media_v1_VoiceVARequest__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/VoiceVARequest.ts';
import type { VoiceVAResponse as _com_cisco_wcc_ccai_media_v1_VoiceVAResponse, VoiceVAResponse__Output as _com_cisco_wcc_ccai_media_v1_VoiceVAResponse__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/VoiceVAResponse.ts';

export interface VoiceVirtualAgentClient extends grpc.Client {
  /**
   * The agents an administrator may choose from (G-05).
   */
  ListVirtualAgents(argument: _com_cisco_wcc_ccai_media_v1_ListVARequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_com_cisco_wcc_ccai_media_v1_ListVAResponse__Output>): grpc.ClientUnaryCall;
  ListVirtualAgents(argument: _com_cisco_wcc_ccai_media_v1_ListVARequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_com_cisco_wcc_ccai_media_v1_ListVAResponse__Output>): grpc.ClientUnaryCall;
  ListVirtualAgents(argument: _com_cisco_wcc_ccai_media_v1_ListVARequest, options: grpc.CallOptions, callback: grpc.requestCallback<_com_cisco_wcc_ccai_media_v1_ListVAResponse__Output>): grpc.ClientUnaryCall;
  ListVirtualAgents(argument: _com_cisco_wcc_ccai_media_v1_ListVARequest, callback: grpc.requestCallback<_com_cisco_wcc_ccai_media_v1_ListVAResponse__Output>): grpc.ClientUnaryCall;
  /**
   * The agents an administrator may choose from (G-05).
   */
  listVirtualAgents(argument: _com_cisco_wcc_ccai_media_v1_ListVARequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_com_cisco_wcc_ccai_media_v1_ListVAResponse__Output>): grpc.ClientUnaryCall;
  listVirtualAgents(argument: _com_cisco_wcc_ccai_media_v1_ListVARequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_com_cisco_wcc_ccai_media_v1_ListVAResponse__Output>): grpc.ClientUnaryCall;
  listVirtualAgents(argument: _com_cisco_wcc_ccai_media_v1_ListVARequest, options: grpc.CallOptions, callback: grpc.requestCallback<_com_cisco_wcc_ccai_media_v1_ListVAResponse__Output>): grpc.ClientUnaryCall;
  listVirtualAgents(argument: _com_cisco_wcc_ccai_media_v1_ListVARequest, callback: grpc.requestCallback<_com_cisco_wcc_ccai_media_v1_ListVAResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * One interaction of a call: one utterance, one key sequence or one event, with its answer. A call is many of these
   * RPCs with the same conversation id (G-10), and two of them may be open at once (G-50). The half-close of the
   * platform ends the interaction, never the call (G-12); the connector completes each RPC itself (G-13).
   */
  ProcessCallerInput(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_com_cisco_wcc_ccai_media_v1_VoiceVARequest, _com_cisco_wcc_ccai_media_v1_VoiceVAResponse__Output>;
  ProcessCallerInput(options?: grpc.CallOptions): grpc.ClientDuplexStream<_com_cisco_wcc_ccai_media_v1_VoiceVARequest, _com_cisco_wcc_ccai_media_v1_VoiceVAResponse__Output>;
  /**
   * One interaction of a call: one utterance, one key sequence or one event, with its answer. A call is many of these
   * RPCs with the same conversation id (G-10), and two of them may be open at once (G-50). The half-close of the
   * platform ends the interaction, never the call (G-12); the connector completes each RPC itself (G-13).
   */
  processCallerInput(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_com_cisco_wcc_ccai_media_v1_VoiceVARequest, _com_cisco_wcc_ccai_media_v1_VoiceVAResponse__Output>;
  processCallerInput(options?: grpc.CallOptions): grpc.ClientDuplexStream<_com_cisco_wcc_ccai_media_v1_VoiceVARequest, _com_cisco_wcc_ccai_media_v1_VoiceVAResponse__Output>;
  
}

export interface VoiceVirtualAgentHandlers extends grpc.UntypedServiceImplementation {
  /**
   * The agents an administrator may choose from (G-05).
   */
  ListVirtualAgents: grpc.handleUnaryCall<_com_cisco_wcc_ccai_media_v1_ListVARequest__Output, _com_cisco_wcc_ccai_media_v1_ListVAResponse>;
  
  /**
   * One interaction of a call: one utterance, one key sequence or one event, with its answer. A call is many of these
   * RPCs with the same conversation id (G-10), and two of them may be open at once (G-50). The half-close of the
   * platform ends the interaction, never the call (G-12); the connector completes each RPC itself (G-13).
   */
  ProcessCallerInput: grpc.handleBidiStreamingCall<_com_cisco_wcc_ccai_media_v1_VoiceVARequest__Output, _com_cisco_wcc_ccai_media_v1_VoiceVAResponse>;
  
}

export interface VoiceVirtualAgentDefinition extends grpc.ServiceDefinition {
  ListVirtualAgents: MethodDefinition<_com_cisco_wcc_ccai_media_v1_ListVARequest, _com_cisco_wcc_ccai_media_v1_ListVAResponse, _com_cisco_wcc_ccai_media_v1_ListVARequest__Output, _com_cisco_wcc_ccai_media_v1_ListVAResponse__Output>
  ProcessCallerInput: MethodDefinition<_com_cisco_wcc_ccai_media_v1_VoiceVARequest, _com_cisco_wcc_ccai_media_v1_VoiceVAResponse, _com_cisco_wcc_ccai_media_v1_VoiceVARequest__Output, _com_cisco_wcc_ccai_media_v1_VoiceVAResponse__Output>
}
