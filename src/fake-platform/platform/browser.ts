// Somebody with a browser who agrees to what the authorization page asks: opens it, presses its button and follows it back to
// the application, as a person would. For demos and tests without a person. Knows the page by its one form.
import { systemClock } from '../../base/clock.ts';
import { exchange, RequestFailure, type HttpRequest } from '../../base/http-exchange.ts';
import { sendRequest } from '../../base/http-send.ts';

const LIMITS = { firstByteMs: 10_000, maxAnswerBytes: 100_000 };
const FORM = /<form method="post" action="(?<action>[^"]*)">/u;
const CONSENT = /<input type="hidden" name="consent" value="(?<consent>[^"]*)">/u;

interface Page {
  readonly status: number;
  readonly location: string | undefined;
  readonly text: string;
}

/**
 * Agrees, and resolves when the application has shown its own page.
 *
 * @param url - of the authorization page, with what is asked for.
 * @throws Error without the address, which holds the state of the login, when it comes to no good end.
 */
export async function agreeInBrowser(url: string, signal: AbortSignal): Promise<void> {
  const asked = await load({ method: 'GET', url, headers: {}, body: undefined }, signal);
  const action = FORM.exec(asked.text)?.groups?.['action'];
  const consent = CONSENT.exec(asked.text)?.groups?.['consent'];
  if (asked.status !== 200 || action === undefined || consent === undefined) {
    throw new Error(`the authorization page has no button to press (status ${String(asked.status)})`);
  }
  const pressed = await load(
    {
      method: 'POST',
      url: new URL(unescaped(action), url).href,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ consent: unescaped(consent) }).toString(),
    },
    signal,
  );
  if (pressed.location === undefined) throw new Error(`the button leads nowhere (status ${String(pressed.status)})`);
  const back = await load({ method: 'GET', url: pressed.location, headers: {}, body: undefined }, signal);
  if (back.status !== 200) throw new Error(`the application did not take what the browser brought (status ${String(back.status)})`);
}

async function load(request: HttpRequest, signal: AbortSignal): Promise<Page> {
  try {
    return await exchange(
      { clock: systemClock, send: sendRequest, limits: LIMITS },
      request,
      signal,
      async ({ status, headers, chunks }) => {
        const parts: Uint8Array[] = [];
        for await (const chunk of chunks) parts.push(chunk);
        return { status, location: headers.get('location') ?? undefined, text: Buffer.concat(parts).toString() };
      },
    );
  } catch (thrown) {
    if (thrown instanceof RequestFailure) throw new Error(`the page of the login ${thrown.message}`, { cause: thrown });
    throw thrown;
  }
}

/** The page writes special characters by their numbers. */
function unescaped(text: string): string {
  return text.replace(/&#(?<code>\d{1,7});/gu, (_all, code: string) => String.fromCodePoint(Number(code)));
}
