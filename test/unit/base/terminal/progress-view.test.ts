// How far a long command is: plain lines now and then where there is no terminal, and one line drawn over itself on one.
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { progressView } from '../../../../src/base/terminal/progress-view.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

it('draws a bar on a terminal, above which failures stay', () => {
  const drawn: string[] = [];
  const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  terminal.on('data', (part: Buffer) => drawn.push(part.toString()));
  const said: string[] = [];
  const view = progressView({
    progress: terminal,
    clock: systemClock,
    complain: (line) => said.push(line),
  });
  view.show(1, 4, 'checks, 0 failed');
  view.say('FAIL one: because');
  view.show(4, 4, 'checks, 1 failed');
  view.stop();
  expect(said).toEqual(['FAIL one: because']);
  expect(drawn.join('')).toContain('1 of 4 checks, 0 failed');
  expect(drawn.join('')).toContain('4 of 4 checks, 1 failed');
});

it('says now and then how far it is where there is no terminal', () => {
  const clock = new FakeClock();
  const said: string[] = [];
  const view = progressView({ clock, complain: (line) => said.push(line) });
  view.show(1, 4, 'checks');
  clock.advance(10_000);
  view.show(2, 4, 'checks');
  view.show(3, 4, 'checks');
  view.say('FAIL one: because');
  view.stop();
  expect(said).toEqual(['2 of 4 checks', 'FAIL one: because']);
});
