// A running administration side for one test, with the few requests that every test of it makes. Over real sockets: what
// a client of the platform would see.
import { decodeJwt } from 'jose';
import { loadProfile } from '../../../../src/contract/profile.ts';
import { startAdminApi, type AdminApi, type AdminApiOptions } from '../../../../src/fake-platform/platform/admin-api.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

export const profile = loadProfile('fake');
/** A customer organization. */
export const ORG = '0f148aa0-1111-4222-8333-444455556666';
/** Another one. */
export const OTHER_ORG = '0f148aa0-9999-4222-8333-444455556666';

/** An answer whose body was read. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON of the body; an empty object when there is none. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** How to ask. */
export interface Question {
  readonly token?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is. */
  readonly body?: string;
}

/** An administration side under the test's clock. The test closes it. */
export class RunningApi {
  readonly clock = new FakeClock();
  readonly api: AdminApi;

  private constructor(api: AdminApi, clock: FakeClock) {
    this.api = api;
    this.clock = clock;
  }

  static async start(options: Partial<AdminApiOptions> = {}): Promise<RunningApi> {
    const clock = new FakeClock();
    // Whoever looks at signatures brings a real issuer.
    const issuer = { issueToken: () => Promise.resolve('header.claims.signature') };
    return new RunningApi(await startAdminApi({ profile, issuer, clock, ...options }), clock);
  }

  /** `METHOD PATH`, the path below the base or a whole address. Redirects are not followed. */
  async ask(question: string, { token, json, form, headers, body }: Question = {}): Promise<Reply> {
    const [method = '', path = ''] = question.split(' ');
    const content = json === undefined ? (form === undefined ? body : new URLSearchParams(form)) : JSON.stringify(json);
    const response = await fetch(path.startsWith('http') ? path : this.api.baseUrl + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, headers: response.headers, text, json: isJson ? (JSON.parse(text) as Reply['json']) : {} };
  }

  /** A service-app token of an organization, which authorizes the app first when it has not. */
  async serviceToken(organizationId = ORG, app = this.api.serviceApp): Promise<string> {
    this.api.authorize(organizationId, app);
    const { json, text } = await this.askServiceToken({ targetOrgId: organizationId }, app);
    if (typeof json['access_token'] !== 'string') throw new Error(`no token: ${text}`);
    return json['access_token'];
  }

  /** The request for a service-app token, with whatever is changed about it. */
  askServiceToken(changes: Readonly<Record<string, unknown>> = {}, app = this.api.serviceApp): Promise<Reply> {
    const { access_token: token } = this.api.logIn();
    const { clientId, clientSecret } = app;
    return this.ask(`POST /applications/${this.api.ids.encode('APPLICATION', clientId)}/token`, {
      token,
      json: { clientId, clientSecret, targetOrgId: ORG, ...changes },
    });
  }

  close(): Promise<void> {
    return this.api.close();
  }
}

/** A good registration. */
export const REGISTRATION = {
  audience: 'an audience',
  subject: 'a subject',
  nonce: 'nonce-1',
  schemaId: profile.schemas.grpc,
  url: 'http://127.0.0.1:50051',
  tokenLifetimeMinutes: 60,
} as const;

/** The descriptions of a refusal. */
export function descriptions({ json }: Reply): readonly string[] {
  const { errors } = json;
  return Array.isArray(errors) ? errors.map((error: { readonly description: string }) => error.description) : [];
}

/** Claims of a token, unchecked. */
export function claimsOf(token: unknown): Readonly<Record<string, unknown>> {
  if (typeof token !== 'string') throw new TypeError('there is no token');
  return decodeJwt(token);
}
