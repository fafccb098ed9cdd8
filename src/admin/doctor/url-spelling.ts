// Finds addresses that lead to the same place but are spelled differently. Tokens are compared character for character (J-19), so such a
// difference refuses every call, although people overlook it.

export type UrlComparison =
  | { readonly kind: 'same' }
  /** Both lead to the same place; `differences` are half sentences about the spelling. */
  | { readonly kind: 'spelling'; readonly differences: readonly string[] }
  | { readonly kind: 'other' };

/** Compares a registered address with the configured one. */
export function compareUrls(registered: string, configured: string): UrlComparison {
  if (registered === configured) return { kind: 'same' };
  if (meaningOf(registered) !== meaningOf(configured)) return { kind: 'other' };
  const differences = Object.entries(FEATURES).flatMap(([text, has]) => (has(registered) === has(configured) ? [] : [text]));
  return { kind: 'spelling', differences: differences.length > 0 ? differences : ['upper and lower case or escapes'] };
}

const FEATURES: Readonly<Record<string, (url: string) => boolean>> = {
  'the default port': (url) => /^(?:https|wss):\/\/[^/?#]*:443(?![0-9])|^(?:http|ws):\/\/[^/?#]*:80(?![0-9])/iu.test(url),
  'a slash at the end': (url) => url.endsWith('/'),
  'upper case': (url) => url !== url.toLowerCase(),
};

/** An address without differences of spelling; the text itself if it is no address. */
function meaningOf(url: string): string {
  return URL.canParse(url) ? new URL(url).href.replace(/\/+$/u, '').toLowerCase() : url;
}
