// The records of the administration interface: read leniently, because the platform's older and newer forms differ, and written
// strictly. Sends no request, and its errors quote no values.
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { looseCount, looseSingle, looseText, looseTime, looseWord } from './loose-fields.ts';

/** Longest lifetime of a data source's token, minutes (J-01); assumed when the lifetime is unknown. */
export const MAX_TOKEN_LIFETIME_MINUTES = 1440;

const id = z.string().min(1).max(512);
const written = z.string().min(1).max(2048);
const lifetimeMinutes = z.int().min(1).max(MAX_TOKEN_LIFETIME_MINUTES);

/** The names of the claims that only data-source tokens have. */
export type ClaimNames = PlatformProfile['jws']['claims'];

const dataSourceFields = z.object({
  id,
  url: looseText,
  schemaId: looseSingle,
  audience: looseSingle,
  subject: looseText,
  /** The current nonce, which is the `jti` of the current token (L-15). A secret. */
  nonce: looseText,
  tokenLifetimeMinutes: looseCount,
  tokenLifeMinutes: looseCount,
  /** In lower case: `active`, `disabled`, or a value that we do not know. */
  status: looseWord,
  errorMessage: looseText,
  /** Client id of the app that registered the data source. */
  applicationId: looseText,
  orgId: looseText,
  /** The current token of the data source; a secret. */
  jwsToken: looseText,
  jwtToken: looseText,
  tokenExpiryTime: looseTime,
  createdAt: looseText,
  createdBy: looseText,
  updatedAt: looseText,
});

type DataSourceFields = Readonly<z.infer<typeof dataSourceFields>>;

/** A data source as the platform sends it. Every member except the id may be missing, most often in lists. */
export interface DataSource extends Omit<DataSourceFields, 'tokenLifeMinutes' | 'jwtToken' | 'tokenExpiryTime'> {
  /** Expiry of the current token, ms since the epoch: from the record, otherwise the token's `exp` (L-06). */
  readonly tokenExpiresAtMs?: number | undefined;
}

const claimText = z.string().min(1).optional().catch(undefined);
const claimSeconds = z.number().positive().max(1e11).optional().catch(undefined);

/**
 * Reads a data source. Missing members come from the claims of its token, which are decoded without verification: they describe the record,
 * but authorize nothing (R-05, L-03).
 *
 * @throws AppError `platform_answer_invalid` for anything that is no object with an `id` (L-06).
 */
export function readDataSource(value: unknown, claims: ClaimNames): DataSource {
  const record = demand(dataSourceFields, value, 'a data source');
  const { tokenLifeMinutes, jwtToken, tokenExpiryTime, ...fields } = record;
  const jwsToken = record.jwsToken ?? jwtToken;
  const claimed = claimsOf(jwsToken, claims);
  return {
    ...fields,
    url: record.url ?? claimed.url,
    schemaId: record.schemaId ?? claimed.schemaId,
    audience: record.audience ?? claimed.audience,
    subject: record.subject ?? claimed.subject,
    nonce: record.nonce ?? claimed.nonce,
    tokenLifetimeMinutes: record.tokenLifetimeMinutes ?? tokenLifeMinutes ?? claimed.tokenLifetimeMinutes,
    orgId: record.orgId ?? claimed.orgId,
    jwsToken,
    tokenExpiresAtMs: tokenExpiryTime ?? claimed.tokenExpiresAtMs,
  };
}

/** Whether the platform delivers calls to the data source. */
export function isActive({ status }: Pick<DataSource, 'status'>): boolean {
  return status === 'active';
}

function claimsOf(token: string | undefined, names: ClaimNames) {
  const raw = decoded(token);
  const exp = claimSeconds.parse(raw['exp']);
  const iat = claimSeconds.parse(raw['iat']);
  return {
    url: claimText.parse(raw[names.url]),
    schemaId: claimText.parse(raw[names.schema]),
    orgId: claimText.parse(raw[names.org]),
    audience: looseSingle.parse(raw['aud']),
    subject: claimText.parse(raw['sub']),
    nonce: claimText.parse(raw['jti']),
    tokenExpiresAtMs: exp === undefined ? undefined : exp * 1000,
    tokenLifetimeMinutes: exp === undefined || iat === undefined ? undefined : looseCount.parse((exp - iat) / 60),
  };
}

function decoded(token: string | undefined): Readonly<Record<string, unknown>> {
  if (token === undefined) return {};
  try {
    return decodeJwt(token);
  } catch {
    // The claims of an unreadable token are not needed here; code that needs the token reports it as missing.
    return {};
  }
}

const createFields = z.strictObject({
  audience: written,
  subject: written,
  nonce: written,
  schemaId: z.guid({ error: 'must be a UUID' }),
  url: written.refine((url) => URL.canParse(url), { error: 'must be an address' }),
  tokenLifetimeMinutes: lifetimeMinutes,
});
const updateFields = createFields
  .partial()
  // The administrator of the organization sees the message.
  .extend({ status: z.enum(['active', 'disabled']).optional(), errorMessage: written.optional() })
  .refine((update) => Object.keys(update).length > 0, { error: 'changes nothing' })
  .refine(({ status, errorMessage }) => status !== 'disabled' || errorMessage !== undefined, {
    error: 'may be disabled only with an errorMessage (R-03)',
  });

/** The body that registers a data source; in practice every member is required. `nonce` is a secret. */
export type DataSourceCreate = Readonly<z.infer<typeof createFields>>;

/** The body that changes a data source; only given members are sent. A new token needs a new nonce. */
export type DataSourceUpdate = Readonly<z.infer<typeof updateFields>>;

/** Validates the body of a registration. @throws AppError `config_invalid` that names the problem without values. */
export function writeDataSource(create: DataSourceCreate): DataSourceCreate {
  return demandWritten(createFields, create, 'the data source');
}

/** Validates the body of a change. @throws AppError `config_invalid` that names the problem without values. */
export function writeDataSourceUpdate(update: DataSourceUpdate): DataSourceUpdate {
  demandWritten(updateFields, update, 'the change of a data source');
  return update;
}

const schemaFields = z.object({
  id,
  appType: looseText,
  createdAt: looseText,
  description: looseText,
  protocol: looseText,
  serviceType: looseText,
  url: looseText,
});

/** A schema that data sources can be registered with. */
export type Schema = Readonly<z.infer<typeof schemaFields>>;

/** Reads a schema. @throws AppError `platform_answer_invalid` when it is no object with an `id`. */
export function readSchema(value: unknown): Schema {
  return demand(schemaFields, value, 'a schema');
}

/**
 * The entries of a list: `{ items: [...] }` or a bare array.
 *
 * @throws AppError `platform_answer_invalid` for anything else (L-06), and what `read` throws.
 */
export function readList<T>(value: unknown, read: (entry: unknown) => T): readonly T[] {
  const list = Array.isArray(value) ? value : demand(z.object({ items: z.array(z.unknown()) }), value, 'a list').items;
  return list.map((entry: unknown) => read(entry));
}

/**
 * Parses what the platform sent.
 *
 * @throws AppError `platform_answer_invalid` that names the invalid fields without values.
 */
export function demand<T>(shape: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new AppError('platform_answer_invalid', `the platform sent something that is not ${what}: ${placesOf(parsed.error)}`);
}

/** Validates what we send. @throws AppError `config_invalid` that names the invalid fields without values. */
export function demandWritten<T>(shape: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  // Zod's own messages name types and bounds, but never the given value.
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || what} ${lowerFirst(issue.message)}`);
  throw new AppError('config_invalid', `${what} cannot be sent so: ${problems.slice(0, 10).join('; ')}`);
}

function placesOf(error: z.ZodError): string {
  const places = error.issues.map((issue) =>
    issue.path.length === 0 ? 'it has another form' : `${issue.path.join('.')} is missing or wrong`,
  );
  return [...new Set(places)].slice(0, 10).join(', ');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
