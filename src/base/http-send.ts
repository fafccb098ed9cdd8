// One HTTP request through Node's own client, which distinguishes a truncated answer from a complete one. The `fetch` of Node 20 to 24
// takes a chunked answer without its last chunk for complete when the service had said `connection: close`.
import { request as plain, type IncomingMessage } from 'node:http';
import { request as secure } from 'node:https';
import { RequestFailure, type RequestBody, type SendRequest } from './http-exchange.ts';

/** Statuses whose answers have no body. */
const WITHOUT_BODY: readonly number[] = [204, 205, 304];

/**
 * Sends a request; redirects are not followed and nothing is decompressed. Reading the answer's body throws when it ends
 * before its `content-length` or its last chunk.
 *
 * @throws TypeError when no answer came, with the system's error as its cause; RequestFailure for a compressed answer, and for
 * one that switches protocols.
 */
export const sendRequest: SendRequest = async (url, { method, headers, body, signal }) => {
  const { bytes, contentType } = await encoded(body);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const send = url.startsWith('https:') ? secure : plain;
    const sending = send(url, { method, signal, headers: { accept: '*/*', 'accept-encoding': 'identity', ...contentType, ...headers } });
    sending.once('response', resolve);
    // Never removed: a request that is aborted while its answer comes in emits `error` a second time.
    sending.on('error', (cause) => {
      reject(new TypeError('the request failed', { cause }));
    });
    // An answer that switches protocols (101) emits neither `response` nor `error`, and Node closes the connection. Otherwise no effect.
    sending.once('close', () => {
      reject(new RequestFailure('unreachable', 'gave no answer before the connection closed'));
    });
    sending.end(bytes);
  });
  // A reader of the body gets the error; without a reader, this listener keeps it from ending the process.
  answer.on('error', () => undefined);
  const { statusCode: status = 0 } = answer;
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    answer.destroy();
    throw new RequestFailure('bad_answer', 'compressed its answer although it was asked not to');
  }
  const fields = new Headers();
  for (const [name, value] of Object.entries(answer.headersDistinct)) for (const one of value ?? []) fields.append(name, one);
  if (!WITHOUT_BODY.includes(status)) return new Response(answer, { status, headers: fields });
  answer.resume();
  return new Response(null, { status, headers: fields });
};

/** A body as bytes, so that its length is known and sent. For a form also the content type, which names the boundary. */
async function encoded(
  body: RequestBody | undefined,
): Promise<{ readonly bytes?: string | Uint8Array; readonly contentType?: Readonly<Record<string, string>> }> {
  if (body === undefined) return {};
  if (typeof body === 'string') return { bytes: body };
  const form = new Response(body);
  const type = form.headers.get('content-type');
  return { bytes: new Uint8Array(await form.arrayBuffer()), ...(type === null ? {} : { contentType: { 'content-type': type } }) };
}
