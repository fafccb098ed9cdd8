// A login of the integration: a person authorizes it in a browser, the browser returns to this machine with a code, and the code is
// exchanged for tokens. The state and, if the platform supports it, PKCE bind these steps together. Stores nothing.
import { calculatePKCECodeChallenge, generateRandomCodeVerifier, generateRandomState, validateAuthResponse } from 'oauth4webapi';
import { linkAbort, waitAtMost } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { scrub } from '../../base/scrub.ts';
import type { OAuthTokens } from '../tokens.ts';
import type { LoginEnd } from './login-page.ts';
import { openRedirectServer, redirectAddress } from './redirect-server.ts';
import type { TokenRequests } from './token-request.ts';

/** Default of {@link LoginOptions.limitMs}, ms. */
const LIMIT_MS = 5 * 60_000;
/** Empty lines after which the login address is shown again; a further empty line ends the login. */
const MAX_EMPTY = 10;

export interface LoginOptions {
  /** Requests with the client of the integration. */
  readonly requests: TokenRequests;
  /** Exactly as registered with the platform: https, or http on loopback with a port. */
  readonly redirectUri: string;
  /** `HOST:PORT` to listen on when a proxy forwards the redirect; default: those of an http redirect address. */
  readonly listen?: string | undefined;
  /** When given, nothing listens; instead a person is asked for the address at which the browser ended. */
  readonly paste?: AskForReturn | undefined;
  /** The scopes to request. */
  readonly scopes: readonly string[];
  /** Whether the platform supports PKCE. Default true. */
  readonly pkce?: boolean | undefined;
  readonly clock: Clock;
  /** Shows the login address or opens a browser; called again after an empty line. Its error ends the login as `login_failed`. */
  readonly show: (url: string) => void | Promise<void>;
  /** Limit for the whole login, ms. Default: five minutes. */
  readonly limitMs?: number | undefined;
}

/**
 * Asks for the address at which the browser ended, or for the code in that address; undefined at the end of the input.
 *
 * @param isAgain - whether the previous input did not belong to this login.
 */
export type AskForReturn = (isAgain: boolean, signal: AbortSignal) => Promise<string | undefined>;

const STALE: LoginEnd = {
  status: 400,
  title: 'Not this login',
  text: 'This answer does not belong to the login that is under way. Go back to where you started it, and use its newest address.',
};

/**
 * Logs in. Listens only during the login, or asks a person for the address at which the browser ended.
 *
 * @throws AppError `login_failed` (refused, too late, aborted, cannot listen), `config_invalid` for an invalid redirect address, or an
 * https one when nothing receives the redirect, and what {@link TokenRequests.exchange} throws.
 */
export async function login(options: LoginOptions, signal: AbortSignal): Promise<OAuthTokens> {
  const { requests, clock, show, paste, limitMs = LIMIT_MS } = options;
  const address = redirectAddress(options.redirectUri);
  const whole = linkAbort(signal);
  const attempt = new LoginAttempt(options, whole.signal);
  const server =
    paste === undefined ? await openRedirectServer(listeningAt(address, options), clock, (url) => attempt.take(url)) : undefined;
  try {
    const url = new URL(requests.server.authorization_endpoint ?? '');
    for (const [name, value] of Object.entries({
      response_type: 'code',
      client_id: requests.client.client_id,
      redirect_uri: options.redirectUri,
      scope: options.scopes.join(' '),
      state: attempt.state,
      ...(await challengeOf(attempt)),
    })) {
      url.searchParams.set(name, value);
    }
    const showIt = (): Promise<void> => shown(show, url.href);
    const waited = await waitAtMost(
      showIt().then(() => (paste === undefined ? attempt.tokens : pasted(attempt, address, { paste, showIt }, whole.signal))),
      limitMs,
      clock,
      whole.signal,
    );
    if (waited.kind === 'value') return waited.value;
    const why = waited.kind === 'timeout' ? `nobody finished it within ${String(Math.round(limitMs / 1000))} seconds` : 'it was given up';
    throw new AppError('login_failed', `the login did not come to its end: ${why}`);
  } finally {
    // Aborts an exchange that nobody waits for any more.
    whole.abort('deadline');
    whole.dispose();
    await server?.close();
  }
}

/** The address at which the redirect arrives. */
function listeningAt(address: URL, { listen }: Pick<LoginOptions, 'listen'>): URL {
  const written = `http://${listen ?? ''}${address.pathname}`;
  if (listen !== undefined && URL.canParse(written)) return new URL(written);
  if (listen === undefined && address.protocol === 'http:') return address;
  throw new AppError('config_invalid', 'nobody receives the return of the browser: listen at HOST:PORT, or have its address pasted');
}

async function pasted(
  attempt: LoginAttempt,
  address: URL,
  { paste, showIt }: { readonly paste: AskForReturn; readonly showIt: () => Promise<void> },
  signal: AbortSignal,
): Promise<OAuthTokens> {
  let [isAgain, empty] = [false, 0];
  while (!attempt.isTaken) {
    const text = (await paste(isAgain, signal))?.trim();
    if (text === undefined || (text === '' && empty === MAX_EMPTY))
      throw new AppError('login_failed', 'nobody gave the address that the browser ended at');
    isAgain = text !== '';
    if (!isAgain) {
      // Shown again for a person who comes to this terminal later.
      empty += 1;
      await showIt();
      continue;
    }
    // A code may contain a colon, and would then parse as an address with a scheme of its own.
    const isAddress = /^https?:\/\//iu.test(text) && URL.canParse(text);
    const url = new URL(isAddress ? text : address);
    // Only the code was pasted: PKCE proves that it belongs to this login.
    if (!isAddress && attempt.codeVerifier !== undefined) {
      url.searchParams.set('code', text);
      url.searchParams.set('state', attempt.state);
    }
    await attempt.take(url);
  }
  return attempt.tokens;
}

/** The PKCE challenge, against which the platform checks the verifier when the code is exchanged. */
async function challengeOf({ codeVerifier }: LoginAttempt): Promise<Readonly<Record<string, string>>> {
  if (codeVerifier === undefined) return {};
  return { code_challenge: await calculatePKCECodeChallenge(codeVerifier), code_challenge_method: 'S256' };
}

async function shown(show: LoginOptions['show'], url: string): Promise<void> {
  try {
    await show(url);
  } catch (thrown) {
    // The error of a program that opens browsers may quote the address, which contains the state.
    throw thrown instanceof AppError ? thrown : new AppError('login_failed', 'the address of the login could not be shown');
  }
}

/** One login, which the first answer with its state decides. */
class LoginAttempt {
  readonly state = generateRandomState();
  /** Undefined without PKCE. */
  readonly codeVerifier: string | undefined;
  readonly tokens: Promise<OAuthTokens>;
  readonly #options: LoginOptions;
  readonly #signal: AbortSignal;
  #resolve: (tokens: OAuthTokens) => void = () => undefined;
  #reject: (error: AppError) => void = () => undefined;
  #isTaken = false;

  constructor(options: LoginOptions, signal: AbortSignal) {
    this.#options = options;
    this.codeVerifier = options.pkce === false ? undefined : generateRandomCodeVerifier();
    this.#signal = signal;
    this.tokens = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // May reject before anybody waits for it.
    this.tokens.catch(() => undefined);
  }

  /** Whether an answer has decided this login. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  async take({ searchParams: answered }: URL): Promise<LoginEnd> {
    // An answer to another login, or a forged one, is ignored; otherwise anybody could end this login.
    if (this.#isTaken || answered.getAll('state').join() !== this.state) return STALE;
    this.#isTaken = true;
    try {
      this.#resolve(await this.#exchanged(answered));
      return { status: 200, title: 'Logged in', text: 'You may close this page.' };
    } catch (thrown) {
      const error = toAppError(thrown, 'login_failed', 'the login failed');
      this.#reject(error);
      return { status: 400, title: 'The login failed', text: error.message };
    }
  }

  async #exchanged(answered: URLSearchParams): Promise<OAuthTokens> {
    const { requests, redirectUri } = this.#options;
    const said = ['error', 'error_description'].flatMap((name) => answered.getAll(name)).join(': ');
    if (said !== '') {
      const secrets = [this.state, this.codeVerifier ?? [], answered.getAll('code')].flat();
      throw new AppError('login_failed', `the platform did not agree to the login: ${scrub(said, secrets)}`);
    }
    const callback = this.#checked(answered);
    return requests.exchange({ callback, redirectUri, codeVerifier: this.codeVerifier }, this.#signal);
  }

  #checked(answered: URLSearchParams): URLSearchParams {
    const { server, client } = this.#options.requests;
    try {
      const callback = validateAuthResponse(server, client, answered, this.state);
      if (callback.getAll('code').length === 1) return callback;
    } catch {
      // The library's errors quote the answer with its code.
    }
    throw new AppError('login_failed', 'the browser came back with an answer that is none of this login');
  }
}
