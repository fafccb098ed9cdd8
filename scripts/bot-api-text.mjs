// Declarations as a reader needs them: signatures without bodies, members with their comments. Knows TypeScript and nothing
// of bots.
import ts from 'typescript';

/**
 * The doc comment of a symbol, with the end of its line; empty when there is none.
 *
 * @param {ts.Symbol} symbol
 */
export function commentOf(symbol) {
  return commentText(declarationOf(symbol));
}

/**
 * The declaration of a symbol, without `export`, bodies and private members.
 *
 * @param {ts.TypeChecker} checker
 * @param {ts.Symbol} symbol
 * @param {string} name
 * @param {{ name: string, omitted?: ReadonlySet<string> }} [shown] - a type that shows all members of an interface but the omitted ones
 */
export function declarationText(checker, symbol, name, shown) {
  const node = declarationOf(symbol);
  if (ts.isFunctionDeclaration(node)) return `${withoutBody(node, node.body)};`.replace(/^export /u, '');
  if (ts.isVariableDeclaration(node) && node.initializer !== undefined && ts.isArrowFunction(node.initializer)) {
    const { typeParameters, parameters, type } = node.initializer;
    const generics = typeParameters === undefined ? '' : `<${typeParameters.map((each) => each.getText()).join(', ')}>`;
    return `function ${name}${generics}(${optional(parameters.map((each) => each.getText()).join(', '))}): ${type?.getText() ?? 'void'};`;
  }
  if (ts.isInterfaceDeclaration(node)) {
    const heritage = node.heritageClauses?.map((clause) => ` ${clause.getText()}`).join('') ?? '';
    const generics = node.typeParameters === undefined ? '' : `<${node.typeParameters.map((each) => each.getText()).join(', ')}>`;
    const members = node.members.filter((member) => member.name === undefined || !ts.isComputedPropertyName(member.name));
    const own = members.filter((member) => shown?.omitted?.has(member.name?.getText() ?? '') ?? true);
    const parent = shown === undefined ? heritage : ` extends ${shown.name}`;
    return block(`interface ${name}${generics}${parent}`, own.map(memberText));
  }
  if (ts.isClassDeclaration(node)) {
    const members = node.members.filter((member) => member.name === undefined || !ts.isPrivateIdentifier(member.name));
    return block(`class ${name}`, members.map(memberText));
  }
  if (ts.isTypeAliasDeclaration(node)) {
    const base = baseOf(node);
    if (base === undefined) return node.getText().replace(/^export /u, '');
    const members = checker.getPropertiesOfType(checker.getTypeAtLocation(node)).map((property) => memberText(declarationOf(property)));
    return block(`interface ${name}`, members);
  }
  throw new Error(`${name} is declared in a way that has no form on the page`);
}

/**
 * Types of this project that the declarations of some symbols mention, those that these mention in turn, and so on.
 *
 * @param {ts.TypeChecker} checker
 * @param {readonly ts.Symbol[]} symbols
 * @param {ReadonlySet<string>} except - names to pass over
 * @returns {ReadonlyMap<string, ts.Symbol>}
 */
export function referencedTypes(checker, symbols, except) {
  /** @type {Map<string, ts.Symbol>} */
  const found = new Map();
  const open = [...symbols];
  for (const symbol of open) {
    visitTypes(declarationOf(symbol), (name) => {
      const at = checker.getSymbolAtLocation(name);
      const target = at !== undefined && (at.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(at) : at;
      const declaration = target?.declarations?.[0];
      if (target === undefined || declaration === undefined || found.has(target.name)) return;
      if (except.has(target.name) || symbols.includes(target)) return;
      const isOurs = !declaration.getSourceFile().fileName.includes('/node_modules/');
      const isShown = isOurs && (ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration));
      if (!isShown) return;
      found.set(target.name, target);
      open.push(target);
    });
  }
  return found;
}

/**
 * Calls back for every named type in what a reader sees of a declaration.
 *
 * @param {ts.Node} node
 * @param {(name: ts.Identifier) => void} onName
 */
function visitTypes(node, onName) {
  if (ts.isBlock(node) || (ts.isClassElement(node) && node.name !== undefined && ts.isPrivateIdentifier(node.name))) return;
  // The initial value of a constant is code; only the form of a function is its type.
  if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) onName(node.typeName);
  if (ts.isExpressionWithTypeArguments(node) && ts.isIdentifier(node.expression)) onName(node.expression);
  ts.forEachChild(node, (child) => {
    visitTypes(child, onName);
  });
}

/**
 * A member with its comment, without its body. All members of the page are readonly.
 *
 * @param {ts.Node} member
 */
function memberText(member) {
  const body = 'body' in member && member.body !== undefined ? /** @type {ts.Node} */ (member.body) : undefined;
  const text = withoutBody(member, body)
    .replace(/;$/u, '')
    .replace(/^(?:async|readonly) /u, '');
  return `${commentText(member)}${text};`;
}

/** @param {ts.Node} node */
function commentText(node) {
  return ts
    .getJSDocCommentsAndTags(node)
    .filter(ts.isJSDoc)
    .map(
      (each) =>
        `${each
          .getText()
          .replace(/\n\s+\*/gu, '\n *')
          .replace(/\{@link (?<name>[.\w]+)\}/gu, '$<name>')}\n`,
    )
    .join('');
}

/**
 * @param {string} head
 * @param {readonly string[]} members
 */
function block(head, members) {
  if (members.length === 0) return `${head} {}`;
  const lines = members.join('\n').split('\n');
  return [`${head} {`, ...lines.map((line) => `  ${line}`), '}'].join('\n');
}

/**
 * A signature without its body; of options the type says what there is, and their defaults.
 *
 * @param {ts.Node} node
 * @param {ts.Node | undefined} body
 */
function withoutBody(node, body) {
  const text = node.getText();
  const signature = body === undefined ? text : text.slice(0, body.getStart() - node.getStart()).trimEnd();
  return optional(signature);
}

/** @param {string} parameters */
function optional(parameters) {
  return parameters
    .replace(/\{[^{}]*\}: (?<type>[\w<>]+) = \{\}/gu, 'options?: $<type>')
    .replace(/: (?<type>[\w<>]+) = \{\}/gu, '?: $<type>');
}

/**
 * The type that an alias takes its members from: `Omit<Listen, 'kind'>` says no more than `Listen` does.
 *
 * @param {ts.TypeAliasDeclaration} alias
 * @returns {ts.TypeNode | undefined}
 */
function baseOf({ type }) {
  return ts.isTypeReferenceNode(type) && type.typeName.getText() === 'Omit' ? type.typeArguments?.[0] : undefined;
}

/**
 * What an alias `Omit<Listen, 'kind'>` leaves out, and of which type; nothing for anything else.
 *
 * @param {ts.Symbol} symbol
 * @returns {{ base?: string, omitted?: ReadonlySet<string> }}
 */
export function omissionOf(symbol) {
  const node = declarationOf(symbol);
  const base = ts.isTypeAliasDeclaration(node) ? baseOf(node) : undefined;
  if (base === undefined || !ts.isTypeAliasDeclaration(node)) return {};
  return { base: base.getText(), omitted: new Set([...node.type.getText().matchAll(/'(\w+)'/gu)].map(([, member = '']) => member)) };
}

/** @param {ts.Symbol} symbol */
function declarationOf(symbol) {
  const node = symbol.declarations?.[0];
  if (node === undefined) throw new Error(`${symbol.name} is declared nowhere`);
  return node;
}
