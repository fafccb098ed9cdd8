// Caller audio goes through speech/ and the turn fifty times a second per call, and must not wait: no promise in there, so
// that order is the order of arrival and nothing is kept alive between frames.
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { filesUnder, type SourceFile } from '../support/source-tree.ts';

const FRAME_PATH = ['src/speech', 'src/session/turn/turn.ts', 'src/session/turn/turn-states.ts', 'src/transport/ws/turn-cutter.ts'];

/** Where a file says async, await or Promise; comments and texts do not count. */
function promisesIn({ path, text }: SourceFile): readonly string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isPromise = ts.isIdentifier(node) && ['Promise', 'PromiseLike'].includes(node.text);
    const isAwait = ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined);
    const isAsync = node.kind === ts.SyntaxKind.AsyncKeyword;
    // There is no other way to use a promise: whoever calls then() has one.
    const isThen = ts.isPropertyAccessExpression(node) && ['then', 'finally'].includes(node.name.text);
    if (isPromise || isAwait || isAsync || isThen) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      found.push(`${path}:${String(line + 1)}: ${node.getText(source).split('\n')[0] ?? ''}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe('the frame path', () => {
  it.each(FRAME_PATH)('%s exists', (place) => {
    expect(filesUnder([place], ['.ts'])).not.toEqual([]);
  });

  it('has no async, no await and no promise', () => {
    expect(filesUnder(FRAME_PATH, ['.ts']).flatMap(promisesIn)).toEqual([]);
  });

  it.each([
    'async function f() {}',
    'const f = async () => 1;',
    'const o = { async m() {} };',
    'export const x = await y;',
    'async function f() { for await (const a of b) void a; }',
    'let p: Promise<void>;',
    'let p: PromiseLike<void>;',
    'Promise.resolve();',
    'start().then(go);',
  ])('would not tolerate `%s`', (text) => {
    expect(promisesIn({ path: 'planted.ts', text })).not.toEqual([]);
  });

  it('may speak of promises in comments and texts', () => {
    expect(promisesIn({ path: 'planted.ts', text: "// await a Promise\nexport const text = 'async await Promise';" })).toEqual([]);
  });
});
