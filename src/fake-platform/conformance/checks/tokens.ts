// Checks of the token that anybody with one good token can make, or with none (contract, sections 2.1 and 4.4).
import { status } from '@grpc/grpc-js';
import { startIssuer } from '../../issuer.ts';
import type { Check } from '../check.ts';
import type { CheckLab } from '../lab.ts';
import { changed, encoded, readToken, writeToken, type TokenParts } from '../tokens.ts';
import { statusName, type Ending } from '../wire.ts';

/** What became of a call with a token. */
export interface Presented {
  /** The server answered: the token was let in. */
  readonly isTaken: boolean;
  readonly ending: Ending | undefined;
}

/** Begins a call with this authorization; null sends none. */
export async function present(
  lab: CheckLab,
  authorization: string | null,
  organizationId = lab.suspect.organizationId,
): Promise<Presented> {
  const call = lab.call({ organizationId }, lab.connect(authorization));
  const { rpc } = await call.begin();
  const isTaken = rpc.answers.length > 0 || rpc.isCompleted;
  if (isTaken) await call.end();
  return { isTaken, ending: rpc.ending };
}

/** Fails when one of these authorizations is let in. */
export async function demandRefused(
  lab: CheckLab,
  authorizations: Readonly<Record<string, string>>,
  organizationId?: string,
): Promise<void> {
  for (const [name, authorization] of Object.entries(authorizations)) {
    lab.note(`with ${name}`);
    const { isTaken, ending } = await present(lab, authorization, organizationId);
    if (isTaken) lab.fail(`${name} was let in`);
    if (ending === undefined) lab.fail(`${name} was neither refused nor let in`);
  }
}

/** The good token, taken apart; the check does not apply when it is no JWS. */
function goodParts(lab: CheckLab): TokenParts {
  const { token } = lab.suspect;
  const parts = token === undefined ? undefined : readToken(token);
  return parts ?? lab.skip('the token that was given has no three readable parts');
}

/** A token like the good one by an issuer of our own, and how often that was asked for its keys. */
async function withForeignIssuer(lab: CheckLab): Promise<{ readonly presented: Presented; readonly requests: number }> {
  const { claims } = goodParts(lab);
  const issuer = await startIssuer({ profile: lab.suspect.profile });
  try {
    const token = issuer.forge({ claims: changed(claims, { iss: issuer.issuer }) });
    lab.note('with a token of an issuer that nobody trusts, whose keys can be fetched');
    const presented = await present(lab, token);
    return { presented, requests: issuer.requests.length };
  } finally {
    await issuer.close();
  }
}

export const TOKEN_CHECKS: readonly Check[] = [
  {
    id: 'good-token-accepted',
    rules: ['J-20'],
    title: 'A good token is let in.',
    needs: ['token_check'],
    run: async (lab) => {
      const token = lab.suspect.token ?? lab.skip('needs a good token: --token-file or --platform');
      const { ending } = await present(lab, token);
      if (ending?.code === status.UNAUTHENTICATED || ending?.code === status.PERMISSION_DENIED)
        lab.fail(`the token that was given was refused with ${statusName(ending.code)}`);
    },
  },
  {
    id: 'no-token-refused',
    rules: ['G-02', 'J-21'],
    title: 'An RPC without a token ends as UNAUTHENTICATED before a message is read, without a response.',
    needs: ['token_check'],
    run: async (lab) => {
      const { isTaken, ending } = await present(lab, null);
      if (isTaken) lab.fail('a call without a token was answered');
      if (ending?.code !== status.UNAUTHENTICATED) lab.fail(`a call without a token ended with ${statusName(ending?.code ?? 0)}`);
      const rpc = lab.call({}, lab.connect(null)).open();
      await rpc.until(() => rpc.ending !== undefined, lab.suspect.timing.answerMs);
      if (rpc.ending === undefined) lab.fail('an RPC without a token was not refused before its first message');
    },
  },
  {
    id: 'bearer-accepted',
    rules: ['G-03', 'J-20'],
    title: 'The token is taken after “Bearer”, in any case, as it is alone.',
    needs: ['token_check', 'token'],
    run: async (lab) => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
        lab.note(`with the token after ${scheme}`);
        const { isTaken } = await present(lab, `${scheme} ${lab.suspect.token ?? ''}`);
        if (!isTaken) lab.fail(`the token after "${scheme} " was refused`);
      }
    },
  },
  {
    id: 'malformed-token-refused',
    rules: ['G-03', 'J-21'],
    title: 'An empty token and one without exactly three parts are refused.',
    needs: ['token_check'],
    run: async (lab) => {
      const { token = 'e30.e30.e30' } = lab.suspect;
      await demandRefused(lab, {
        'an empty token': '',
        'a token of two parts': token.split('.').slice(0, 2).join('.'),
        'a token of four parts': `${token}.e30`,
      });
    },
  },
  {
    id: 'other-scheme-refused',
    rules: ['J-10', 'J-21'],
    title: 'Another scheme and what is no base64url are refused.',
    needs: ['token_check'],
    run: (lab) => demandRefused(lab, { 'another scheme': 'Basic dXNlcjpwYXNz', 'what is no base64url': '~~~.###.!!!' }),
  },
  {
    id: 'odd-json-refused',
    rules: ['G-92', 'J-2C'],
    title: 'A token that makes a careless check throw is refused: nothing that breaks lets anybody in.',
    needs: ['token_check'],
    run: (lab) => {
      const text = (plain: string): string => Buffer.from(plain).toString('base64url');
      return demandRefused(lab, {
        'parts that are no JSON': `${text('no json')}.${text('no json')}.e30`,
        'parts that are null': `${text('null')}.${text('null')}.e30`,
        'parts that are lists': `${text('[]')}.${text('[1]')}.e30`,
        'parts that nest deeply': `${text('['.repeat(2000))}.${text('{"a":'.repeat(500))}.e30`,
      });
    },
  },
  {
    id: 'alg-none-refused',
    rules: ['J-11', 'J-22'],
    title: 'A token without a signature algorithm is refused.',
    needs: ['token_check', 'token'],
    run: (lab) => {
      const good = goodParts(lab);
      const by = (alg: string | null, signature: string): string =>
        writeToken({ ...good, header: changed(good.header, { alg }), signature });
      return demandRefused(lab, {
        'a token of alg none without a signature': by('none', ''),
        'a token of alg none with a signature': by('none', good.signature),
        'a token without alg': by(null, good.signature),
      });
    },
  },
  {
    id: 'foreign-issuer-refused',
    rules: ['J-12'],
    title: 'A token of an unknown issuer is refused, although its keys can be fetched.',
    needs: ['token_check', 'token'],
    run: async (lab) => {
      const { presented } = await withForeignIssuer(lab);
      if (presented.isTaken) lab.fail('a token of an issuer that nobody trusts was let in');
    },
  },
  {
    id: 'foreign-issuer-not-asked',
    rules: ['J-23', 'J-12'],
    title: 'An unknown issuer is not even asked for its keys.',
    needs: ['token_check', 'token'],
    run: async (lab) => {
      const { presented, requests } = await withForeignIssuer(lab);
      if (presented.isTaken) lab.skip('the token was let in, which is another breach');
      if (requests > 0) lab.fail(`${String(requests)} requests went to the issuer of a token before it was refused`);
    },
  },
  {
    id: 'foreign-signature-refused',
    rules: ['J-15', 'J-26'],
    title: 'A token that another key has signed, or that was changed, is refused.',
    needs: ['token_check', 'token'],
    run: async (lab) => {
      const good = goodParts(lab);
      const issuer = await startIssuer({ profile: lab.suspect.profile });
      const forged = issuer.forge({ header: good.header, claims: good.claims });
      await issuer.close();
      await demandRefused(lab, {
        'a token that another key has signed under the right key id': forged,
        'a token whose payload was changed': `${encoded(good.header)}.${encoded(changed(good.claims, { added: true }))}.${good.signature}`,
      });
    },
  },
  {
    id: 'refusals-look-alike',
    rules: ['J-1C'],
    title: 'Every refused token ends as UNAUTHENTICATED in the same words: the reason is for operators.',
    needs: ['token_check', 'token'],
    run: async (lab) => {
      const good = goodParts(lab);
      const { signer } = lab.suspect;
      const tokens = [
        writeToken({ ...good, header: changed(good.header, { alg: 'none' }), signature: '' }),
        writeToken({ ...good, claims: changed(good.claims, { added: true }) }),
        ...(signer === undefined ? [] : [await signer.sign({ claims: { exp: 1 } }), await signer.sign({ claims: { aud: 'conformance' } })]),
      ];
      const words = new Set<string>();
      for (const token of tokens) {
        const { isTaken, ending } = await present(lab, token);
        // One that is let in is another breach.
        if (isTaken || ending === undefined) continue;
        if (ending.code !== status.UNAUTHENTICATED) lab.fail(`a refused token ended with ${statusName(ending.code)}`);
        words.add(ending.details);
      }
      if (words.size > 1) lab.fail('refused tokens got other words for other reasons');
    },
  },
];
