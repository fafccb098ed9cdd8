// A process of a load, started by the fleet. Its work is in another file, which takes a second to load: how the process behaves must
// be settled before that.
import { fail } from './worker-report.ts';

// The one that started this process says what is to be done, and ends it by leaving; signals that go to all processes of a
// service or of a terminal are for that one.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.once('disconnect', () => process.exit(0));
process.once('uncaughtException', (error) => {
  fail(error, () => process.exit(1));
});
await import('./worker-duty.ts');
