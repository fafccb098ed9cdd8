// The entry of a worker process, which the fleet starts. Handles signals before it loads worker-duty.ts, which has the work and takes a
// second to load.
import { fail } from './worker-report.ts';

// The parent sends orders, and ends this process by closing the channel. A signal to the whole process group, as from a service or a
// terminal, is for the parent.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.once('disconnect', () => process.exit(0));
process.once('uncaughtException', (error) => fail(error, () => process.exit(1)));
await import('./worker-duty.ts');
