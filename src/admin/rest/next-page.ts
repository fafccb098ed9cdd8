// The next page of a list, from the Link header (RFC 8288).
import { AppError } from '../../base/errors.ts';

/** `<address>; parameters`, repeated for each link; parameters may be quoted. */
const LINK = /<([^<>]*)>((?:\s*;\s*[\w*-]+\s*(?:=\s*(?:"[^"]*"|[^\s",;]+))?)*)/gu;
const IS_NEXT = /;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?=\s*(?:;|$)))/iu;
const MAX_CHARS = 4000;

/**
 * The path and query of the next page below `baseUrl`; undefined on the last page.
 *
 * @throws AppError `platform_answer_invalid` for an address elsewhere, where the token must not be sent.
 */
export function nextPage(link: string | null, baseUrl: string): string | undefined {
  if (link === null) return undefined;
  if (link.length > MAX_CHARS) throw new AppError('platform_answer_invalid', 'the platform sent a Link header that is too long');
  for (const [, target = '', parameters = ''] of link.matchAll(LINK)) {
    if (!IS_NEXT.test(parameters)) continue;
    const base = `${baseUrl}/`;
    const url = URL.canParse(target, base) ? new URL(target, base) : undefined;
    if (url === undefined || !url.href.startsWith(base) || url.hash !== '') {
      throw new AppError('platform_answer_invalid', 'the platform names a next page outside its own interface');
    }
    return url.href.slice(baseUrl.length);
  }
  return undefined;
}
