// Announces the words of callers to running fake models, so that their recognizer understands them.
import { abortAfter } from '../../base/abort.ts';
import { systemClock } from '../../base/clock.ts';
import { RequestFailure } from '../../base/http-exchange.ts';
import { sendRequest } from '../../base/http-send.ts';
import type { Step } from '../caller/script.ts';
import { readPage } from '../platform/read-page.ts';
import type { Said } from './said-words.ts';

/** Longest wait for the answer to one announcement, ms. */
const LIMIT_MS = 10_000;
const READER = { clock: systemClock, send: sendRequest, limits: { firstByteMs: LIMIT_MS, maxAnswerBytes: 65_536 } };

/**
 * Announces the words of these steps, and their audio, to the fake models at an address.
 * @param url - as `parley models` prints it. Undefined: announces nothing.
 * @throws RangeError with a sentence for the user when no fake models answer at the address.
 */
export async function announceWords(url: string | undefined, steps: readonly Step[]): Promise<void> {
  if (url === undefined) return;
  const said = new Map(
    steps.flatMap((step) => (step.kind === 'say' && step.words !== undefined ? [[step.words, step.mulaw] as const] : [])),
  );
  for (const [words, mulaw] of said) await announce(url, { words, mulaw: Buffer.from(mulaw).toString('base64') });
}

async function announce(url: string, said: Said): Promise<void> {
  const whole = abortAfter(LIMIT_MS, systemClock);
  try {
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', url: `${url.replace(/\/$/u, '')}/said`, headers, body: JSON.stringify(said) } as const;
    const { status } = await readPage(READER, request, whole.signal);
    if (status !== 204) throw new RequestFailure('bad_answer', `answered with status ${String(status)}`);
  } catch (thrown) {
    if (!(thrown instanceof RequestFailure)) throw thrown;
    const message = `no fake models answer at ${url}: \`parley models\` starts some and prints their address`;
    throw new RangeError(message, { cause: thrown });
  } finally {
    whole.dispose();
  }
}
