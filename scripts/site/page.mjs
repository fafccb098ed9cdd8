// One page: its Markdown as HTML, and what links and search need of it.
import path from 'node:path';
import GithubSlugger from 'github-slugger';
import MarkdownIt from 'markdown-it';

/**
 * @typedef {{ to: string, anchor: string }} Link - `to` is a path from the repository's root; `anchor` is empty without one
 * @typedef {{ anchor: string, title: string, text: string }} Section
 * @typedef {{ file: string, title: string, html: string, links: readonly Link[], anchors: ReadonlySet<string>, sections: readonly Section[] }} Page
 */

const markdown = new MarkdownIt({ html: true });

/**
 * @param {string} file - path from the repository's root
 * @param {string} text
 * @returns {Page}
 */
export function readPage(file, text) {
  const slugger = new GithubSlugger();
  /** @type {Link[]} */
  const links = [];
  /** @type {{ anchor: string, title: string, text: string }[]} */
  const sections = [];
  const tokens = markdown.parse(text, {});
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const title = plainText(tokens[index + 1]);
      const anchor = slugger.slug(title);
      token.attrSet('id', anchor);
      sections.push({ anchor, title, text: '' });
    } else if (token.type === 'inline' || token.type === 'fence') {
      const section = sections.at(-1);
      if (section !== undefined) section.text += ` ${token.type === 'fence' ? token.content : plainText(token)}`;
      for (const child of token.children ?? []) if (child.type === 'link_open') relink(child, file, links);
    }
  }
  const html = markdown.renderer.render(tokens, markdown.options, {});
  const anchors = new Set(sections.map(({ anchor }) => anchor));
  return { file, title: sections[0]?.title ?? file, html, links, anchors, sections };
}

/**
 * The address of a page or a file in the site, from another page.
 *
 * @param {string} from - both are paths from the repository's root
 * @param {string} to
 */
export function addressOf(from, to) {
  return path.posix.relative(path.posix.dirname(from), to.endsWith('.md') ? to.replace(/\.md$/u, '.html') : `${to}.html`);
}

/**
 * @param {import('markdown-it').Token} token - of a link
 * @param {string} file
 * @param {Link[]} links
 */
function relink(token, file, links) {
  const href = String(token.attrGet('href'));
  if (/^[a-z]+:/iu.test(href)) return;
  const [target = '', anchor = ''] = href.split('#');
  const to = target === '' ? file : path.posix.normalize(path.posix.join(path.posix.dirname(file), decodeURI(target)));
  links.push({ to, anchor });
  token.attrSet('href', `${to === file ? '' : addressOf(file, to)}${anchor === '' ? '' : `#${anchor}`}`);
}

/** @param {import('markdown-it').Token | undefined} token */
function plainText(token) {
  const children = token?.children ?? [];
  return children
    .map(({ type, content }) => (type === 'text' || type === 'code_inline' ? content : type === 'softbreak' ? ' ' : ''))
    .join('');
}
