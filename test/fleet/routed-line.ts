// The line of a caller whose turns go to the servers that are named for them, one by one, as a load balancer that nobody can foresee
// would send them. Lost turns are not its business.
import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/clock.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { ConnectionPool } from '../../src/fake-platform/load/connection-pool.ts';
import type { Line } from '../../src/fake-platform/lines/line.ts';
import { parseTarget } from '../../src/fake-platform/lines/target.ts';
import type { CallIdentity } from '../../src/fake-platform/lines/to-wire.ts';
import type { FleetAccess } from './caller-messages.ts';

const CONNECT_LIMIT_MS = 5000;
/** More than any test holds. */
const CALLS_PER_CONNECTION = 200;

/** Connections to several servers. Whoever makes them closes them. */
export class Routes {
  readonly #pools: readonly ConnectionPool[];

  constructor(accesses: readonly FleetAccess[], clock: Clock = systemClock) {
    this.#pools = accesses.map(
      ({ target, token, certificatePem }) =>
        new ConnectionPool(
          {
            ...{ target: parseTarget(target), profile: loadProfile('fake'), token, clock, connectLimitMs: CONNECT_LIMIT_MS },
            ...(certificatePem === '' ? {} : { certificateAuthority: Buffer.from(certificatePem) }),
          },
          CALLS_PER_CONNECTION,
        ),
    );
  }

  /** A line of one call. @param serverOf - the server of its n-th RPC, counted from 0; both begin anew with each line. */
  line(identity: CallIdentity, serverOf: (rpc: number) => number): Line {
    const lines = new Map<number, Line>();
    let opened = 0;
    return {
      open: (listener) => {
        const server = serverOf(opened) % this.#pools.length;
        opened += 1;
        const line = lines.get(server) ?? this.#pools[server]?.line(identity);
        if (line === undefined) throw new RangeError('there is no such server');
        lines.set(server, line);
        return line.open(listener);
      },
      close: () => {
        for (const line of lines.values()) line.close();
      },
    };
  }

  close(): void {
    for (const pool of this.#pools) pool.close();
  }
}
