// A login of the integration: a person authorizes it in a browser, which returns to this machine with a code, which is exchanged for
// tokens. State and, where the platform supports it, PKCE bind the three together. Stores nothing.
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
/** Empty lines after which the address is shown again; at the next one the login is given up. */
const MAX_EMPTY = 10;

export interface LoginOptions {
  /** Requests for the integration. */
  readonly requests: TokenRequests;
  /** Exactly as registered with the platform; https, or http on loopback with a port. */
  readonly redirectUri: string;
  /** `HOST:PORT` to listen on when a proxy passes the redirect on; default: that of an http redirect address. */
  readonly listen?: string | undefined;
  /** If given, nothing listens, and a person is asked for the address where the browser ended. */
  readonly paste?: AskForReturn | undefined;
  /** The scopes to request. */
  readonly scopes: readonly string[];
  /** Whether the platform supports PKCE. Default true. */
  readonly pkce?: boolean | undefined;
  readonly clock: Clock;
  /** Shows the address to a person, or opens a browser; again after an empty line. An error ends the login as `login_failed`. */
  readonly show: (url: string) => void | Promise<void>;
  /** Limit for all steps, ms. Default five minutes. */
  readonly limitMs?: number | undefined;
}

/**
 * Asks for the address where the browser ended, or for the code in it; undefined at the end of the input.
 *
 * @param isAgain - the previous input does not belong to this login.
 */
export type AskForReturn = (isAgain: boolean, signal: AbortSignal) => Promise<string | undefined>;

const STALE: LoginEnd = {
  status: 400,
  title: 'Not this login',
  text: 'This answer does not belong to the login that is under way. Go back to where you started it, and use its newest address.',
};

/**
 * Logs in. Listens only as long as necessary, or asks a person for the address where the browser ended.
 *
 * @throws AppError `login_failed` (refused, too late, aborted, cannot listen), `config_invalid` for an invalid redirect
 * address, or an https one that nobody receives, and what {@link TokenRequests.exchange} throws.
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
    // Ends an exchange that nobody waits for any more.
    whole.abort('deadline');
    whole.dispose();
    await server?.close();
  }
}

/** Where the browser's redirect arrives. */
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
      // A person who comes to this terminal later has not seen it.
      empty += 1;
      await showIt();
      continue;
    }
    // A code may have a colon, and then parses as an address with its own scheme.
    const isAddress = /^https?:\/\//iu.test(text) && URL.canParse(text);
    const url = new URL(isAddress ? text : address);
    // The code alone: PKCE proves that it belongs to this login.
    if (!isAddress && attempt.codeVerifier !== undefined) {
      url.searchParams.set('code', text);
      url.searchParams.set('state', attempt.state);
    }
    await attempt.take(url);
  }
  return attempt.tokens;
}

/** The challenge, with which the platform compares the verifier in the exchange of the code. */
async function challengeOf({ codeVerifier }: LoginAttempt): Promise<Readonly<Record<string, string>>> {
  if (codeVerifier === undefined) return {};
  return { code_challenge: await calculatePKCECodeChallenge(codeVerifier), code_challenge_method: 'S256' };
}

async function shown(show: LoginOptions['show'], url: string): Promise<void> {
  try {
    await show(url);
  } catch (thrown) {
    // The error of whoever opens browsers may quote the address, and with it the state.
    throw thrown instanceof AppError ? thrown : new AppError('login_failed', 'the address of the login could not be shown');
  }
}

/** One login: the first answer with its state decides it. */
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
    // It may fail before anybody waits for it.
    this.tokens.catch(() => undefined);
  }

  /** Whether an answer has decided it. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  async take({ searchParams: answered }: URL): Promise<LoginEnd> {
    // An answer to another login, or a forged one, does not end this one: otherwise anybody could.
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
      // The library's errors carry the answer, code included.
    }
    throw new AppError('login_failed', 'the browser came back with an answer that is none of this login');
  }
}
