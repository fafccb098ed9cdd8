// Routes the log of the gRPC library to ours, without its texts: they quote headers of unauthenticated clients,
// including tokens, as fast as headers arrive.
import { logVerbosity, setLogger, setLogVerbosity } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import { LinePacer } from '../../base/line-pacer.ts';
import type { Logger } from '../../base/log.ts';

/** Prefix of the library's message about a dropped header (`Metadata.fromHttp2Headers` of grpc-js 1.14). */
const BAD_HEADER = 'Failed to add metadata entry ';

/** Routes the log of the whole process; overrides the library's environment variables. */
export function routeLibraryLog(log: Logger, clock: Clock): void {
  const pacer = new LinePacer<'header' | 'other'>(clock);
  const write = (message?: unknown): void => {
    const isHeader = typeof message === 'string' && message.startsWith(BAD_HEADER);
    const leftOut = pacer.next(isHeader ? 'header' : 'other');
    if (leftOut === undefined) return;
    if (isHeader) log.warn({ leftOut }, 'a header of an RPC has illegal characters and is ignored');
    else log.warn({ leftOut }, 'the gRPC library reports a fault; its text may repeat untrusted input and is not logged');
  };
  setLogVerbosity(logVerbosity.ERROR);
  setLogger({ error: write, info: write, debug: write });
}
