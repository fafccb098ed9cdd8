// docs/errors.md and the program say the same about every code and every reason for refusing a token: no row missing, no
// row too many, the same advice, and the status and the close code that really go out.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { REFUSAL_HINTS, REFUSAL_REASONS } from '../../src/auth/refusal.ts';
import { ERROR_MENDS, AppError, type ErrorCode } from '../../src/base/errors.ts';
import { EXIT } from '../../src/base/terminal/failure.ts';
import { grpcStatus } from '../../src/transport/grpc/status.ts';
import { socketAnswer } from '../../src/transport/ws/close-codes.ts';
import { ROOT } from '../support/source-tree.ts';

const PAGE = readFileSync(path.join(ROOT, 'docs/errors.md'), 'utf8');

/** The rows of the one table under a heading: the name in its first cell, and the other cells. */
function tableUnder(heading: string): readonly (readonly [name: string, cells: readonly string[]])[] {
  const section = PAGE.split(/^## /mu).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`docs/errors.md has no section "${heading}"`);
  return [...section.matchAll(/^\| `(?<name>[a-z_]+)` +\|(?<rest>.*)\|$/gmu)].map(({ groups }) => {
    return [groups?.['name'] ?? '', (groups?.['rest'] ?? '').split(/(?<!\\)\|/u).map((cell) => cell.trim())];
  });
}

describe('docs/errors.md', () => {
  const codes = tableUnder('Codes');
  // Object.keys of a literal has exactly its keys.
  const known = Object.keys(ERROR_MENDS) as readonly ErrorCode[];

  it('has exactly the codes of the program, in its order', () => {
    expect(codes.map(([code]) => code)).toEqual(known);
  });

  it.each(known)('W-43 W-44 says about %s what the program says, what happened, and what goes out on either transport', (code) => {
    const [happened, mend, onGrpc, onWebSocket] = codes.find(([name]) => name === code)?.[1] ?? [];
    expect(mend).toBe(ERROR_MENDS[code]);
    expect(happened).toMatch(/^[A-Z].{20,}\.$/u);
    const error = new AppError(code, 'text');
    const sent = status[grpcStatus(error).code];
    const said = socketAnswer(error);
    // What ends no stream has the status of a defect, for the case that it does after all.
    if (onGrpc?.startsWith('no status: ') === true) {
      expect([sent, said.code, said.close, onWebSocket]).toEqual(['INTERNAL', 'upstream_error', 1011, 'the same']);
    } else {
      expect(onGrpc).toBe(`\`${sent}\``);
      expect(onWebSocket).toBe(`\`${said.code}\` ${String(said.status)}, close ${String(said.close)}`);
    }
  });

  it('has exactly the reasons for refusing a token, in the order of the checks, with the same advice', () => {
    const documented = tableUnder('Token refusals').map(([reason, cells]) => [reason, ...cells]);
    expect(documented).toEqual(REFUSAL_REASONS.map((reason) => [reason, REFUSAL_HINTS[reason]]));
  });

  it('has exactly the exit codes of the commands', () => {
    const section = PAGE.split(/^## /mu).find((text) => text.startsWith('Exit codes\n')) ?? '';
    const documented = [...section.matchAll(/^\| (?<code>\d+) +\|/gmu)].map(({ groups }) => Number(groups?.['code']));
    expect(documented).toEqual(Object.values(EXIT));
  });
});
