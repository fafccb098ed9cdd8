// Makes text well-formed Unicode. A string may contain half of a surrogate pair (a cut emoji); protobufjs 7.6 encodes
// it as invalid UTF-8, and a strict receiver refuses the whole message.

/** The text with every unpaired surrogate replaced by U+FFFD. */
export function wellFormed(text: string): string {
  // With the u flag the class matches only lone surrogates.
  return text.replace(/[\uD800-\uDFFF]/gu, '\uFFFD');
}
