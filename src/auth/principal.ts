// Who a verified token speaks for. Holds nothing of the token itself, so it may be kept and logged.

/** The two ways the platform delivers calls; a token is good for one of them (J-2E). */
export type TokenTransport = 'grpc' | 'websocket';

/** Whom a verified token speaks for. */
export interface Principal {
  /** The customer organization, spelled as in the token. */
  readonly organizationId: string;
  /** The data source whose registered values the token matched. */
  readonly dataSourceId: string;
  readonly transport: TokenTransport;
}

/** Whether the organization that a message names is the one that the token speaks for (G-08). Compared character for character. */
export function speaksFor(principal: Principal, customerOrgId: string): boolean {
  return principal.organizationId === customerOrgId;
}
