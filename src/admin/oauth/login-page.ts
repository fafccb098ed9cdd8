// The page that a browser shows at the end of a login. Plain, without script and style, and without any text of the
// address.
import { escaped } from '../../base/html-text.ts';

export interface LoginEnd {
  readonly status: number;
  readonly title: string;
  /** A sentence or two; escaped here. */
  readonly text: string;
}

/** Headers of every page: nothing is cached, loaded, framed or sent to anybody. */
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
