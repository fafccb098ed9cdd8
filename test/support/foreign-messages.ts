// Random messages of any type, and what a message says in the form of the foreign implementation. Both follow the schema
// that protoc and Python make of proto/, never our own descriptors: otherwise a misreading of ours would agree with itself.
import fc from 'fast-check';
import type { ForeignField, ForeignSchema } from './python-codec.ts';

/** A message of a type that is known at run time only. */
export type AnyMessage = Readonly<Record<string, unknown>>;

/** Free data (Struct) refers to itself; deeper than this it is left out. */
const MAX_DEPTH = 5;

const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 1, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 100, maxLength: 2000 }) },
);
const bytes = fc
  .oneof(
    { weight: 8, arbitrary: fc.uint8Array({ maxLength: 200 }) },
    { weight: 2, arbitrary: fc.constantFrom(0, 15, 160, 16_384, 65_536).map((length) => new Uint8Array(length).fill(0xff)) },
  )
  .chain((array) => fc.boolean().map((isBuffer) => (isBuffer ? Buffer.from(array) : array)));
// A platform of a later version sends numbers we do not know (G-90).
const laterNumber = fc.integer();

/** Messages of `type`: any set of its fields, of a oneof at most one. */
export function messagesOf(schema: ForeignSchema, type: string, depth = 0): fc.Arbitrary<AnyMessage> {
  const fields = fieldsOf(schema, type).filter((field) => depth < MAX_DEPTH || leafOf(field).kind !== 'message');
  const loose = fields.filter((field) => field.kind === 'map' || field.oneof === '');
  const entries = loose.map((field) =>
    fc.option(
      valuesOf(schema, field, depth).map((value) => [[field.name, value]] as const),
      { nil: [] },
    ),
  );
  const choices = new Set(fields.flatMap((field) => (field.kind === 'map' || field.oneof === '' ? [] : [field.oneof])));
  for (const choice of choices) {
    const members = fields.filter((field) => field.kind !== 'map' && field.oneof === choice);
    entries.push(
      fc.option(fc.oneof(...members.map((field) => valuesOf(schema, field, depth).map((value) => [[field.name, value]] as const))), {
        nil: [],
        freq: 9,
      }),
    );
  }
  return fc.tuple(...entries).map((chosen) => Object.fromEntries(chosen.flat()));
}

function valuesOf(schema: ForeignSchema, field: ForeignField, depth: number): fc.Arbitrary<unknown> {
  if (field.kind === 'map') {
    const key = fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: fc.constant('__proto__') });
    return fc.array(fc.tuple(key, valuesOf(schema, field.values, depth)), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs));
  }
  const single = singleOf(schema, field, depth);
  return field.repeated ? fc.array(single, { maxLength: 3 }) : single;
}

function singleOf(schema: ForeignSchema, field: Exclude<ForeignField, { kind: 'map' }>, depth: number): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case 'string':
      return text;
    case 'bytes':
      return bytes;
    case 'bool':
      return fc.boolean();
    case 'int32':
      return fc.integer();
    case 'int64':
      // What a JavaScript number says exactly; the only int64 of the contract are the seconds of a time.
      return fc.maxSafeInteger();
    case 'double':
      return fc.double();
    case 'enum':
      return fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...Object.values(field.numbers ?? {})) },
        { weight: 1, arbitrary: laterNumber },
      );
    case 'message':
      return messagesOf(schema, field.type ?? '', depth + 1);
  }
}

/**
 * What a message says, written as python-codec.py writes it: without values that proto3 does not tell from absent ones.
 *
 * @throws Error when the message has a member that is no field of its type.
 */
export function said(schema: ForeignSchema, type: string, message: object): AnyMessage {
  const fields = new Map(fieldsOf(schema, type).map((field) => [field.name, field]));
  return Object.fromEntries(
    Object.entries(message).flatMap(([name, value]: [string, unknown]) => {
      const field = fields.get(name);
      if (field === undefined) throw new Error(`${type} has no field ${name}`);
      const content = saidField(schema, field, value);
      return content === undefined ? [] : [[name, content]];
    }),
  );
}

function saidField(schema: ForeignSchema, field: ForeignField, value: unknown): unknown {
  if (field.kind === 'map') {
    const entries = Object.entries(value as object).map(([key, item]: [string, unknown]) => [key, saidSingle(schema, field.values, item)]);
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }
  if (field.repeated) {
    const items = (value as unknown[]).map((item) => saidSingle(schema, field, item));
    return items.length === 0 ? undefined : items;
  }
  return !field.presence && isZero(value) ? undefined : saidSingle(schema, field, value);
}

function saidSingle(schema: ForeignSchema, field: ForeignField, value: unknown): unknown {
  if (field.kind === 'message') return said(schema, field.type ?? '', value as object);
  if (field.kind === 'bytes') return Buffer.from(value as Uint8Array).toString('base64');
  if (field.kind !== 'double') return value;
  const number = value as number;
  if (Number.isNaN(number)) return 'nan';
  const eight = Buffer.alloc(8);
  eight.writeDoubleBE(number);
  return eight.toString('hex');
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false || (value instanceof Uint8Array && value.length === 0);
}

function fieldsOf(schema: ForeignSchema, type: string): readonly ForeignField[] {
  const fields = schema.messages[type];
  if (fields === undefined) throw new Error(`proto/ has no message ${type}`);
  return fields;
}

function leafOf(field: ForeignField): ForeignField {
  return field.kind === 'map' ? field.values : field;
}
