// The page on which a developer allows an integration to act for them: with a button for people, or without for tests. An unknown client or
// redirect address is an error on this page; all other errors are redirected to the client, as OAuth demands.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { escaped } from '../../base/html-text.ts';
import type { Consent } from './authorization-codes.ts';
import { BoundedMap } from './bounded-map.ts';
import type { Platform } from './platform.ts';
import type { Answer, OpenRoute } from './route.ts';

interface Pending {
  readonly consent: Consent;
  readonly state: string | undefined;
}

const MAX_PENDING = 100;
const MAX_CHARS = 2000;

const text = z.string().min(1).max(MAX_CHARS);
const who = z.object({ client_id: text, redirect_uri: text });
const what = z.object({
  response_type: z.literal('code'),
  scope: text,
  state: text.optional(),
  code_challenge: z
    .string()
    .regex(/^[\w-]{43}$/u)
    .optional(),
  code_challenge_method: z.literal('S256').optional(),
  auto: z.string().optional(),
});
const button = z.strictObject({ consent: text });

/** `GET` shows the page or redirects; `POST` comes from the page's button. */
export function authorizeRoutes({ apps, codes, switches, names, prefix }: Platform): readonly OpenRoute[] {
  const pending = new BoundedMap<string, Pending>(MAX_PENDING);

  const ask = (query: unknown): Answer => {
    const asker = who.safeParse(query);
    const client = asker.success ? apps.integration(asker.data.client_id) : undefined;
    if (!asker.success || client === undefined) return page(400, 'No such application', '<p>Nobody here is known by this client_id.</p>');
    const redirectUri = asker.data.redirect_uri;
    if (!client.redirectUris.includes(redirectUri)) {
      return page(400, 'Not there', '<p>The redirect_uri is none of those that the application has registered.</p>');
    }
    const state = z.object({ state: text }).safeParse(query).data?.state;
    const refuse = (error: string, description: string): Answer => back(redirectUri, { error, error_description: description, state });
    const wish = what.safeParse(query);
    if (!wish.success) return refuse(...wishFault(wish.error));
    const { code_challenge: codeChallenge, code_challenge_method: method } = wish.data;
    // Without `code_challenge_method`, the standard means `plain`, which is not supported.
    if ((codeChallenge === undefined) !== (method === undefined)) return refuse('invalid_request', 'code_challenge needs S256');
    const scopes = wish.data.scope.split(' ');
    if (!scopes.every((scope) => client.scopes.includes(scope))) return refuse('invalid_scope', 'a scope is not one of the application');
    if (switches.consent === 'deny') return refuse('access_denied', 'the developer did not consent');
    const consent: Consent = { clientId: client.clientId, redirectUri, scopes, codeChallenge };
    if (switches.consent === 'auto' || wish.data.auto !== undefined) return back(redirectUri, { code: codes.issue(consent), state });
    const id = randomUUID();
    pending.set(id, { consent, state });
    return page(200, 'Let the application act for you?', consentForm(prefix + names.rest.authorizePath, id, scopes));
  };

  const press = (body: unknown): Answer => {
    const pressed = button.safeParse(body);
    const found = pressed.success ? pending.get(pressed.data.consent) : undefined;
    if (!pressed.success || found === undefined) return page(400, 'Too late', '<p>Begin again where you came from.</p>');
    pending.delete(pressed.data.consent);
    return back(found.consent.redirectUri, { code: codes.issue(found.consent), state: found.state });
  };

  const paths = [names.rest.authorizePath];
  return [
    { name: 'GET /authorize', paths, needs: 'nothing', answer: ({ query }) => ask(query) },
    { name: 'POST /authorize', paths, needs: 'nothing', takes: 'form', answer: ({ body }) => press(body) },
  ];
}

/** OAuth's name for what is wrong with a request, and a description. */
function wishFault({ issues }: z.ZodError): [error: string, description: string] {
  const names = issues.map(({ path }) => String(path[0]));
  if (names.includes('response_type')) return ['unsupported_response_type', 'response_type must be code'];
  if (names.includes('scope')) return ['invalid_scope', 'the scope is missing'];
  return ['invalid_request', `${names.join(', ')} cannot be read`];
}

function back(redirectUri: string, parameters: Readonly<Record<string, string | undefined>>): Answer {
  const location = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) location.searchParams.set(name, value);
  // 303, so that the browser does not repeat the POST at the client.
  return { status: 303, headers: { location: location.href } };
}

function consentForm(action: string, id: string, scopes: readonly string[]): string {
  const items = scopes.map((scope) => `<li>${escaped(scope)}</li>`).join('');
  const input = `<input type="hidden" name="consent" value="${escaped(id)}">`;
  return `<ul>${items}</ul><form method="post" action="${escaped(action)}">${input}<button>Allow</button></form>`;
}

function page(status: number, title: string, content: string): Answer {
  const head = `<head><meta charset="utf-8"><title>${escaped(title)}</title></head>`;
  return { status, html: `<!doctype html><html lang="en">${head}<body><h1>${escaped(title)}</h1>${content}</body></html>` };
}
