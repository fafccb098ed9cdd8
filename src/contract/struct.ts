// Free data between JSON and protobuf's Struct. Knows nothing of what the data means.
import { AppError } from '../base/errors.ts';
import { isJsonList, type JsonObject, type JsonValue } from '../base/json.ts';
import { MAX_STRUCT_DEPTH } from './limits.ts';
import type { Struct, StructValue } from './messages.ts';
import { wellFormed } from './well-formed.ts';

/**
 * JSON data as a Struct. Lone surrogates are replaced, because the receiver would refuse the whole message.
 *
 * @throws AppError `bad_message` when it nests deeper than {@link MAX_STRUCT_DEPTH}.
 */
export function structFromJson(json: JsonObject): Struct {
  return toStruct(json, 1);
}

/**
 * A decoded Struct as JSON data; an absent one is empty. Values that JSON cannot express (no kind, infinity, NaN)
 * become null.
 *
 * @throws AppError `bad_message` when it nests deeper than {@link MAX_STRUCT_DEPTH}.
 */
export function jsonFromStruct(struct: Struct | undefined): JsonObject {
  return struct === undefined ? {} : fromStruct(struct, 1);
}

// Object.fromEntries defines its members, so that a key named __proto__ stays a key.
function toStruct(json: JsonObject, depth: number): Struct {
  checkDepth(depth);
  return { fields: Object.fromEntries(Object.entries(json).map(([key, member]) => [wellFormed(key), toValue(member, depth)])) };
}

function toValue(json: JsonValue, depth: number): StructValue {
  if (json === null) return { nullValue: 0 };
  if (typeof json === 'string') return { stringValue: wellFormed(json) };
  if (typeof json === 'number') return { numberValue: json };
  if (typeof json === 'boolean') return { boolValue: json };
  if (!isJsonList(json)) return { structValue: toStruct(json, depth + 1) };
  checkDepth(depth + 1);
  return { listValue: { values: json.map((item) => toValue(item, depth + 1)) } };
}

function fromStruct(struct: Struct, depth: number): JsonObject {
  checkDepth(depth);
  return Object.fromEntries(Object.entries(struct.fields ?? {}).map(([key, member]) => [key, fromValue(member, depth)]));
}

function fromValue(value: StructValue, depth: number): JsonValue {
  if (value.stringValue !== undefined) return value.stringValue;
  if (value.numberValue !== undefined) return Number.isFinite(value.numberValue) ? value.numberValue : null;
  if (value.boolValue !== undefined) return value.boolValue;
  if (value.structValue !== undefined) return fromStruct(value.structValue, depth + 1);
  if (value.listValue === undefined) return null;
  checkDepth(depth + 1);
  return (value.listValue.values ?? []).map((item) => fromValue(item, depth + 1));
}

function checkDepth(depth: number): void {
  if (depth <= MAX_STRUCT_DEPTH) return;
  throw new AppError('bad_message', `free data nests deeper than ${String(MAX_STRUCT_DEPTH)} levels`, {
    details: { limit: MAX_STRUCT_DEPTH },
  });
}
