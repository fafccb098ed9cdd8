// The page that a browser shows at the end of a login. Plain, without script and style, and without text from the redirect address.
import { escaped } from '../../base/html-text.ts';

export interface LoginEnd {
  readonly status: number;
  readonly title: string;
  /** One or two sentences, not yet escaped. */
  readonly text: string;
}

/** Headers of every page: caching, loading, framing and referrers are forbidden. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
};

export function loginPage({ title, text }: Pick<LoginEnd, 'title' | 'text'>): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><title>${escaped(title)}</title></head>`,
    `<body><h1>${escaped(title)}</h1><p>${escaped(text)}</p></body>`,
    '</html>',
    '',
  ].join('\n');
}
