// Original file: proto/byova_common.proto


/**
 * Asks for the agents an organization may choose from (G-05).
 */
export interface ListVARequest {
  /**
   * Organization id, a plain UUID; must be the one the token speaks for (G-08).
   */
  'customer_org_id'?: (string);
  'is_default_virtual_agent_enabled'?: (boolean);
}

/**
 * Asks for the agents an organization may choose from (G-05).
 */
export interface ListVARequest__Output {
  /**
   * Organization id, a plain UUID; must be the one the token speaks for (G-08).
   */
  'customer_org_id'?: (string);
  'is_default_virtual_agent_enabled'?: (boolean);
}
