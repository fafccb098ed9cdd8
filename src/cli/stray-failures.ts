// Errors that nobody handles, because a bot or a library forgot a promise or threw in a timer. Node would print their message, which may
// hold what a caller typed (G-68), and would end the process with all its calls.
import { systemClock } from '../base/clock.ts';
import { LinePacer } from '../base/line-pacer.ts';
import type { Logger } from '../base/log.ts';

/**
 * Logs unhandled errors and Node's warnings without their messages, for the life of the process. The process goes on after an unhandled
 * rejection. After an unhandled exception its state is uncertain.
 * @param onException - called at the first exception; must stop the process, and may finish calls.
 */
export function catchStrayFailures(log: Logger, onException: () => void): void {
  const pacer = new LinePacer<'warning'>(systemClock);
  // Node's own listener would print warnings unchanged.
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    const leftOut = pacer.next('warning');
    if (leftOut !== undefined) log.warn({ leftOut, warning: warning.name, err: warning }, 'Node warns of something in this process');
  });
  let isBroken = false;
  process.on('unhandledRejection', (reason) => {
    log.error({ err: reason }, 'a promise was rejected that nobody waits for; read where, and mend it');
  });
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'something threw outside of any call; read where, and mend it');
    if (isBroken) return;
    isBroken = true;
    onException();
  });
}
