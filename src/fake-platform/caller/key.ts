// The keys of a phone as characters. The mapper knows their numbers on the wire.

/** Every key, in the order of a phone with the fourth column. */
export const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '0', '*', '#', 'A', 'B', 'C', 'D'] as const;

export type Key = (typeof KEYS)[number];

/** The key of a character, or undefined; lower case counts as upper case. */
export function keyOf(character: string): Key | undefined {
  return KEYS.find((key) => key === character.toUpperCase());
}

/** The keys of a text such as `1234#`, or undefined when a character is no key or the text is empty. */
export function keysOf(text: string): readonly Key[] | undefined {
  const keys = [...text].map(keyOf).filter((key) => key !== undefined);
  return keys.length === 0 || keys.length !== [...text].length ? undefined : keys;
}
