// Original file: proto/health.proto


export interface HealthCheckRequest {
  /**
   * Name of the service asked about; empty means the whole server.
   */
  'service'?: (string);
}

export interface HealthCheckRequest__Output {
  /**
   * Name of the service asked about; empty means the whole server.
   */
  'service'?: (string);
}
