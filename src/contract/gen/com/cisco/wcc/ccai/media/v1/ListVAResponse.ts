// Original file: proto/byova_common.proto

import type { VirtualAgentInfo as _com_cisco_wcc_ccai_media_v1_VirtualAgentInfo, VirtualAgentInfo__Output as _com_cisco_wcc_ccai_media_v1_VirtualAgentInfo__Output } from '../../../../../../com/cisco/wcc/ccai/media/v1/VirtualAgentInfo.ts';

/**
 * All agents of the organization. An empty list is legal and shows the administrator nothing (G-05).
 */
export interface ListVAResponse {
  'virtual_agents'?: (_com_cisco_wcc_ccai_media_v1_VirtualAgentInfo)[];
}

/**
 * All agents of the organization. An empty list is legal and shows the administrator nothing (G-05).
 */
export interface ListVAResponse__Output {
  'virtual_agents'?: (_com_cisco_wcc_ccai_media_v1_VirtualAgentInfo__Output)[];
}
