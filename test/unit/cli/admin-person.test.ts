import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { linkAbort } from '../../../src/base/abort.ts';
import { AppError } from '../../../src/base/errors.ts';
import { personAt, type Person } from '../../../src/cli/admin/person.ts';
import { within } from '../../support/until.ts';
import { never } from '../../support/voice.ts';

interface Sitting {
  readonly person: Person;
  readonly input: PassThrough;
  /** What was asked. */
  readonly asked: () => string;
}

function sitting(): Sitting {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const person = personAt({ input, output, isInteractive: true });
  return { person, input, asked: () => String(output.read() ?? '') };
}

const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  within(
    'it fails',
    work.then(() => undefined).catch((thrown: unknown) => thrown),
  );

describe('a question', () => {
  it.each([
    ['y\n', true],
    ['YES\n', true],
    [' yes \n', true],
    ['\n', false],
    ['n\n', false],
    ['yesterday\n', false],
  ])('takes %j for %s', async (answer, isYes) => {
    const { person, input, asked } = sitting();
    const confirmed = person.confirms('Really?', never());
    input.write(answer);
    expect(await within('it is answered', confirmed)).toBe(isYes);
    expect(asked()).toBe('Really? [y/N] ');
  });

  it('takes the end of the input for a no, and does not wait any longer', async () => {
    const { person, input } = sitting();
    const confirmed = person.confirms('Really?', never());
    input.end();
    expect(await within('it is answered', confirmed)).toBe(false);
  });

  it('is given up when nobody wants the answer any more', async () => {
    const { person } = sitting();
    const over = linkAbort();
    const confirmed = person.confirms('Really?', over.signal);
    over.abort('shutdown');
    expect(await within('it is given up', confirmed)).toBe(false);
    expect(await person.confirms('Really?', over.signal)).toBe(false);
  });
});

describe('the standard input', () => {
  it('is read to its end', async () => {
    const { person, input } = sitting();
    const read = person.readInput(100, never());
    input.write('one ');
    input.end('two');
    expect(await within('it is read', read)).toBe('one two');
  });

  it('is read up to a bound, and not repeated', async () => {
    const { person, input } = sitting();
    const failed = failureOf(person.readInput(5, never()));
    input.write('CANARY');
    expect(await failed).toMatchObject({ code: 'config_invalid', message: 'the standard input is longer than 5 bytes' });
  });

  it('is given up when the time is over', async () => {
    const { person, input } = sitting();
    const over = linkAbort();
    const failed = failureOf(person.readInput(100, over.signal));
    input.write('half');
    over.abort('deadline');
    const failure = await failed;
    expect(failure).toBeInstanceOf(AppError);
    expect(failure).toMatchObject({ code: 'config_invalid', message: 'the standard input did not end in time, or cannot be read' });
    expect(await failureOf(sitting().person.readInput(100, over.signal))).toMatchObject({ code: 'config_invalid' });
  });
});
