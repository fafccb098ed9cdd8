// Which clients may speak to a server that asks for certificates: the authorities that sign them and the subjects that
// they may name. Knows PEM and names of certificates, no socket and no file.
import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { AppError } from './errors.ts';

/** Whom a server trusts. */
export interface ClientTrust {
  /** PEM, at least one; nobody else is trusted. */
  readonly authorities: readonly string[];
  /** As {@link subjectKey} makes them. */
  readonly subjects: ReadonlySet<string>;
}

/**
 * Why a client was refused: no certificate, no trusted authority in its chain, outside its validity period, or a subject that is not
 * listed.
 */
export const CLIENT_REFUSALS = ['missing', 'untrusted', 'expired', 'subject'] as const;
export type ClientRefusal = (typeof CLIENT_REFUSALS)[number];

/** One attribute of a subject. A type without a name is written as its number (OID). */
const ATTRIBUTE = String.raw`[A-Za-z\d][\w.]*=(?:[^,\\]|\\.)+`;
/** How a subject is written: `CN=host, O=Owner`. A CN is required; a backslash stands before each comma or backslash of a value. */
export const SUBJECT = new RegExp(`^(?=(?:.*,\\s*)?CN=)${ATTRIBUTE}(?:,\\s*${ATTRIBUTE})*$`, 'u');

const MAX_AUTHORITIES = 100;
const MAX_SUBJECTS = 1000;
const MAX_SUBJECT_LENGTH = 500;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu;
/** A PEM boundary line, also a truncated one. */
const PEM_LINE = /-{5}(?:BEGIN|END)/u;

/** The attributes of a subject, as Node gives them: an attribute that occurs several times is a list. */
export type SubjectAttributes = Readonly<Record<string, unknown>>;

/** The attributes of a subject in a form for comparison: sorted, because tools write them in different orders. */
export function subjectKey(attributes: SubjectAttributes): string {
  const pairs = Object.entries(attributes).flatMap(([type, value]) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.map((one) => JSON.stringify([type, String(one)]));
  });
  return pairs.sort().join(',');
}

/** The key of a subject in its written form ({@link SUBJECT}). */
export function writtenSubjectKey(text: string): string {
  const attributes: Record<string, string[]> = {};
  for (const [attribute] of text.matchAll(new RegExp(ATTRIBUTE, 'gu'))) {
    const type = attribute.slice(0, attribute.indexOf('='));
    (attributes[type] ??= []).push(
      attribute
        .slice(type.length + 1)
        .trim()
        .replaceAll(/\\(.)/gu, '$1'),
    );
  }
  return subjectKey(attributes);
}

/**
 * Subjects of a file, one on each line; empty lines and those that begin with # do not count.
 *
 * @throws AppError `config_invalid` when one cannot be read, or there are none or too many.
 */
export function subjectLines(content: Buffer, file: string): readonly string[] {
  const fail = (why: string): AppError => new AppError('config_invalid', `the file ${file} ${why}`, { details: { file } });
  const lines = content
    .toString('utf8')
    .split('\n')
    .map((line) => line.trim());
  const subjects = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (subjects.length === 0) throw fail('names no subject');
  if (subjects.length > MAX_SUBJECTS) throw fail(`names more than ${String(MAX_SUBJECTS)} subjects`);
  const wrong = lines.findIndex((line) => subjects.includes(line) && (line.length > MAX_SUBJECT_LENGTH || !SUBJECT.test(line)));
  if (wrong >= 0) throw fail(`has a line ${String(wrong + 1)} that is no subject such as CN=host, O=Owner`);
  return subjects;
}

/**
 * Authorities of a PEM file.
 *
 * @throws AppError `certificate_invalid` when one cannot be read or the file has other or incomplete blocks, when there are none or too
 * many, or when all have expired.
 */
export function authoritiesIn(content: Buffer, file: string, nowMs: number): readonly string[] {
  const fail = (why: string, cause?: unknown): AppError =>
    new AppError('certificate_invalid', `the file ${file} ${why}`, { details: { file }, cause });
  const text = content.toString('utf8');
  const authorities = text.match(PEM_CERTIFICATE) ?? [];
  if (authorities.length === 0) throw fail('holds no certificate in PEM');
  // A truncated file would silently shut out the clients of the missing authorities.
  if (PEM_LINE.test(text.replaceAll(PEM_CERTIFICATE, ''))) throw fail('holds something beside whole certificates in PEM');
  if (authorities.length > MAX_AUTHORITIES) throw fail(`holds more than ${String(MAX_AUTHORITIES)} certificates`);
  if (endsOf(authorities, fail).some((endsAtMs) => endsAtMs > nowMs)) return authorities;
  throw fail('holds only certificates that have ended');
}

/** When the certificates end, ms since the epoch. Reads every one, because the runtime silently skips unreadable ones. */
function endsOf(authorities: readonly string[], fail: (why: string, cause: unknown) => AppError): readonly number[] {
  try {
    return authorities.map((pem) => Date.parse(new X509Certificate(pem).validTo));
  } catch (cause) {
    throw fail('holds a certificate that cannot be read', cause);
  }
}

/** A built-in authority of the runtime, by its CN; undefined when none has this name. */
export function bundledAuthority(name: string): string | undefined {
  return rootCertificates.find((pem) => {
    const subject: SubjectAttributes = { ...new X509Certificate(pem).toLegacyObject().subject };
    return subject['CN'] === name;
  });
}
