// Somebody with a browser who agrees to what the authorization page asks: opens it, presses its button and follows it back to
// the application, as a person would. For demos and tests without a person. Knows the page by its one form.
import { sendRequest } from '../../base/http-send.ts';

const FORM = /<form method="post" action="(?<action>[^"]*)">/u;
const CONSENT = /<input type="hidden" name="consent" value="(?<consent>[^"]*)">/u;

interface Page {
  readonly status: number;
  /** Where it leads; null when it leads nowhere. */
  readonly location: string | null;
  readonly text: string;
}

/**
 * Agrees, and resolves when the application has shown its own page.
 *
 * @param url - of the authorization page, with what is asked for.
 * @throws Error without the address, which holds the state of the login, when it comes to no good end.
 */
export async function agreeInBrowser(url: string, signal: AbortSignal): Promise<void> {
  const asked = await load(url, signal);
  const action = FORM.exec(asked.text)?.groups?.['action'];
  const consent = CONSENT.exec(asked.text)?.groups?.['consent'];
  if (asked.status !== 200 || action === undefined || consent === undefined) {
    throw new Error(`the authorization page has no button to press (status ${String(asked.status)})`);
  }
  const pressed = await load(new URL(action, url).href, signal, new URLSearchParams({ consent }));
  if (pressed.location === null) throw new Error(`the button leads nowhere (status ${String(pressed.status)})`);
  const back = await load(pressed.location, signal);
  if (back.status !== 200) throw new Error(`the application did not take what the browser brought (status ${String(back.status)})`);
}

async function load(url: string, signal: AbortSignal, form?: URLSearchParams): Promise<Page> {
  try {
    const pressing = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: String(form) } as const;
    const page = await sendRequest(url, {
      redirect: 'manual',
      signal,
      ...(form === undefined ? { method: 'GET', headers: {} } : pressing),
    });
    return { status: page.status, location: page.headers.get('location'), text: await page.text() };
  } catch (cause) {
    throw new Error(`the page of the login ${signal.aborted ? 'did not come in time' : 'cannot be reached'}`, { cause });
  }
}
