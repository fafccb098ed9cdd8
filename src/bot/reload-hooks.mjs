// How a bot module that is loaded again takes the modules of its folder with it. Node keeps every module under its URL for
// ever, so a reloaded one has a query in its URL; what it imports by a relative name gets the same query. Packages and
// `parley-voice` have no relative names and stay what they are. Plain JavaScript, because Node 20 runs it in a thread of its own.

/** The query's name. */
export const RELOAD = 'parley-reload';

/**
 * The URL that a resolved module is loaded under.
 *
 * @param {string} specifier - as written in the import
 * @param {string | undefined} parentUrl - of the importing module
 * @param {string} url - what the specifier was resolved to
 * @returns {string}
 */
export function carriedUrl(specifier, parentUrl, url) {
  if (!/^\.{1,2}\//u.test(specifier) || parentUrl?.includes(`${RELOAD}=`) !== true || !url.startsWith('file:')) return url;
  const generation = new URL(parentUrl).searchParams.get(RELOAD);
  if (generation === null) return url;
  const carried = new URL(url);
  carried.searchParams.set(RELOAD, generation);
  return carried.href;
}

/**
 * The same as a hook of `module.register`.
 *
 * @type {import('node:module').ResolveHook}
 */
export async function resolve(specifier, context, nextResolve) {
  const resolved = await nextResolve(specifier, context);
  return { ...resolved, url: carriedUrl(specifier, context.parentURL, resolved.url) };
}
