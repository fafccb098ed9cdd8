// Checks of tokens that anybody can make, with or without a good token.
import { startIssuer, type Issuer } from '../../platform/issuer.ts';
import type { Lab } from '../lab.ts';
import type { Presented } from '../probe.ts';
import type { Runs } from '../catalog.ts';
import type { RpcLab } from '../rpc-probe.ts';
import { changed, readToken, writeToken, type TokenParts } from '../tokens.ts';

/** Other results that count as a rejection. */
interface RefusalOptions {
  /** Set when the tokens are for another organization than the run: then the server may also reject them for that reason. */
  readonly organizationId?: string;
  /** Set when any error counts, because the server's check of the token itself may break (G-92). */
  readonly mayBreak?: true;
}

/**
 * Fails when one of the methods accepts one of these authorizations, or rejects it with a wrong code. Fails also when
 * the server no longer accepts the good token afterwards, because a broken server rejects all tokens.
 */
export async function demandRefused(
  lab: Lab,
  authorizations: Readonly<Record<string, string | null>>,
  options: RefusalOptions = {},
): Promise<void> {
  const { organizationId } = options;
  for (const [name, authorization] of Object.entries(authorizations)) {
    lab.note(`with ${name}`);
    await demandOneRefused(lab, name, () => lab.probe.present(authorization, organizationId), options);
    // A list that needs no token at all breaks another rule (G-04).
    if (lab.suspect.listWantsToken)
      await demandOneRefused(lab, `the list with ${name}`, () => lab.probe.presentToList(authorization, organizationId), options);
  }
  const { canCall, token } = lab.suspect;
  if (!canCall || token === undefined) return;
  lab.note('with the good token again');
  const { isTaken, how } = await askedTwice(
    lab,
    () => lab.probe.present(lab.probe.authorization(token)),
    (found) => found.isTaken,
  );
  if (!isTaken) lab.fail(`after ${Object.keys(authorizations).join(', ')} a call with the good token ${how}`);
}

async function demandOneRefused(
  lab: Lab,
  name: string,
  present: () => Promise<Presented>,
  { organizationId, mayBreak }: RefusalOptions,
): Promise<void> {
  const isRefusal = ({ isRefused, isForbidden, isError }: Presented): boolean =>
    mayBreak === true ? isError : organizationId === undefined ? isRefused : isForbidden;
  const found = await askedTwice(lab, present, (first) => first.isTaken || isRefusal(first));
  if (!found.isTaken && isRefusal(found)) return;
  const wanted = mayBreak === true ? '' : ` with ${lab.probe.refusal}`;
  lab.fail(`${name} ${found.how} and was not refused${wanted}`);
}

/** Presents a token, and once more when the result is unclear, because this machine or the server may have been busy. */
async function askedTwice(lab: Lab, present: () => Promise<Presented>, isClear: (found: Presented) => boolean): Promise<Presented> {
  const first = await present();
  if (isClear(first)) return first;
  lab.note(`it ${first.how}, and is tried again`);
  return present();
}

/** The header, claims and signature of the good token. The check does not apply when the token is no JWS. */
function goodParts(lab: Lab): TokenParts {
  const { token } = lab.suspect;
  const parts = token === undefined ? undefined : readToken(token);
  return parts ?? lab.skip('the token that was given has no three readable parts');
}

/** Runs `work` with a token like the good one, but from an issuer of our own that listens on the loopback address. */
async function withForeignIssuer(lab: Lab, work: (token: string, issuer: Issuer) => Promise<void>): Promise<void> {
  const { claims } = goodParts(lab);
  const issuer = await startIssuer({ profile: lab.suspect.profile });
  try {
    await work(issuer.forge({ claims: changed(claims, { iss: issuer.issuer }) }), issuer);
  } finally {
    await issuer.close();
  }
}

/** Whether the server can reach an issuer on our loopback address. */
function isBeside({ suspect }: Lab): boolean {
  const { host } = suspect.target;
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** The text without the parts that differ from rejection to rejection, such as a tracking id or a time. */
function plainWords(details: string): string {
  return details.replaceAll(/[\w-]*\d[\w:.-]*/gu, '#');
}

/** Tokens on which a careless server throws, by name. */
export function oddTokens(lab: Lab): Readonly<Record<string, string>> {
  const text = (plain: string): string => Buffer.from(plain).toString('base64url');
  return {
    'parts that are no JSON': lab.probe.authorization(`${text('no json')}.${text('no json')}.e30`),
    'parts that are null': lab.probe.authorization(`${text('null')}.${text('null')}.e30`),
    'parts that are lists': lab.probe.authorization(`${text('[]')}.${text('[1]')}.e30`),
    'parts that nest deeply': lab.probe.authorization(`${text('['.repeat(2000))}.${text('{"a":'.repeat(500))}.e30`),
  };
}

/** Tokens without exactly three parts, by name. */
export function malformedTokens(lab: Lab): Readonly<Record<string, string>> {
  const { token = 'e30.e30.e30' } = lab.suspect;
  return {
    'an empty token': '',
    'a token of two parts': lab.probe.authorization(token.split('.').slice(0, 2).join('.')),
    'a token of four parts': lab.probe.authorization(`${token}.e30`),
  };
}

/** The checks for every transport. */
export const TOKEN_CHECKS: Runs = {
  'good-token-accepted': async (lab) => {
    const token = lab.suspect.token ?? lab.skip('needs a good token: --token-file or --platform');
    const { isForbidden, how } = await lab.probe.present(lab.probe.authorization(token));
    if (isForbidden) lab.fail(`a call with the token that was given ${how}`);
  },
  'other-scheme-refused': (lab) =>
    demandRefused(lab, {
      'another scheme': 'Basic dXNlcjpwYXNz',
      'what is no base64url': '~~~.###.!!!',
      ...(lab.suspect.token === undefined ? {} : { 'the good token after another scheme': `Basic ${lab.suspect.token}` }),
    }),
  'alg-none-refused': (lab) => {
    const good = goodParts(lab);
    const by = (alg: string | null, signature: string): string =>
      lab.probe.authorization(writeToken({ ...good, header: changed(good.header, { alg }), signature }));
    return demandRefused(lab, {
      'a token of alg none without a signature': by('none', ''),
      'a token of alg none with a signature': by('none', good.signature),
      'a token without alg': by(null, good.signature),
    });
  },
  'foreign-issuer-refused': (lab) =>
    withForeignIssuer(lab, (token) => demandRefused(lab, { 'a token of an issuer that nobody trusts': lab.probe.authorization(token) })),
  'foreign-issuer-not-asked': async (lab) => {
    if (!isBeside(lab)) lab.skip('an issuer of ours is seen by a server on this machine only: the target is none of the loopback');
    await withForeignIssuer(lab, async (token, issuer) => {
      const { isTaken } = await lab.probe.present(lab.probe.authorization(token));
      if (isTaken) lab.skip('the token was let in, which is another breach');
      const asked = issuer.requests.length;
      if (asked > 0) lab.fail(`${String(asked)} requests came to the issuer of a token that was not let in`);
    });
  },
  'foreign-signature-refused': async (lab) => {
    const good = goodParts(lab);
    const issuer = await startIssuer({ profile: lab.suspect.profile });
    const forged = issuer.forge({ header: good.header, claims: good.claims });
    await issuer.close();
    await demandRefused(lab, {
      'a token that another key has signed under the right key id': lab.probe.authorization(forged),
      'a token whose payload was changed': lab.probe.authorization(writeToken({ ...good, claims: changed(good.claims, { added: true }) })),
    });
  },
  'refusals-look-alike': async (lab) => {
    const good = goodParts(lab);
    const { signer } = lab.suspect;
    const tokens = [
      writeToken({ ...good, header: changed(good.header, { alg: 'none' }), signature: '' }),
      writeToken({ ...good, claims: changed(good.claims, { added: true }) }),
      ...(signer === undefined ? [] : [await signer.sign({ claims: { exp: 1 } }), await signer.sign({ claims: { aud: 'conformance' } })]),
    ];
    const words = new Set<string>();
    for (const token of tokens) {
      const { isTaken, isRefused, how, words: said } = await lab.probe.present(lab.probe.authorization(token));
      // A server that accepts the token breaks another rule.
      if (isTaken) continue;
      if (!isRefused) lab.fail(`a call with a refused token ${how} and was not refused with ${lab.probe.refusal}`);
      words.add(plainWords(said));
    }
    if (words.size > 1) lab.fail(`tokens with different faults were refused in ${String(words.size)} different wordings`);
  },
};

/** Requires that the good token is accepted after `scheme`. */
async function demandTaken(lab: Lab, scheme: string): Promise<void> {
  lab.note(`with the token after ${scheme}`);
  const { isTaken, how } = await lab.probe.present(`${scheme} ${lab.suspect.token ?? ''}`);
  if (!isTaken) lab.fail(`a call with the good token after "${scheme} " ${how}`);
}

export const RPC_TOKEN_CHECKS: Runs<RpcLab> = {
  'no-token-refused': (lab) => demandRefused(lab, { 'a call without a token': null }),
  'refused-before-first-message': async (lab) => {
    if (!lab.suspect.wantsToken) lab.skip('calls need no token');
    const rpc = lab.probe.call({}, lab.probe.connect(null)).open();
    await rpc.until(() => rpc.ending !== undefined, lab.suspect.timing.answerMs);
    if (rpc.ending === undefined) lab.fail('an RPC without a token and without a message was left open');
  },
  'bearer-accepted': (lab) => demandTaken(lab, 'Bearer'),
  'bearer-in-any-case': async (lab) => {
    const { isTaken } = await lab.probe.present(`Bearer ${lab.suspect.token ?? ''}`);
    if (!isTaken) lab.skip('the token is not taken after “Bearer”, which is another breach');
    for (const scheme of ['bearer', 'BEARER']) await demandTaken(lab, scheme);
  },
  'malformed-token-refused': (lab) => demandRefused(lab, malformedTokens(lab)),
  'odd-json-refused': (lab) => demandRefused(lab, oddTokens(lab), { mayBreak: true }),
};
