// The values in a data source's token besides the nonce: url, schema, audience and subject, as registered. Pure comparison; knows neither
// the platform nor the store.

/** The members of a data source that its tokens carry (J-17, J-19). */
export const REGISTERED_VALUES = ['url', 'schemaId', 'audience', 'subject'] as const;

/** The values that a data source was registered with. A token has the values from when it was issued. */
export type RegisteredValues = Readonly<Record<(typeof REGISTERED_VALUES)[number], string>>;

/** Picks these values from a larger object. */
export function valuesOf({ url, schemaId, audience, subject }: RegisteredValues): RegisteredValues {
  return { url, schemaId, audience, subject };
}

/** The values of a record; members that it lacks come from `known`. */
export function valuesIn(
  record: { readonly [Member in keyof RegisteredValues]?: string | undefined },
  known: RegisteredValues,
): RegisteredValues {
  const { url = known.url, schemaId = known.schemaId, audience = known.audience, subject = known.subject } = record;
  return { url, schemaId, audience, subject };
}

/** Compares character for character, as the token check does. */
export function areSameValues(one: RegisteredValues, other: RegisteredValues): boolean {
  return REGISTERED_VALUES.every((member) => one[member] === other[member]);
}
