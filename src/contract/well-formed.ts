// Text that can be sent. A JavaScript string may hold half of a surrogate pair (a text cut in the middle of an emoji);
// protobufjs 7.6 writes it as bytes that are no UTF-8, and a strict receiver refuses the whole message for it.

/** The text with every unpaired surrogate replaced by U+FFFD. */
export function wellFormed(text: string): string {
  // With the u flag the class matches lone surrogates only, never halves of a pair.
  return text.replace(/[\uD800-\uDFFF]/gu, '\uFFFD');
}
