// Original file: proto/byova_common.proto


/**
 * One agent.
 */
export interface VirtualAgentInfo {
  /**
   * Stable across restarts: the platform stores it in a flow and sends it back later (G-06).
   */
  'virtual_agent_id'?: (string);
  /**
   * What an administrator reads when choosing.
   */
  'virtual_agent_name'?: (string);
  /**
   * At most one agent is the default (G-07).
   */
  'is_default'?: (boolean);
  'attributes'?: ({[key: string]: string});
}

/**
 * One agent.
 */
export interface VirtualAgentInfo__Output {
  /**
   * Stable across restarts: the platform stores it in a flow and sends it back later (G-06).
   */
  'virtual_agent_id'?: (string);
  /**
   * What an administrator reads when choosing.
   */
  'virtual_agent_name'?: (string);
  /**
   * At most one agent is the default (G-07).
   */
  'is_default'?: (boolean);
  'attributes'?: ({[key: string]: string});
}
