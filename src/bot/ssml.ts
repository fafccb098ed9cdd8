// SSML as bot authors write it: the words in it, for synthesizers without SSML, for what was heard, and for transcripts.

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * The words of one `<speak>` element; of a `<sub>` its alias.
 *
 * @throws TypeError when it is something else, or holds an `&` or a `<` that begins neither an entity nor a tag.
 */
export function wordsOf(ssml: string): string {
  const [, inner] = /^\s*<speak(?:\s[^>]*)?>([^]*)<\/speak>\s*$/u.exec(ssml) ?? [];
  if (inner === undefined) throw new TypeError('SSML must be one <speak> element');
  const words = inner
    .replaceAll(/<!--[^]*?-->/gu, ' ')
    .replaceAll(/<sub\s[^>]*?alias="([^"]*)"[^>]*>[^]*?<\/sub>/gu, ' $1 ')
    .replaceAll(/<\/?[A-Za-z][^<>]*>/gu, ' ');
  if (/<|&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-fA-F]{1,6});)/u.test(words))
    throw new TypeError('SSML holds an & or a < that must be written as &amp; or &lt;');
  return words
    .replaceAll(/&(#x?)?(\w+);/gu, (_, mark: string | undefined, name: string) => characterOf(mark, name))
    .replaceAll(/\s+/gu, ' ')
    .trim();
}

function characterOf(mark: string | undefined, name: string): string {
  if (mark === undefined) return ENTITIES[name] ?? '';
  const code = Number.parseInt(name, mark === '#x' ? 16 : 10);
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : '\uFFFD';
}
