// Failures that reach nobody, because a bot or a library forgot a promise or threw in a timer of its own. Node would print
// them with their message, which may hold what a caller typed (G-68), and end every call with the process.
import { systemClock } from '../base/clock.ts';
import { LinePacer } from '../base/line-pacer.ts';
import type { Logger } from '../base/log.ts';

/**
 * Logs such failures and Node's warnings without their messages, for as long as the process lives. A rejected promise harms nobody else, so
 * the process goes on. After an exception nothing is sure any more.
 *
 * @param onException - called at the first exception; is to stop the process in order.
 */
export function catchStrayFailures(log: Logger, onException: () => void): void {
  const pacer = new LinePacer<'warning'>(systemClock);
  // Node's own listener prints them as they are.
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
