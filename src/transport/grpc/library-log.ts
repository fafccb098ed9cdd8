// What the gRPC library says of its own accord, in our log: that it said something and what about, never its words. They
// repeat the headers of strangers, tokens among them, before any check and as fast as headers come.
import { logVerbosity, setLogger, setLogVerbosity } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import { LinePacer } from '../../base/line-pacer.ts';
import type { Logger } from '../../base/log.ts';

/** How the library begins what it says of a header that it leaves out (`Metadata.fromHttp2Headers` of grpc-js 1.14). */
const BAD_HEADER = 'Failed to add metadata entry ';

/** Takes the library's log, which is one for the whole process, from now on. Whatever its environment variables say. */
export function routeLibraryLog(log: Logger, clock: Clock): void {
  const pacer = new LinePacer<'header' | 'other'>(clock);
  // Not typed further by the library.
  const write = (message?: unknown): void => {
    const isHeader = typeof message === 'string' && message.startsWith(BAD_HEADER);
    const leftOut = pacer.next(isHeader ? 'header' : 'other');
    if (leftOut === undefined) return;
    if (isHeader) log.warn({ leftOut }, 'a header of an RPC has characters that no header may have, and counts as not sent');
    else log.warn({ leftOut }, 'the gRPC library reports a fault; its words may hold what strangers sent, and are left out');
  };
  setLogVerbosity(logVerbosity.ERROR);
  setLogger({ error: write, info: write, debug: write });
}
