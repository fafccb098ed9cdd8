import { describe, expect, it } from 'vitest';
import type { Controlled } from '../../../src/app/control/commands.ts';
import { controlText, isDone } from '../../../src/cli/control/control-text.ts';
import { REPORT } from '../../support/fake-workers.ts';

const READY = { ready: true, reasons: [] };
const NOW_MS = Date.UTC(2027, 0, 1);

function answer(more: Partial<Controlled> = {}): Controlled {
  return { readiness: READY, processes: [REPORT], silent: 0, ...more };
}

describe('the text of parley control', () => {
  it('shows each process, what was reloaded, and the traced calls once', () => {
    const traced = (isHere: boolean) => [{ conversationId: 'call', untilMs: NOW_MS + 600_000, isHere }];
    const reloaded = { taken: ['certificate'], unchanged: [], refused: [{ what: 'bots', why: 'no' }], needRestart: ['sessions.max'] };
    const idle = { taken: [], unchanged: ['log.level'], refused: [], needRestart: [] };
    const text = controlText(
      answer({
        readiness: { ready: false, reasons: ['starting', 'drained'] },
        processes: [
          { ...REPORT, traced: traced(false), reloaded },
          { ...REPORT, process: 'worker 2', logLevel: 'debug', logLevelUntilMs: NOW_MS + 60_000, traced: traced(true), reloaded: idle },
        ],
        silent: 1,
      }),
      NOW_MS,
    );
    expect(text.split('\n')).toEqual([
      'not ready: starting, drained',
      '1 of its processes did not answer',
      '',
      'PROCESS   SERVER  VERSION  PID   SINCE                 READY  CALLS  TURNS  LOG LEVEL',
      'worker 1  a       1        1001  1970-01-01T00:00:00Z  yes    0      0      info',
      'worker 2  a       1        1001  1970-01-01T00:00:00Z  yes    0      0      debug until 2027-01-01T00:01:00Z (in 1 minute)',
      '',
      'TRACED  UNTIL',
      'call    2027-01-01T00:10:00Z (in 10 minutes)',
      '',
      'worker 1  certificate is in use',
      'worker 1  bots stays as it was: no',
      'worker 1  sessions.max has changed and needs a restart',
      'worker 2  nothing has changed',
      '',
    ]);
  });

  it.each([
    ['status', answer(), true],
    ['status', answer({ silent: 1 }), false],
    ['drain', answer({ readiness: { ready: false, reasons: ['drained'] } }), true],
    ['drain', answer(), false],
    ['undrain', answer({ readiness: { ready: false, reasons: ['keys_unavailable'] } }), true],
    ['undrain', answer({ readiness: { ready: false, reasons: ['draining'] } }), false],
    ['reload', answer({ processes: [{ ...REPORT, reloaded: { taken: [], unchanged: [], refused: [], needRestart: ['a'] } }] }), true],
    [
      'reload',
      answer({ processes: [{ ...REPORT, reloaded: { taken: [], unchanged: [], refused: [{ what: 'a', why: 'b' }], needRestart: [] } }] }),
      false,
    ],
  ] as const)('%s is done or not: %j', (kind, given, done) => {
    expect(isDone(kind, given)).toBe(done);
  });
});
