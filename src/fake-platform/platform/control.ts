// The commands for a running fake platform. Each one parses its input and calls the same methods as tests do. Knows no sockets and no key;
// server.ts checks the key.
import { decodeJwt } from 'jose';
import type { Issuer } from './issuer.ts';
import { CONTROL, type ControlAnswer, type ControlName, type ShownDataSource } from './control-wire.ts';
import type { DataSourceRecord } from './data-source-book.ts';
import type { Fault } from './faults.ts';
import type { Platform } from './platform.ts';
import { parsed, Refusal } from './refusal.ts';
import type { RouteName } from './route.ts';

/** The methods of an issuer beyond signing valid tokens. An issuer that only signs does not have them. */
export type ForgingIssuer = Partial<Pick<Issuer, 'forge' | 'rotateKey' | 'keySetAnswers'>>;

/** Commands by name; the argument is the request body. They throw {@link Refusal}. */
export type ControlCommands = { readonly [Name in ControlName]: (body: unknown) => ControlAnswer<Name> | Promise<ControlAnswer<Name>> };

export function controlCommands(platform: Platform, issuer: ForgingIssuer): ControlCommands {
  const organizationOf = (written: string): string => {
    const organizationId = platform.ids.decodeOrganization(written);
    if (organizationId === undefined) throw new Refusal(400, 'this is no id of an organization: it is a UUID, or base64 of one');
    return organizationId;
  };
  const askedOrganization = (schema: (typeof CONTROL)['authorize']['request'], body: unknown): string =>
    organizationOf(parsed(schema, body).organizationId);
  const listenersTo = (event: string): number =>
    platform.webhooks().filter((webhook) => webhook.status === 'active' && webhook.event === event).length;
  /** @throws Refusal 409 when the organization has no data source whose token can be presented. */
  const presentedOf = (organizationId: string, transport: 'grpc' | 'websocket' | undefined): DataSourceRecord => {
    const all = platform.dataSources(organizationId);
    const meant = all.filter(({ schemaId }) => transportOf(schemaId) === (transport ?? 'grpc'));
    const kind = transport === undefined ? 'data source' : `${transport} data source`;
    return presented(transport === undefined && meant.length === 0 ? all : meant, { organizationId, kind }, platform.nowMs());
  };
  const transportOf = (schemaId: string): ShownDataSource['transport'] => {
    const protocol = platform.schemas.find(({ id }) => id === schemaId)?.protocol;
    return protocol === undefined ? 'unknown' : protocol === 'gRPC' ? 'grpc' : 'websocket';
  };
  const shown = ({ id, orgId, schemaId, url, status, errorMessage, tokenExpiryTime, updatedAt }: DataSourceRecord): ShownDataSource => {
    return { id, organizationId: orgId, transport: transportOf(schemaId), url, status, errorMessage, tokenExpiryTime, updatedAt };
  };

  return {
    status: (body) => {
      parsed(CONTROL.status.request, body);
      const organizations = platform.authorizations().map(({ organizationId, date }) => ({ organizationId, authorizedAt: date }));
      return {
        organizations,
        dataSources: platform.dataSources().map(shown),
        webhooks: platform.webhooks().map(({ id, event, targetUrl, status }) => ({ id, event, targetUrl, status })),
        faults: platform.faults.planned.map(({ fault, route, left }) => ({ kind: kindOf(fault), route, left })),
        skewMs: platform.switches.skewMs,
      };
    },
    authorize: (body) => {
      const organizationId = askedOrganization(CONTROL.authorize.request, body);
      platform.authorize(organizationId);
      return { organizationId, listeners: listenersTo('authorized') };
    },
    deauthorize: (body) => {
      const organizationId = askedOrganization(CONTROL.deauthorize.request, body);
      if (!platform.deauthorize(organizationId))
        throw new Refusal(404, `organization ${organizationId} has not authorized the service app`);
      return { organizationId, listeners: listenersTo('deauthorized') };
    },
    break: (body) => ({ count: play(platform, organizationOf, body) }),
    mend: (body) => {
      parsed(CONTROL.mend.request, body);
      const faults = platform.faults.planned.length;
      platform.faults.clear();
      platform.switches.skewMs = 0;
      return { faults };
    },
    forge: (body) => {
      const { claims, header, by, organizationId, transport } = parsed(CONTROL.forge.request, body);
      const { jwsToken } = presentedOf(organizationOf(organizationId), transport);
      return { token: own(issuer.forge)({ claims: { ...decodeJwt(jwsToken), ...claims }, header: header, by }) };
    },
    rotate: async (body) => {
      parsed(CONTROL.rotate.request, body);
      await own(issuer.rotateKey)();
      return {};
    },
    keys: (body) => {
      parsed(CONTROL.keys.request, body);
      return { requests: own(issuer.keySetAnswers)() };
    },
    token: (body) => {
      const { organizationId: written, transport } = parsed(CONTROL.token.request, body);
      const organizationId = organizationOf(written);
      const { id, jwsToken, tokenExpiryTime } = presentedOf(organizationId, transport);
      return { organizationId, dataSourceId: id, tokenExpiryTime, token: jwsToken };
    },
  };
}

/** @throws Refusal 409 when the issuer only signs. */
function own<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Refusal(409, 'the issuer of this platform signs honest tokens only');
  return part;
}

/** The name that a fault has in commands. */
function kindOf(fault: Fault): string {
  if (fault.kind === 'answer') return String(fault.status);
  return { hang: 'timeout', cut: 'cut', lost_answer: 'lost-answer', refused_after_all: 'refused-after-all' }[fault.kind];
}

/** Orders a failure. @returns the number of things that failed at once; 0 for failures that are still to come. */
function play(platform: Platform, organizationOf: (written: string) => string, body: unknown): number {
  const order = parsed(CONTROL.break.request, body);
  switch (order.kind) {
    case '500':
      return plan(platform, order, { kind: 'answer', status: 500 });
    case '429':
      return plan(platform, order, { kind: 'answer', status: 429, retryAfterSeconds: order.retryAfterSeconds });
    case 'timeout':
      return plan(platform, order, { kind: 'hang' });
    case 'lost-answer':
      return plan(platform, order, { kind: 'lost_answer' });
    case 'clock-skew':
      platform.switches.skewMs = order.seconds * 1000;
      return 0;
    case 'refresh-tokens': {
      // Access tokens end, too: they live for days, and without that the failure would not show until then.
      if (order.organizationId !== undefined) {
        return platform.revokeTokens(platform.serviceApp.clientId, 'both', organizationOf(order.organizationId));
      }
      return platform.revokeTokens(platform.integration.clientId) + platform.revokeTokens(platform.serviceApp.clientId);
    }
    case 'data-source': {
      const { organizationId, errorMessage } = order;
      const active = platform.dataSources(organizationOf(organizationId)).filter(({ status }) => status === 'active');
      return active.filter(({ id }) => platform.disableDataSource(id, errorMessage)).length;
    }
  }
}

function plan({ faults }: Platform, { route, times }: { readonly route: RouteName | 'any'; readonly times: number }, fault: Fault): number {
  try {
    faults.add(route, fault, times);
  } catch (thrown) {
    // Too many faults are waiting; `mend` drops them.
    throw thrown instanceof RangeError ? new Refusal(409, thrown.message) : thrown;
  }
  return 0;
}

/** The data source whose token the platform presents: active, and with an unexpired token (J-03). Of several, the newest one. */
function presented(
  all: readonly DataSourceRecord[],
  { organizationId, kind }: { readonly organizationId: string; readonly kind: string },
  nowMs: number,
): DataSourceRecord {
  if (all.length === 0) throw new Refusal(409, `organization ${organizationId} has no ${kind}: the server has not registered one`);
  const active = all.filter(({ status }) => status === 'active');
  if (active.length === 0) throw new Refusal(409, `the ${kind} of organization ${organizationId} is disabled`);
  const found = active.findLast(({ tokenExpiryTime }) => Date.parse(tokenExpiryTime) > nowMs);
  if (found !== undefined) return found;
  throw new Refusal(409, `the token of organization ${organizationId} has ended, and the server has not renewed it`);
}
