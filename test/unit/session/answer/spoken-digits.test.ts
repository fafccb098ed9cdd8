import { describe, expect, it } from 'vitest';
import { bot, go, say, type ListenOptions } from '../../../../src/bot/index.ts';
import { spokenDigits } from '../../../../src/session/answer/spoken-digits.ts';
import { testEngine } from '../../../support/engine.ts';
import { MemoryCall } from '../../../support/memory-transport.ts';
import { WHOLE_SENTENCE } from '../../../support/caller-audio.ts';

describe('spoken digits', () => {
  it.each([
    ['four two, oh nine', '4209'],
    ['4 2 0 9', '4209'],
    ['zero one two three four five six seven eight nine', '0123456789'],
    ['oh o nought', '000'],
    ['4209.', '4209'],
    ['Double five, triple zero!', '55000'],
    ['0171 - 555', '0171555'],
    ['star one pound', '*1#'],
    ['star one hash', '*1#'],
    ['B4', undefined],
    ['4b', undefined],
    ['four double', undefined],
    ['four two please', undefined],
    ['double', undefined],
    ['double double five', undefined],
    ['double 42', undefined],
    ['', undefined],
    ['...', undefined],
    ['1'.repeat(64), '1'.repeat(64)],
    ['1'.repeat(65), undefined],
  ])('reads "%s" as %s', (text, digits) => {
    expect(spokenDigits(text, 'en')).toBe(digits);
  });

  it.each([
    ['en', 'twenty-three, forty five', '2345'],
    ['en', 'nineteen ninety nine ten', '199910'],
    ['en', 'twenty thirty', '2030'],
    ['en-GB', 'double seven nought', '770'],
    ['es', 'veintitrés, cuarenta y cinco', '2345'],
    ['es-MX', 'cero uno treinta y un dieciséis', '013116'],
    ['es', 'doble cinco almohadilla', '55#'],
    ['es', 'o', undefined],
    ['de', 'Dreiundzwanzig fünfundvierzig', '2345'],
    ['de', 'zwo null einundzwanzig zwoundvierzig', '202142'],
    ['de', 'dreißig dreissig raute', '3030#'],
    ['de', 'sechs und zwanzig', undefined],
    ['fr', 'zéro six, douze, trente-quatre', '061234'],
    ['fr', 'vingt-et-un soixante et onze soixante-dix-neuf', '217179'],
    ['fr', 'quatre-vingt-dix-sept quatre-vingts quatre-vingt-un', '978081'],
    ['fr-CH', 'septante et un huitante-deux nonante', '718290'],
    ['fr', 'étoile un dièse', '*1#'],
    ['de', 'four two', undefined],
    ['it', '4 2', '42'],
    ['it', 'quattro due', undefined],
  ])('in %s reads "%s" as %s', (language, text, digits) => {
    expect(spokenDigits(text, language)).toBe(digits);
  });
});

describe('digits and speech in one listen', () => {
  async function heardOn(listen: ListenOptions, text: string | undefined): Promise<readonly (string | undefined)[]> {
    const asking = bot<null>({
      id: 'asking',
      name: 'Asking',
      version: 1,
      session_start: () => go(null, say('Your code?').listen(listen)),
      dtmf_input: (_, { digits, by }) => go(null, say(`${by} ${digits}`).listen()),
      speech_input: (_, event) => go(null, say(`words ${event.text ?? 'none'}`).listen()),
      otherwise: () => go(null, say('What?').listen()),
    });
    const recognizer = { recognize: () => Promise.resolve(text) };
    const { sessions, clock } = await testEngine([asking], { recognizer });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    return (await call.turn(...WHOLE_SENTENCE)).texts;
  }

  it('brings spoken digits to the handler of keys where digits were asked for', async () => {
    expect(await heardOn({ digits: 4 }, 'one two three four')).toContain('speech 1234');
  });

  it('leaves anything else to the handler of speech', async () => {
    expect(await heardOn({ digits: 4 }, 'I forgot it')).toContain('words I forgot it');
    expect(await heardOn({ digits: 4 }, undefined)).toContain('words none');
  });

  it('takes digits for words where nobody asked for digits', async () => {
    expect(await heardOn({}, 'one two')).toContain('words one two');
    expect(await heardOn({ digits: 4, accept: 'keys' }, 'one two')).toContain('words one two');
  });

  it('G-67 leaves the key away that ends the collection, spoken or pressed', async () => {
    expect(await heardOn({ digits: 6 }, 'one two three four pound')).toContain('speech 1234');
    expect(await heardOn({ digits: 6, terminator: 'none' }, 'one two pound')).toContain('speech 12#');
  });

  it('never listens less patiently to digits than its bot asks for', async () => {
    const patient = bot<null>({
      id: 'patient',
      name: 'Patient',
      version: 1,
      speech: { endSilenceMs: 3000, resumeGraceMs: 0 },
      session_start: () => go(null, say('Your code?').listen({ digits: 6 })),
      otherwise: () => go(null, say('What?').listen()),
    });
    const { sessions, clock } = await testEngine([patient]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    const { turn, sink } = await call.open(...WHOLE_SENTENCE);
    expect(sink.kinds).toEqual(['input_started']);
    turn.abort('hang_up');
  });
});
