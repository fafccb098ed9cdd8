// The enums of the wire under neutral names, and keys as characters. Mapped by name, because the same name has
// different numbers in different enums.
import { DTMF_DIGITS } from './gen/wire.ts';

/** Events of the platform. SESSION_END is 2 here and 1 in {@link EVENT_OUTPUT}; CUSTOM_EVENT is 5 here and 3 there. */
export { EVENT_INPUT } from './gen/wire.ts';
/** Events of the server. */
export { EVENT_OUTPUT } from './gen/wire.ts';
/** Allowed kinds of the next input (G-80, G-81). */
export { INPUT_MODE } from './gen/wire.ts';
/** FINAL is 0, the default of a response without a type. */
export { RESPONSE_TYPE } from './gen/wire.ts';
/** State of a service in the platform's own health service. */
export { SERVING_STATUS } from './gen/wire.ts';
/** Encodings of caller audio. */
export { VOICE_ENCODING } from './gen/wire.ts';

/** Number of each key on the wire: `0` is 10, `*` 15, `#` 16 (G-66). */
export const DTMF_KEY = {
  '0': DTMF_DIGITS.DTMF_DIGIT_ZERO,
  '1': DTMF_DIGITS.DTMF_DIGIT_ONE,
  '2': DTMF_DIGITS.DTMF_DIGIT_TWO,
  '3': DTMF_DIGITS.DTMF_DIGIT_THREE,
  '4': DTMF_DIGITS.DTMF_DIGIT_FOUR,
  '5': DTMF_DIGITS.DTMF_DIGIT_FIVE,
  '6': DTMF_DIGITS.DTMF_DIGIT_SIX,
  '7': DTMF_DIGITS.DTMF_DIGIT_SEVEN,
  '8': DTMF_DIGITS.DTMF_DIGIT_EIGHT,
  '9': DTMF_DIGITS.DTMF_DIGIT_NINE,
  A: DTMF_DIGITS.DTMF_DIGIT_A,
  B: DTMF_DIGITS.DTMF_DIGIT_B,
  C: DTMF_DIGITS.DTMF_DIGIT_C,
  D: DTMF_DIGITS.DTMF_DIGIT_D,
  '*': DTMF_DIGITS.DTMF_DIGIT_STAR,
  '#': DTMF_DIGITS.DTMF_DIGIT_POUND,
} as const;

const CHARACTERS: ReadonlyMap<number, string> = new Map(Object.entries(DTMF_KEY).map(([character, number]) => [number, character]));

/** The key of a number on the wire; undefined for 0 (unspecified) and for numbers this version does not know (G-90). */
export function dtmfCharacter(number: number): string | undefined {
  return CHARACTERS.get(number);
}

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(DTMF_DIGITS).flatMap(([name, number]) => {
    const character = CHARACTERS.get(number);
    return character === undefined ? [] : [[name, character] as const];
  }),
);
const NAME_OF: ReadonlyMap<string, string> = new Map([...NAMES].map(([name, character]) => [character, name]));

/** The key of a name on the wire, where keys travel as names; undefined for names this version does not know. */
export function dtmfCharacterOfName(name: string): string | undefined {
  return NAMES.get(name);
}

/** The name of a key. @throws TypeError for a character that is no key. */
export function dtmfNameOf(character: string): string {
  const name = NAME_OF.get(character);
  if (name === undefined) throw new TypeError('no such key');
  return name;
}
