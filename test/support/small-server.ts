// The small server of the load's tests as a child process.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { SHORT_LIFE } from '../../scripts/node-flags.mjs';
import { compiledModule } from './compiled-program.ts';

/** A running one. Whoever starts it kills it. */
export interface SmallServer {
  readonly target: string;
  readonly process: ChildProcess;
}

/** Starts it on a free port. */
export async function startSmallServer(): Promise<SmallServer> {
  const child = fork(compiledModule('test/fixtures/load/small-server.ts'), { execArgv: SHORT_LIFE });
  const [port] = (await once(child, 'message')) as [number];
  return { target: `grpc://127.0.0.1:${String(port)}`, process: child };
}
