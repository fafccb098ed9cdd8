// Original file: proto/health.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { HealthCheckRequest as _com_cisco_wcc_ccai_v1_HealthCheckRequest, HealthCheckRequest__Output as _com_cisco_wcc_ccai_v1_HealthCheckRequest__Output } from '../../../../../com/cisco/wcc/ccai/v1/HealthCheckRequest.ts';
import type { HealthCheckResponse as _com_cisco_wcc_ccai_v1_HealthCheckResponse, HealthCheckResponse__Output as _com_cisco_wcc_ccai_v1_HealthCheckResponse__Output } from '../../../../../com/cisco/wcc/ccai/v1/HealthCheckResponse.ts';

export interface HealthClient extends grpc.Client {
  /**
   * The state now.
   */
  Check(argument: _com_cisco_wcc_ccai_v1_HealthCheckRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>): grpc.ClientUnaryCall;
  Check(argument: _com_cisco_wcc_ccai_v1_HealthCheckRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>): grpc.ClientUnaryCall;
  Check(argument: _com_cisco_wcc_ccai_v1_HealthCheckRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>): grpc.ClientUnaryCall;
  Check(argument: _com_cisco_wcc_ccai_v1_HealthCheckRequest, callback: grpc.requestCallback<_com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>): grpc.ClientUnaryCall;
  /**
   * The state now.
   */
  check(argument: _com_cisco_wcc_ccai_v1_HealthCheckRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>): grpc.ClientUnaryCall;
  check(argument: _com_cisco_wcc_ccai_v1_HealthCheckRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>): grpc.ClientUnaryCall;
  check(argument: _com_cisco_wcc_ccai_v1_HealthCheckRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>): grpc.ClientUnaryCall;
  check(argument: _com_cisco_wcc_ccai_v1_HealthCheckRequest, callback: grpc.requestCallback<_com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * The state now, and again whenever it changes.
   */
  Watch(argument: _com_cisco_wcc_ccai_v1_HealthCheckRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>;
  Watch(argument: _com_cisco_wcc_ccai_v1_HealthCheckRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>;
  /**
   * The state now, and again whenever it changes.
   */
  watch(argument: _com_cisco_wcc_ccai_v1_HealthCheckRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>;
  watch(argument: _com_cisco_wcc_ccai_v1_HealthCheckRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>;
  
}

export interface HealthHandlers extends grpc.UntypedServiceImplementation {
  /**
   * The state now.
   */
  Check: grpc.handleUnaryCall<_com_cisco_wcc_ccai_v1_HealthCheckRequest__Output, _com_cisco_wcc_ccai_v1_HealthCheckResponse>;
  
  /**
   * The state now, and again whenever it changes.
   */
  Watch: grpc.handleServerStreamingCall<_com_cisco_wcc_ccai_v1_HealthCheckRequest__Output, _com_cisco_wcc_ccai_v1_HealthCheckResponse>;
  
}

export interface HealthDefinition extends grpc.ServiceDefinition {
  Check: MethodDefinition<_com_cisco_wcc_ccai_v1_HealthCheckRequest, _com_cisco_wcc_ccai_v1_HealthCheckResponse, _com_cisco_wcc_ccai_v1_HealthCheckRequest__Output, _com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>
  Watch: MethodDefinition<_com_cisco_wcc_ccai_v1_HealthCheckRequest, _com_cisco_wcc_ccai_v1_HealthCheckResponse, _com_cisco_wcc_ccai_v1_HealthCheckRequest__Output, _com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>
}
