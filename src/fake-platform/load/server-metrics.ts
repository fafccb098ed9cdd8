// Reads the metrics page of the server under load: CPU and memory, which all Prometheus clients name alike, and Parley's open calls if
// present.
import type { Clock } from '../../base/clock.ts';
import { isGoodStatus, refusalOf, RequestFailure, type SendRequest } from '../../base/http-exchange.ts';
import { readPage } from '../platform/read-page.ts';
import type { ServerSample } from './second-series.ts';

const LIMITS = { firstByteMs: 900, maxAnswerBytes: 4 * 1024 * 1024 };
const CPU = 'process_cpu_seconds_total';
const MEMORY = 'process_resident_memory_bytes';
const SESSIONS = 'parley_sessions_open';

/** Reads the page once. @throws RequestFailure when the page does not answer, and RangeError when it is not a metrics page. */
export async function sampleServer(url: string, clock: Clock, send: SendRequest, signal: AbortSignal): Promise<ServerSample> {
  const page = await readPage({ clock, send, limits: LIMITS }, { method: 'GET', url, headers: {}, body: undefined }, signal);
  if (!isGoodStatus(page.status)) throw refusalOf(page, clock);
  const cpuSeconds = sumOf(page.text, CPU);
  const residentBytes = sumOf(page.text, MEMORY);
  if (cpuSeconds === undefined || residentBytes === undefined) throw new RangeError(`the page has no ${CPU} or no ${MEMORY}`);
  return { cpuSeconds, residentBytes, sessions: sumOf(page.text, SESSIONS), sampledAtMs: clock.monotonicMs() };
}

/** Why a sample failed, as the rest of a sentence that begins with "the metrics page …". */
export function sampleFailure(error: unknown): string {
  return error instanceof RequestFailure || error instanceof RangeError ? error.message : 'cannot be read';
}

/** The sum of all series with this name; undefined without any. */
function sumOf(page: string, name: string): number | undefined {
  const found = [...page.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (?<value>\\S+)`, 'gmu'))].map(({ groups }) =>
    Number(groups?.['value']),
  );
  return found.length === 0 ? undefined : found.reduce((sum, value) => sum + value, 0);
}
