import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { HealthClient as _com_cisco_wcc_ccai_v1_HealthClient, HealthDefinition as _com_cisco_wcc_ccai_v1_HealthDefinition } from './com/cisco/wcc/ccai/v1/Health.ts';
import type { HealthCheckRequest as _com_cisco_wcc_ccai_v1_HealthCheckRequest, HealthCheckRequest__Output as _com_cisco_wcc_ccai_v1_HealthCheckRequest__Output } from './com/cisco/wcc/ccai/v1/HealthCheckRequest.ts';
import type { HealthCheckResponse as _com_cisco_wcc_ccai_v1_HealthCheckResponse, HealthCheckResponse__Output as _com_cisco_wcc_ccai_v1_HealthCheckResponse__Output } from './com/cisco/wcc/ccai/v1/HealthCheckResponse.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  com: {
    cisco: {
      wcc: {
        ccai: {
          v1: {
            Health: SubtypeConstructor<typeof grpc.Client, _com_cisco_wcc_ccai_v1_HealthClient> & { service: _com_cisco_wcc_ccai_v1_HealthDefinition }
            HealthCheckRequest: MessageTypeDefinition<_com_cisco_wcc_ccai_v1_HealthCheckRequest, _com_cisco_wcc_ccai_v1_HealthCheckRequest__Output>
            HealthCheckResponse: MessageTypeDefinition<_com_cisco_wcc_ccai_v1_HealthCheckResponse, _com_cisco_wcc_ccai_v1_HealthCheckResponse__Output>
          }
        }
      }
    }
  }
}

