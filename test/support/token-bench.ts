// A complete token check for tests: one registered data source, a fake clock, and everything it said to the log and to
// its observer; and the issuer that the tests of a file share.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { LogFields, Logger } from '../../src/base/log.ts';
import { TrustedDataSources, type TrustedDataSource } from '../../src/auth/data-sources.ts';
import { TokenVerifier, type TokenVerifierOptions } from '../../src/auth/jws-verifier.ts';
import { KeySource, type KeySourceOptions } from '../../src/auth/key-source.ts';
import { NonceBook } from '../../src/auth/nonces.ts';
import type { Principal, TokenTransport } from '../../src/auth/principal.ts';
import { refusalReason, type RefusalReason } from '../../src/auth/refusal.ts';
import { FakeClock } from './fake-clock.ts';
import { createSigningKey, KEY_SET_SUFFIX, signToken, TokenIssuer, type SigningKey } from './token-issuer.ts';

/** Claim names of the tests: any names will do. */
export const CLAIM_NAMES = { url: 'source.url', schema: 'source.schema', organization: 'source.organization' };

/** The registered data source. */
export const SOURCE: TrustedDataSource = {
  id: 'source-1',
  organizationId: 'ce861fba-6e2f-49f9-9a84-b354008fac9e',
  url: 'https://voice.example.test/line',
  schemaId: '11111111-2222-4333-8444-555555555555',
  audience: 'TheAudience',
  subject: 'theSubject',
  transport: 'grpc',
};

/** Its nonce. Odd on purpose: it must not turn up in any log line. */
export const NONCE = 'canary-nonce-8c1f4e';

/** A logger that keeps what it was given, before any redaction. */
export class CapturedLog implements Logger {
  readonly lines: string[];
  readonly #fields: LogFields;

  constructor(lines: string[] = [], fields: LogFields = {}) {
    this.lines = lines;
    this.#fields = fields;
  }

  debug(fields: LogFields, message: string): void {
    this.#write('debug', fields, message);
  }

  info(fields: LogFields, message: string): void {
    this.#write('info', fields, message);
  }

  warn(fields: LogFields, message: string): void {
    this.#write('warn', fields, message);
  }

  error(fields: LogFields, message: string): void {
    this.#write('error', fields, message);
  }

  child(fields: LogFields): Logger {
    return new CapturedLog(this.lines, { ...this.#fields, ...fields });
  }

  #write(level: string, fields: LogFields, message: string): void {
    this.lines.push(JSON.stringify({ level, message, ...this.#fields, ...fields }));
  }
}

/** What a verification ended with. */
export type Outcome = Principal | RefusalReason;

/** Parts of the bench that a test may choose. */
export type BenchOptions = Partial<Omit<TokenVerifierOptions, 'keys' | 'clock' | 'log' | 'observer'>> & {
  readonly regions?: readonly string[];
  readonly keySource?: Partial<KeySourceOptions>;
};

/** The check with its surroundings. */
export class TokenBench {
  readonly clock = new FakeClock();
  readonly log = new CapturedLog();
  /** What the observer heard: a reason, `accepted` or `remembered`. */
  readonly heard: string[] = [];
  readonly keys: KeySource;
  readonly dataSources: TrustedDataSources;
  readonly nonces: NonceBook;
  readonly verifier: TokenVerifier;
  readonly #issuer: TokenIssuer;
  readonly #key: SigningKey;

  constructor(issuer: TokenIssuer, key: SigningKey, options: BenchOptions = {}) {
    this.#issuer = issuer;
    this.#key = key;
    const { regions = ['home'], keySource, ...rest } = options;
    this.keys = new KeySource({
      issuers: regions.map((region) => issuer.issuer(region)),
      keySetSuffix: KEY_SET_SUFFIX,
      allowLoopbackHttp: true,
      clock: this.clock,
      log: this.log,
      ...keySource,
    });
    this.dataSources = options.dataSources ?? new TrustedDataSources([SOURCE]);
    this.nonces = options.nonces ?? new NonceBook({ clock: this.clock });
    this.nonces.rotate(SOURCE.id, NONCE);
    this.verifier = new TokenVerifier({
      claimNames: CLAIM_NAMES,
      ...rest,
      keys: this.keys,
      dataSources: this.dataSources,
      nonces: this.nonces,
      clock: this.clock,
      log: this.log,
      observer: {
        tokenRefused: (reason) => this.heard.push(reason),
        tokenAccepted: (remembered) => this.heard.push(remembered ? 'remembered' : 'accepted'),
      },
    });
  }

  /** The clock's time as a NumericDate. */
  get nowSeconds(): number {
    return this.clock.nowMs() / 1000;
  }

  /** The claims of an honest token that lives one hour; `changes` replace them, undefined removes. */
  claims(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    return {
      iss: this.#issuer.issuer(),
      aud: SOURCE.audience,
      sub: SOURCE.subject,
      jti: NONCE,
      iat: this.nowSeconds,
      exp: this.nowSeconds + 3600,
      [CLAIM_NAMES.url]: SOURCE.url,
      [CLAIM_NAMES.schema]: SOURCE.schemaId,
      [CLAIM_NAMES.organization]: SOURCE.organizationId,
      ...changes,
    };
  }

  /** An honest token, but for the changes. */
  token(changes: Readonly<Record<string, unknown>> = {}, header: Readonly<Record<string, unknown>> = {}, key = this.#key): string {
    return signToken(key, this.claims(changes), header);
  }

  /** Verifies, and turns a refusal into its reason. Errors that are no refusal come through. */
  async verify(headerValue: string | undefined, transport: TokenTransport = 'grpc'): Promise<Outcome> {
    try {
      return await this.verifier.verify(headerValue, transport);
    } catch (error) {
      const reason = refusalReason(error);
      if (reason === undefined) throw error;
      return reason;
    }
  }
}

/** The principal of an honest token. */
export const PRINCIPAL: Principal = { organizationId: SOURCE.organizationId, dataSourceId: SOURCE.id, transport: 'grpc' };

/** The issuer of a test file, its key, and benches that trust it. */
export interface TestIssuer {
  readonly key: SigningKey;
  /** The running server; only within a test. */
  readonly server: TokenIssuer;
  /** A bench of its own, with nothing known yet. */
  open(options?: BenchOptions): TokenBench;
}

/**
 * Starts one issuer for all tests of a file and stops it after them. Before each test it answers honestly again,
 * publishes just its one key and has forgotten earlier requests.
 */
export function sharedIssuer(): TestIssuer {
  const key = createSigningKey('key-1');
  let running: TokenIssuer | undefined;
  const server = (): TokenIssuer => {
    if (running === undefined) throw new Error('the issuer runs only within tests');
    return running;
  };
  beforeAll(async () => {
    running = await TokenIssuer.start();
  });
  beforeEach(() => {
    server().publish([key.published]);
    server().respond = undefined;
    server().headers = {};
    server().forgetRequests();
  });
  afterAll(async () => {
    await running?.close();
  });
  return {
    key,
    get server() {
      return server();
    },
    open: (options = {}) => new TokenBench(server(), key, options),
  };
}
