// The gRPC services of the contract: their definitions for server and client, and prompt audio as ready bytes. Knows
// nothing of calls, bots or turns. Only this file loads the protos.
import path from 'node:path';
import {
  loadSync,
  type AnyDefinition,
  type Deserialize,
  type MethodDefinition,
  type Options,
  type PackageDefinition,
  type Serialize,
} from '@grpc/proto-loader';
import { AppError } from '../base/errors.ts';
import { packageRoot } from '../base/package-root.ts';
import { FILE_DESCRIPTORS } from './gen/descriptors.ts';
import type {
  HealthRequest,
  HealthResponse,
  ListAgentsRequest,
  ListAgentsResponse,
  MediaRequest,
  MediaResponse,
  WirePrompt,
} from './messages.ts';
import type { PlatformProfile } from './profile.ts';
import { sendable } from './sendable.ts';

export type {
  HealthResponse,
  ListAgentsRequest,
  ListAgentsResponse,
  MediaRequest,
  MediaResponse,
  WireInputHandling,
  WirePrompt,
} from './messages.ts';
export {
  DTMF_KEY,
  dtmfCharacter,
  EVENT_INPUT,
  EVENT_OUTPUT,
  INPUT_MODE,
  RESPONSE_TYPE,
  SERVING_STATUS,
  VOICE_ENCODING,
} from './numbers.ts';

// The cheapest options, and field names as the proto writes them, which server reflection publishes. Measured
// 2026-11-21 on Node 20.20.2, one process per option, a request with 160 bytes of audio: 1.5 µs to encode, 0.48 µs to
// decode. `defaults` costs 0.25 µs more per decode (+55 %); oneofs, arrays, objects, enums and longs make no
// measurable difference and are not needed, so they stay off. scripts/generate.mjs passes the same options.
const LOADER_OPTIONS: Options = { keepCase: true, longs: Number };

declare const encoded: unique symbol;

/** The bytes of a whole response. Only {@link Contract} makes them. */
export type EncodedResponse = Buffer & { readonly [encoded]: true };

/** One RPC, for server and client. The type that is read may be narrower than the type that is written. */
interface Rpc<Request, Response, ReadResponse = Response> {
  path: string;
  requestStream: boolean;
  responseStream: boolean;
  requestSerialize: Serialize<Request>;
  requestDeserialize: Deserialize<Request>;
  responseSerialize: Serialize<Response>;
  responseDeserialize: Deserialize<ReadResponse>;
  originalName?: string;
}

// Type aliases and not interfaces: grpc-js wants an index signature, which only aliases get.
/** The media service. Its responses are written as messages or ready bytes, and read as messages. */
type MediaDefinition = Readonly<{
  ProcessCallerInput: Rpc<MediaRequest, MediaResponse | EncodedResponse, MediaResponse>;
  ListVirtualAgents: Rpc<ListAgentsRequest, ListAgentsResponse>;
}>;

/** The platform's own health service (U-01). */
type HealthDefinition = Readonly<{
  Check: Rpc<HealthRequest, HealthResponse>;
  Watch: Rpc<HealthRequest, HealthResponse>;
}>;

/** The wire for the code that uses it. */
export interface Contract {
  readonly media: {
    readonly definition: MediaDefinition;
    /** Full name of the service, for health and logs. */
    readonly serviceName: string;
    /** Method path, beginning with a slash. */
    readonly processCallerInputPath: string;
    /** Method path, beginning with a slash. */
    readonly listVirtualAgentsPath: string;
  };
  readonly health: { readonly definition: HealthDefinition; readonly serviceName: string };
  /** Everything the protos define, with file descriptors that server reflection can publish. */
  readonly packageDefinition: PackageDefinition;
  /**
   * The bytes of one prompt in a response: tag, length and body of an entry of `prompts`. Reusable in any number of
   * responses.
   */
  readonly encodePrompt: (prompt: WirePrompt) => Buffer;
  /** The bytes of a response. */
  readonly encodeResponse: (response: MediaResponse) => EncodedResponse;
  /**
   * The bytes of a response whose prompts are already encoded: the same as for the whole response encoded at once, because
   * protobuf concatenates the entries of a repeated field.
   *
   * @param promptFields - from {@link Contract.encodePrompt}, in the order they are to be played.
   */
  readonly assembleResponse: (promptFields: readonly Buffer[], rest: Omit<MediaResponse, 'prompts'>) => EncodedResponse;
}

/**
 * Loads the services that the profile names.
 *
 * @throws AppError `profile_invalid` when the protos define no such service or one of its methods is missing.
 */
export function loadContract(profile: PlatformProfile): Contract {
  const packageDefinition = loadProtos();
  const serviceName = `${profile.proto.mediaPackage}.${profile.proto.mediaService}`;
  const healthName = `${profile.proto.healthPackage}.Health`;
  const media = serviceOf(packageDefinition, serviceName);
  const health = serviceOf(packageDefinition, healthName);

  const callerInput = rpc<MediaRequest, MediaResponse>(media('ProcessCallerInput'));
  const encode = (response: MediaResponse): EncodedResponse => branded(callerInput.responseSerialize(sendable(response)));
  const definition: MediaDefinition = {
    ProcessCallerInput: {
      ...callerInput,
      responseSerialize: (response) => (isEncoded(response) ? response : encode(response)),
    },
    ListVirtualAgents: rpc<ListAgentsRequest, ListAgentsResponse>(media('ListVirtualAgents')),
  };
  return {
    media: {
      definition,
      serviceName,
      processCallerInputPath: definition.ProcessCallerInput.path,
      listVirtualAgentsPath: definition.ListVirtualAgents.path,
    },
    health: {
      definition: {
        Check: rpc<HealthRequest, HealthResponse>(health('Check')),
        Watch: rpc<HealthRequest, HealthResponse>(health('Watch')),
      },
      serviceName: healthName,
    },
    packageDefinition: reflectable(packageDefinition),
    encodePrompt: (prompt) => encode({ prompts: [prompt] }),
    encodeResponse: encode,
    assembleResponse: (promptFields, rest) => branded(Buffer.concat([...promptFields, encode(rest)])),
  };
}

let protos: PackageDefinition | undefined;

/** Parsed once per process, because parsing takes 20 ms. */
function loadProtos(): PackageDefinition {
  const folder = path.join(packageRoot(), 'proto');
  protos ??= loadSync([path.join(folder, 'voicevirtualagent.proto'), path.join(folder, 'health.proto')], LOADER_OPTIONS);
  return protos;
}

/**
 * The same definitions with descriptors that strict clients accept; scripts/descriptors.mjs explains the loader's
 * faults.
 */
function reflectable(definitions: PackageDefinition): PackageDefinition {
  const fileDescriptorProtos = FILE_DESCRIPTORS.map((base64) => Buffer.from(base64, 'base64'));
  return Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => [
      name,
      isMessageOrEnum(definition) ? { ...definition, fileDescriptorProtos } : definition,
    ]),
  );
}

function serviceOf(definitions: PackageDefinition, name: string): (method: string) => MethodDefinition<object, object> {
  const service: AnyDefinition | undefined = definitions[name];
  if (service === undefined || isMessageOrEnum(service)) {
    throw new AppError('profile_invalid', `proto/ defines no service ${name}: correct the section proto of the profile`, {
      details: { name },
    });
  }
  return (method) => {
    const found = service[method];
    if (found === undefined) {
      throw new AppError('profile_invalid', `the service ${name} has no method ${method}: correct the section proto of the profile`, {
        details: { name, method },
      });
    }
    return found;
  };
}

function isMessageOrEnum(
  definition: AnyDefinition,
): definition is Exclude<AnyDefinition, Record<string, MethodDefinition<object, object>>> {
  return typeof definition.format === 'string';
}

/** The loader types methods with `object`. A test compares the loaded protos with the generated types used here. */
function rpc<Request extends object, Response extends object>(method: MethodDefinition<object, object>): Rpc<Request, Response> {
  return {
    path: method.path,
    requestStream: method.requestStream,
    responseStream: method.responseStream,
    requestSerialize: method.requestSerialize,
    requestDeserialize: method.requestDeserialize as Deserialize<Request>,
    responseSerialize: method.responseSerialize,
    responseDeserialize: method.responseDeserialize as Deserialize<Response>,
    ...(method.originalName === undefined ? {} : { originalName: method.originalName }),
  };
}

function isEncoded(response: MediaResponse | EncodedResponse): response is EncodedResponse {
  return Buffer.isBuffer(response);
}

/** The brand exists for the compiler only. */
function branded(bytes: Buffer): EncodedResponse {
  return bytes as EncodedResponse;
}
