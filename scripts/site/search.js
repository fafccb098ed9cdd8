// Runs in the browser: the search box of every page.
/* global MiniSearch, document */
const box = document.querySelector('input[type=search]');
const found = document.querySelector('search ol');
let search;

box.addEventListener('input', () => {
  search ??= MiniSearch.loadJSON(globalThis.SEARCH_INDEX, { fields: ['title', 'text'], storeFields: ['title', 'page', 'address'] });
  const hits = search.search(box.value, { prefix: true, fuzzy: 0.15, boost: { title: 3 }, combineWith: 'AND' }).slice(0, 12);
  found.replaceChildren(...hits.map(({ title, page, address }) => item(title, page, box.dataset.root + address)));
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') found.replaceChildren();
  if (event.key !== '/' || document.activeElement === box) return;
  event.preventDefault();
  box.focus();
});

function item(title, page, address) {
  const link = document.createElement('a');
  link.href = address;
  link.textContent = title === page ? title : `${page} › ${title}`;
  const entry = document.createElement('li');
  entry.append(link);
  return entry;
}
