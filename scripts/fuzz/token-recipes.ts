// Recipes of tokens to begin with: good ones, and one of each kind of forgery (J-20 to J-2F). `{{…}}` stands for what a good token has
// there, `{{now+60}}` for a time; what is no JSON is the value of the header itself.
import type { JsonValue } from '../../src/base/json.ts';
import type { PlatformProfile } from '../../src/contract/profile.ts';

const GOOD: readonly string[] = [
  '{}',
  '{{good}}',
  'Bearer {{good}}',
  'bearer   {{good}}',
  '{{head}}.{{body}}.{{signature}}',
  'Bearer {{web}}',
];

/** J-21. */
const FORMS: readonly string[] = [
  ...['', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', 'Basic {{good}}', 'Token {{good}}', 'bearer: {{good}}', 'Bearer Bearer {{good}}'],
  ...[
    '{{head}}.{{body}}',
    '{{head}}.{{body}}.',
    '.{{body}}.{{signature}}',
    '{{head}}..{{signature}}',
    '{{good}}.{{signature}}',
    '{{good}}.',
  ],
  ...[
    '{{good}}=',
    '{{good}} {{good}}',
    '{{good}}, {{good}}',
    '"{{good}}"',
    '{{good}};',
    '{{head}}.{{body}}.+/{{signature}}',
    'a.b.c',
    '..',
  ],
  ...['{{head}} .{{body}}.{{signature}}', '{{head}}.{{body}}.AAAA', '{{head}}.ZXhwPTE.{{signature}}', 'x'.repeat(8000), '{{web}}'],
];

/** J-22. */
const ALGORITHMS: readonly JsonValue[] = [
  ...['none', 'None', 'HS256', 'HS512', 'RS384', 'PS256', 'ES256', 'EdDSA', 'rs256', 'RS256 ', ''],
  ...[null, 1, ['RS256'], {}],
];
const HEADERS: readonly object[] = [
  ...[['exp'], ['b64'], [], 'exp', 1].map((crit) => ({ crit })),
  ...[null, '', 'unknown', '{{kid}} ', '../{{kid}}', 1, ['{{kid}}'], {}, '{{kid}}\u0000'].map((kid) => ({ kid })),
  ...[{ b64: false, crit: ['b64'] }, { typ: 'at+jwt' }, { typ: 'application/AT+JWT' }, { jku: 'http://127.0.0.1/keys' }],
];
const TIMES: readonly JsonValue[] = ['{{now-31}}', '{{now-3600}}', '{{now+900000}}', 0, -1, null, '', true, [], {}, 1e300, -1e300];

/** All of them. */
export function tokenRecipes({ jws }: PlatformProfile): readonly string[] {
  const { url, schema, org } = jws.claims;
  const wrong = (name: string): readonly JsonValue[] => {
    const right = `{{${name}}}`;
    return [null, '', ' ', `${right} `, ` ${right}`, `${right}x`, `${right}/`, `${right}\u0000`, 'other', 0, true, {}, [], [right]];
  };
  const claims: readonly object[] = [
    ...['iss', 'aud', 'sub', 'jti', url, schema, org].flatMap((name) => wrong(name).map((value) => ({ [name]: value }))),
    ...TIMES.flatMap((value) => [{ exp: value }, { nbf: value }]),
    ...[{ exp: '{{now+60}}', nbf: '{{now-60}}' }, { exp: '{{now-20}}' }, { nbf: '{{now+20}}' }, { token_type: 'Bearer' }],
  ];
  const recipes: readonly object[] = [
    ...ALGORITHMS.flatMap((alg) => [{ header: { alg } }, { header: { alg }, by: 'public_key' }]),
    ...HEADERS.flatMap((header) => [{ header }, { header, by: 'stranger' }]),
    ...claims.map((each) => ({ claims: each })),
    { by: 'stranger' },
  ];
  return [...GOOD, ...FORMS, ...recipes.map((recipe) => JSON.stringify(recipe))];
}
