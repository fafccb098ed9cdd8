// The titles under which a test file reports, read from its source without running it. A test that never runs (skip, todo)
// has none. Knows nothing of what titles say.
import ts from 'typescript';

const GROUPS = new Set(['describe', 'suite']);
const TESTS = new Set(['it', 'test']);

/**
 * Titles of groups and tests in their order. The title of a test that runs once for each row of a table stands as it is
 * written, with what the row puts into it where that can be read: `'%s is refused'` over `['a', …]` gives `a is refused`.
 *
 * @param {string} file - for messages only.
 * @param {string} source
 * @returns {readonly string[]}
 */
export function testTitles(file, source) {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const tables = arraysIn(tree);
  /** @type {string[]} */
  const titles = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    const found = ts.isCallExpression(node) ? declaration(node) : undefined;
    if (found?.isSkipped === true) return;
    if (found !== undefined) titles.push(...filledIn(found.title, rowsOf(found.table, tables)));
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return titles;
}

/**
 * @param {ts.CallExpression} call
 * @returns {{ title: string, table: ts.Expression | undefined, isSkipped: boolean } | undefined} undefined when the call declares no
 *   test and no group.
 */
function declaration(call) {
  let { expression: callee } = call;
  let isSkipped = false;
  /** @type {ts.Expression | undefined} */
  let table;
  // From `it.skipIf(x).each(rows)` back to `it`.
  for (;;) {
    if (ts.isPropertyAccessExpression(callee)) {
      if (callee.name.text === 'skip' || callee.name.text === 'todo') isSkipped = true;
      callee = callee.expression;
    } else if (ts.isCallExpression(callee)) {
      if (ts.isPropertyAccessExpression(callee.expression) && /^(?:each|for)$/u.test(callee.expression.name.text))
        table = callee.arguments[0];
      callee = callee.expression;
    } else break;
  }
  if (!ts.isIdentifier(callee) || !(GROUPS.has(callee.text) || TESTS.has(callee.text))) return undefined;
  const title = textOf(call.arguments[0]);
  // `it.each(rows)` alone is the inner half of a declaration.
  return title === undefined || call.arguments.length < 2 ? undefined : { title, table, isSkipped };
}

/** @param {ts.Expression | undefined} node */
function textOf(node) {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map((span) => `\${${span.expression.getText()}}${span.literal.text}`).join('');
}

/**
 * Constants of a file that hold a list.
 *
 * @param {ts.SourceFile} tree
 */
function arraysIn(tree) {
  /** @type {Map<string, ts.ArrayLiteralExpression>} */
  const arrays = new Map();
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name)) {
      const list = bare(node.initializer);
      if (list !== undefined && ts.isArrayLiteralExpression(list)) arrays.set(node.name.text, list);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return arrays;
}

/** @param {ts.Expression | undefined} node */
function bare(node) {
  let inner = node;
  while (inner !== undefined && (ts.isAsExpression(inner) || ts.isSatisfiesExpression(inner) || ts.isParenthesizedExpression(inner))) {
    inner = inner.expression;
  }
  return inner;
}

/**
 * What each row of a table gives to a title.
 *
 * @param {ts.Expression | undefined} table
 * @param {ReadonlyMap<string, ts.ArrayLiteralExpression>} tables
 * @returns {readonly ((title: string) => string)[]}
 */
function rowsOf(table, tables) {
  const list = bare(table);
  const array = list !== undefined && ts.isIdentifier(list) ? tables.get(list.text) : list;
  if (array === undefined || !ts.isArrayLiteralExpression(array)) return [];
  return array.elements.flatMap((element) => {
    const row = bare(element);
    if (row === undefined) return [];
    if (ts.isObjectLiteralExpression(row)) return [(title) => title.replace(/\$(\w+)/gu, (whole, name) => memberText(row, name) ?? whole)];
    const first = textOf(ts.isArrayLiteralExpression(row) ? row.elements[0] : row);
    return first === undefined ? [] : [(title) => title.replace('%s', () => first)];
  });
}

/**
 * @param {ts.ObjectLiteralExpression} row
 * @param {string} name
 */
function memberText(row, name) {
  const member = row.properties.find((property) => property.name?.getText() === name);
  return member !== undefined && ts.isPropertyAssignment(member) ? textOf(member.initializer) : undefined;
}

/**
 * @param {string} title
 * @param {readonly ((title: string) => string)[]} rows
 */
function filledIn(title, rows) {
  const filled = rows.map((row) => row(title)).filter((text) => text !== title);
  return filled.length > 0 ? filled : [title];
}
