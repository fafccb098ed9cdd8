// Calls on sockets that several checks share, beside those of all transports. Judges nothing.
import type { Acts } from '../survey.ts';
import { eventOf, type SocketCall } from './socket-call.ts';

/** How long a server may take to close a socket whose caller has hung up, ms (W-28). */
export const HANG_UP_MS = 9000;

/** The acts by name. */
export const SOCKET_ACTS: Acts<SocketCall> = { 'hang-up': hangUpAndWait };

/** Hangs up after the welcome, and lets the server close. */
async function hangUpAndWait(call: SocketCall): Promise<void> {
  const welcome = await call.begin();
  if (welcome.final === undefined) return;
  await call.heardOut(welcome);
  call.open('session_end', eventOf('SESSION_END'));
  await call.socket.until(() => call.socket.isOver, HANG_UP_MS);
  await call.close();
}
