// Original file: proto/health.proto


// Original file: proto/health.proto

/**
 * Unlike the standard service there is no number for an unknown service name.
 */
export const _com_cisco_wcc_ccai_v1_HealthCheckResponse_ServingStatus = {
  UNKNOWN: 0,
  SERVING: 1,
  NOT_SERVING: 2,
} as const;

/**
 * Unlike the standard service there is no number for an unknown service name.
 */
export type _com_cisco_wcc_ccai_v1_HealthCheckResponse_ServingStatus =
  | 'UNKNOWN'
  | 0
  | 'SERVING'
  | 1
  | 'NOT_SERVING'
  | 2

/**
 * Unlike the standard service there is no number for an unknown service name.
 */
export type _com_cisco_wcc_ccai_v1_HealthCheckResponse_ServingStatus__Output = typeof _com_cisco_wcc_ccai_v1_HealthCheckResponse_ServingStatus[keyof typeof _com_cisco_wcc_ccai_v1_HealthCheckResponse_ServingStatus]

export interface HealthCheckResponse {
  'status'?: (_com_cisco_wcc_ccai_v1_HealthCheckResponse_ServingStatus);
}

export interface HealthCheckResponse__Output {
  'status'?: (_com_cisco_wcc_ccai_v1_HealthCheckResponse_ServingStatus__Output);
}
