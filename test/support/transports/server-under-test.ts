// What transports over real sockets have in common: one real server whose time stands still, with its token check on.
import { FakeClock } from '../fake-clock.ts';
import { RunningServer, type ServerOptions } from '../running-server.ts';
import type { TransportUnderTest } from './placed-call.ts';

/** Starts a server and waits until it has spoken what it says itself. */
export async function serverUnderTest(
  options: Pick<ServerOptions, 'flags' | 'dataSources'>,
): Promise<{ readonly server: RunningServer; readonly transport: Omit<TransportUnderTest, 'place'> }> {
  const clock = new FakeClock();
  const server = await RunningServer.start({ ...options, clock });
  await server.app.warmed;
  const transport: Omit<TransportUnderTest, 'place'> = {
    advance: (ms) => clock.advanceAsync(ms),
    log: () => JSON.stringify(server.log),
    quiet: () => server.quiet(),
    close: () => server.close(),
  };
  return { server, transport };
}
