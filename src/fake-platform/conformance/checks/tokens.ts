// Checks of the token that anybody with one good token can make, or with none (contract, sections 2.1 and 4.4).
import { status } from '@grpc/grpc-js';
import { startIssuer, type Issuer } from '../../issuer.ts';
import type { Check } from '../check.ts';
import { endingText, type CheckLab } from '../lab.ts';
import { authorizationOf } from '../suspect.ts';
import { changed, encoded, readToken, writeToken, type TokenParts } from '../tokens.ts';
import { statusName } from '../../status-name.ts';
import type { Ending } from '../wire.ts';

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

/** Asks for the agents with this authorization. */
async function presentToList(lab: CheckLab, authorization: string | null, organizationId = lab.suspect.organizationId): Promise<Presented> {
  const list = await lab.connect(authorization).list(organizationId, lab.suspect.timing.answerMs, lab.log);
  return 'code' in list ? { isTaken: false, ending: list } : { isTaken: true, ending: undefined };
}

/** How a server refuses a token, and how it may refuse one that is good for another organization. */
const [REFUSED, FORBIDDEN]: readonly (readonly number[])[] = [[status.UNAUTHENTICATED], [status.UNAUTHENTICATED, status.PERMISSION_DENIED]];

/**
 * Fails when one of these authorizations is let in by one of the methods, is refused by another code than that of a refusal,
 * or when the server takes the good token no more afterwards: an error is no refusal, and one that broke down refuses all.
 *
 * @param organizationId - of whom the tokens are, where it is not the organization of the run.
 */
export async function demandRefused(
  lab: CheckLab,
  authorizations: Readonly<Record<string, string | null>>,
  organizationId?: string,
): Promise<void> {
  for (const [name, authorization] of Object.entries(authorizations)) {
    lab.note(`with ${name}`);
    judgeRefusal(lab, name, await present(lab, authorization, organizationId), organizationId);
    // That the list asks for no token at all is another breach (G-04).
    if (lab.suspect.listWantsToken)
      judgeRefusal(lab, `the list with ${name}`, await presentToList(lab, authorization, organizationId), organizationId);
  }
  if (!lab.suspect.canCall || lab.suspect.token === undefined) return;
  lab.note('with the good token again');
  const { isTaken, ending } = await present(lab, authorizationOf(lab.suspect) ?? null);
  if (!isTaken) lab.fail(`after ${Object.keys(authorizations).join(', ')} a call with the good token ${endingText(ending)}`);
}

function judgeRefusal(lab: CheckLab, name: string, { isTaken, ending }: Presented, organizationId: string | undefined): void {
  if (isTaken) lab.fail(`${name} was let in`);
  if (ending === undefined) lab.fail(`${name} was neither refused nor let in`);
  const allowed = organizationId === undefined ? REFUSED : FORBIDDEN;
  if (allowed?.includes(ending.code) !== true) lab.fail(`${name} ${endingText(ending)} and was not refused with UNAUTHENTICATED`);
}

/** The good token, taken apart; the check does not apply when it is no JWS. */
function goodParts(lab: CheckLab): TokenParts {
  const { token } = lab.suspect;
  const parts = token === undefined ? undefined : readToken(token);
  return parts ?? lab.skip('the token that was given has no three readable parts');
}

/** Works with a token like the good one by an issuer of our own, which listens on the loopback address. */
async function withForeignIssuer(lab: CheckLab, work: (token: string, issuer: Issuer) => Promise<void>): Promise<void> {
  const { claims } = goodParts(lab);
  const issuer = await startIssuer({ profile: lab.suspect.profile });
  try {
    await work(issuer.forge({ claims: changed(claims, { iss: issuer.issuer }) }), issuer);
  } finally {
    await issuer.close();
  }
}

/** Whether an issuer on our loopback address is there for the server as well. */
function isBeside({ suspect }: CheckLab): boolean {
  const { host } = suspect.target;
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** Words without what differs from refusal to refusal, such as a tracking id or a time. */
function plainWords(details: string): string {
  return details.replaceAll(/[\w-]*\d[\w:.-]*/gu, '#');
}

export const TOKEN_CHECKS: readonly Check[] = [
  {
    id: 'good-token-accepted',
    rules: ['J-20'],
    title: 'A good token is let in.',
    needs: ['token_check'],
    run: async (lab) => {
      const token = lab.suspect.token ?? lab.skip('needs a good token: --token-file or --platform');
      const { ending } = await present(lab, authorizationOf({ ...lab.suspect, token }) ?? null);
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
      await demandRefused(lab, { 'a call without a token': null });
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
    run: (lab) =>
      demandRefused(lab, {
        'another scheme': 'Basic dXNlcjpwYXNz',
        'what is no base64url': '~~~.###.!!!',
        ...(lab.suspect.token === undefined ? {} : { 'the good token after another scheme': `Basic ${lab.suspect.token}` }),
      }),
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
    title: 'A token of an unknown issuer is refused; beside the server, also one whose keys can be fetched.',
    needs: ['token_check', 'token'],
    run: (lab) => withForeignIssuer(lab, (token) => demandRefused(lab, { 'a token of an issuer that nobody trusts': token })),
  },
  {
    id: 'foreign-issuer-not-asked',
    rules: ['J-23', 'J-12'],
    title: 'An unknown issuer is not even asked for its keys.',
    needs: ['token_check', 'token'],
    run: async (lab) => {
      if (!isBeside(lab)) lab.skip('an issuer of ours is seen by a server on this machine only: the target is none of the loopback');
      await withForeignIssuer(lab, async (token, issuer) => {
        const { isTaken } = await present(lab, token);
        if (isTaken) lab.skip('the token was let in, which is another breach');
        const asked = issuer.requests.length;
        if (asked > 0) lab.fail(`${String(asked)} requests went to the issuer of a token before it was refused`);
      });
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
        words.add(plainWords(ending.details));
      }
      if (words.size > 1) lab.fail('refused tokens got other words for other reasons');
    },
  },
];
