// A person with a browser who consents on the authorization page: opens the page, presses its button and follows the redirect to the
// application. For demos and tests without a person. Knows only this one page.
import { systemClock } from '../../base/clock.ts';
import { RequestFailure, type HttpRequest } from '../../base/http-exchange.ts';
import { sendRequest } from '../../base/http-send.ts';
import { readPage, type Page } from './read-page.ts';

const READER = { clock: systemClock, send: sendRequest, limits: { firstByteMs: 10_000, maxAnswerBytes: 100_000 } };
const FORM = /<form method="post" action="(?<action>[^"]*)">/u;
const CONSENT = /<input type="hidden" name="consent" value="(?<consent>[^"]*)">/u;

/**
 * Consents, and resolves when the application has shown its own page.
 * @param url - address of the authorization page, with its parameters.
 * @throws Error when a step fails. The error does not quote the address, which contains the state of the login.
 */
export async function agreeInBrowser(url: string, signal: AbortSignal): Promise<void> {
  const asked = await load(url, signal);
  const action = FORM.exec(asked.text)?.groups?.['action'];
  const consent = CONSENT.exec(asked.text)?.groups?.['consent'];
  if (asked.status !== 200 || action === undefined || consent === undefined) {
    throw new Error(`the authorization page has no button to press (status ${String(asked.status)})`);
  }
  const pressed = await load(new URL(action, url).href, signal, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams({ consent })),
  });
  const location = pressed.headers.get('location');
  if (location === null) throw new Error(`the button leads nowhere (status ${String(pressed.status)})`);
  const back = await load(location, signal);
  if (back.status !== 200) throw new Error(`the application did not take what the browser brought (status ${String(back.status)})`);
}

const OPENING = { method: 'GET', headers: {}, body: undefined } as const;

function load(url: string, signal: AbortSignal, request: Omit<HttpRequest, 'url'> = OPENING): Promise<Page> {
  return readPage(READER, { url, ...request }, signal).catch((thrown: unknown) => {
    if (thrown instanceof RequestFailure) throw new Error(`the page of the login ${thrown.message}`, { cause: thrown });
    throw thrown;
  });
}
