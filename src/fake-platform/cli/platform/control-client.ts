// Asks a running fake platform on this machine to do something, with the control key that this platform stored.
import { z } from 'zod';
import { abortAfter } from '../../../base/abort.ts';
import { systemClock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import { RequestFailure } from '../../../base/http-exchange.ts';
import { sendRequest } from '../../../base/http-send.ts';
import { parseJson } from '../../../base/json.ts';
import { CONTROL, CONTROL_PREFIX, type ControlAnswer, type ControlName, type ControlRequest } from '../../platform/control-wire.ts';
import { readPage } from '../../platform/read-page.ts';
import { controlKeyOf, notRunning } from './control-key.ts';

const refusal = z.object({ message: z.string(), errors: z.array(z.object({ description: z.string() })) });
/** Longest wait for the whole answer, ms. */
const LIMIT_MS = 10_000;
const READER = { clock: systemClock, send: sendRequest, limits: { firstByteMs: LIMIT_MS, maxAnswerBytes: 4 * 1024 * 1024 } };

/**
 * Sends a command to the platform on a port.
 *
 * @throws AppError `platform_unavailable` when no platform of the user runs there, `platform_refused` with the platform's message,
 *   `platform_answer_invalid`.
 */
export async function control<Name extends ControlName>(
  port: number,
  name: Name,
  request: ControlRequest<Name>,
): Promise<ControlAnswer<Name>> {
  const key = await controlKeyOf(port);
  const { status, body } = await post(port, name, key, JSON.stringify(request));
  if (status !== 200) throw refusedBy(port, status, body);
  const answer = CONTROL[name].answer.safeParse(body);
  // The cast is safe: this schema parses to the type of its name; the compiler cannot follow the name through the table.
  if (answer.success) return answer.data as ControlAnswer<Name>;
  throw new AppError('platform_answer_invalid', `what answers on port ${String(port)} is no fake platform of this version`);
}

async function post(port: number, name: string, key: string, body: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const url = `http://127.0.0.1:${String(port)}${CONTROL_PREFIX}/${name}`;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const whole = abortAfter(LIMIT_MS, systemClock);
  try {
    const { status, text } = await readPage(READER, { method: 'POST', url, headers, body }, whole.signal);
    return { status, body: parseJson(text) };
  } catch (thrown) {
    if (!(thrown instanceof RequestFailure)) throw thrown;
    if (thrown.systemCode === 'ECONNREFUSED') throw notRunning(port);
    throw new AppError('platform_unavailable', `the fake platform on port ${String(port)} ${thrown.message}`, { cause: thrown });
  } finally {
    whole.dispose();
  }
}

function refusedBy(port: number, status: number, body: unknown): AppError {
  // Our platform was killed, and another user's platform has taken the port.
  if (status === 401) return notRunning(port);
  return new AppError('platform_refused', messageOf(body) ?? `what listens on port ${String(port)} answered with status ${String(status)}`);
}

/** The message of the platform, with its details. */
function messageOf(body: unknown): string | undefined {
  const said = refusal.safeParse(body).data;
  return said === undefined ? undefined : [...new Set([said.message, ...said.errors.map(({ description }) => description)])].join(': ');
}
