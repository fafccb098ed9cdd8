// The messages of the wire as our code sees them, in both directions, under neutral names. Types only.
//
// They follow from the generated types with three corrections that make them honest:
// - Enums are numbers, not a closed list: a newer platform may send numbers we do not know (G-90).
// - Bytes are Uint8Array. A decoded message holds a Buffer that is a view into the bytes received, never a copy
//   (protobufjs 7.6 slices with Buffer.prototype.slice); keeping it keeps the whole received chunk in memory.
// - Everything may be absent: proto3 does not send zero values, and our loader fills in no defaults.
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

/** One thing the caller or the flow did; one of `audio_input`, `dtmf_input`, `event_input` is mandatory (G-18). */
export type MediaRequest = Wire<DecodedRequest>;
/** One answer. */
export type MediaResponse = Wire<DecodedResponse>;
/** Something the caller hears. */
export type WirePrompt = Wire<DecodedPrompt>;
/** Timers and key rules for the next input; mandatory on a FINAL that does not end the call (G-80). */
export type WireInputHandling = Wire<DecodedInputHandling>;
/** Who asks for agents. */
export type ListAgentsRequest = Wire<DecodedListAgentsRequest>;
/** The agents on offer (G-05). */
export type ListAgentsResponse = Wire<DecodedListAgentsResponse>;
/** Which service is asked about. */
export type HealthRequest = Wire<DecodedHealthRequest>;
/** How it does. */
export type HealthResponse = Wire<DecodedHealthResponse>;
/** Free data as protobuf carries it; see struct.ts for the way to JSON and back. */
export type Struct = Wire<DecodedStruct>;
/** One value of a {@link Struct}. */
export type StructValue = Wire<DecodedValue>;
