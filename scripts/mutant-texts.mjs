// Leaves out mutants that only change a text for humans: messages of errors and of log lines, and the hints of refusals.
// Everything beside the text counts: the code, the level, the fields.

const LOG_LEVELS = new Set(['debug', 'info', 'warn', 'error']);
/** Which argument is the message, by the name of the constructor or function. */
const MESSAGE_AT = new Map([
  ['AppError', 1],
  ['Error', 0],
  ['RangeError', 0],
  ['TypeError', 0],
  ['toAppError', 2],
]);

/**
 * The little that is read of the syntax tree.
 *
 * @typedef {{ type: string, name?: string, callee?: SyntaxNode, property?: SyntaxNode, arguments?: readonly SyntaxNode[], id?: SyntaxNode }} SyntaxNode
 * @typedef {{ node: SyntaxNode, parent?: SyntaxNode | null, parentPath?: SyntaxPath | null }} SyntaxPath
 */

/**
 * @param {SyntaxPath} path
 * @returns {string | undefined} why a mutant of this text would be worth nothing
 */
function shouldIgnore(path) {
  const { node, parent } = path;
  if (node.type !== 'StringLiteral' && node.type !== 'TemplateLiteral') return undefined;
  const { callee, arguments: given = [] } = parent ?? {};
  if (callee !== undefined) {
    if (callee.type === 'MemberExpression' && LOG_LEVELS.has(callee.property?.name ?? '') && given[1] === node)
      return 'message of a log line';
    if (given[MESSAGE_AT.get(callee.name ?? '') ?? -1] === node) return 'message of an error';
  }
  return isHint(path) ? 'hint for operators' : undefined;
}

/** @param {SyntaxPath} path */
function isHint(path) {
  for (let above = path.parentPath; above !== undefined && above !== null; above = above.parentPath) {
    if (above.node.type === 'VariableDeclarator') return above.node.id?.name?.endsWith('_HINTS') === true;
  }
  return false;
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'texts', value: { shouldIgnore } }];
