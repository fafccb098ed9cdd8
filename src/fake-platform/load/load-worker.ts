// The entry of a worker process, which the fleet starts. Its work is in another file that takes a second to load; the process
// must handle signals before that.
import { fail } from './worker-report.ts';

// The parent process sends orders and ends this one by closing the channel; signals to a whole process group (a service,
// a terminal) are for the parent.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.once('disconnect', () => process.exit(0));
process.once('uncaughtException', (error) => fail(error, () => process.exit(1)));
await import('./worker-duty.ts');
