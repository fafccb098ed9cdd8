// The messages of the wire as our code sees them, in both directions, under neutral names. Types only.
//
// They are the generated types with three corrections:
// - Enums are numbers, not a closed list: a newer platform may send numbers we do not know (G-90).
// - Bytes are Uint8Array. A decoded message contains a view into the received bytes, never a copy (protobufjs 7.6
//   slices with Buffer.prototype.slice); it keeps the whole received chunk in memory.
// - Every field may be absent: proto3 does not send zero values, and the loader sets no defaults.
import type {
  DecodedHealthRequest,
  DecodedHealthResponse,
  DecodedInputHandling,
  DecodedListAgentsRequest,
  DecodedListAgentsResponse,
  DecodedPrompt,
  DecodedRequest,
  DecodedResponse,
  DecodedStruct,
  DecodedValue,
} from './gen/wire.ts';

type Wire<T> = T extends number
  ? number
  : T extends string | boolean
    ? T
    : T extends Uint8Array
      ? Uint8Array
      : T extends readonly (infer Item)[]
        ? readonly Wire<Item>[]
        : { readonly [Key in keyof T]: Wire<T[Key]> };

/** An input of the caller or the flow; one of `audio_input`, `dtmf_input`, `event_input` is mandatory (G-18). */
export type MediaRequest = Wire<DecodedRequest>;
export type MediaResponse = Wire<DecodedResponse>;
export type WirePrompt = Wire<DecodedPrompt>;
/** Timers and key rules for the next input; mandatory on a FINAL that does not end the call (G-80). */
export type WireInputHandling = Wire<DecodedInputHandling>;
export type ListAgentsRequest = Wire<DecodedListAgentsRequest>;
/** The available agents (G-05). */
export type ListAgentsResponse = Wire<DecodedListAgentsResponse>;
export type HealthRequest = Wire<DecodedHealthRequest>;
export type HealthResponse = Wire<DecodedHealthResponse>;
/** Free data in protobuf; struct.ts converts it to and from JSON. */
export type Struct = Wire<DecodedStruct>;
/** One value of a {@link Struct}. */
export type StructValue = Wire<DecodedValue>;
