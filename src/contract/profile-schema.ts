// The schema of a platform profile. Each rule's message is the correction that the operator reads.
import { z } from 'zod';

const text = (mend: string, pattern = /\S/) => z.string({ error: mend }).max(500, { error: mend }).regex(pattern, { error: mend });
const list = (mend: string, item: z.ZodString) => z.array(item, { error: mend }).max(50, { error: mend }).readonly();
const flag = (mend: string) => z.boolean({ error: mend });

const PROTO_PACKAGE = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/;
const PROTO_NAME = /^[A-Z][A-Za-z0-9]*$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const METADATA_KEY = /^[a-z][a-z0-9_.-]*$/;
const HTTP_HEADER = /^[A-Za-z][A-Za-z0-9-]*$/;
const URL_PATH = /^(\/[\w.~-]+)+$/;
const HTTPS_BASE = /^https:\/\/[a-z0-9.-]+(:\d+)?(\/[\w.~-]+)*$/;
const LOOPBACK_BASE = /^http:\/\/(127\.0\.0\.1|localhost):\d+(\/[\w.~-]+)*$/;

// All allowed forms of an issuer (J-12, J-13); a later check restricts them per profile.
const ISSUER = new RegExp(`${HTTPS_BASE.source}|${LOOPBACK_BASE.source}`);
const ISSUER_CORRECTION = 'give it exactly as the `iss` claim says it: https, lower-case host, no slash at the end, no query';

const jws = z
  .strictObject({
    issuers: list('give a list of the issuers whose tokens are taken; it may be empty', text(ISSUER_CORRECTION, ISSUER)),
    testIssuers: list('give a list of the issuers of test organizations; it may be empty', text(ISSUER_CORRECTION, ISSUER)),
    keySetSuffix: text('give the path of the key set below the issuer, beginning with a slash', URL_PATH),
    allowLoopbackHttpIssuers: flag('say true or false; true only for a platform that runs on the same machine'),
    claims: z
      .strictObject({
        url: text('name the claim that holds the registered address (J-19)'),
        schema: text('name the claim that holds the schema id (J-1A)'),
        org: text('name the claim that holds the organization (J-1B)'),
      })
      .readonly(),
  })
  .superRefine((value, context) => {
    for (const key of ['issuers', 'testIssuers'] as const) {
      value[key].forEach((issuer, index) => {
        // The item's pattern reports all other faults, even while other keys are missing.
        if (value.allowLoopbackHttpIssuers || !LOOPBACK_BASE.test(issuer)) return;
        context.addIssue({ code: 'custom', path: [key, index], message: ISSUER_CORRECTION, input: issuer });
      });
    }
  })
  .readonly();

const REST_BASE = new RegExp(`${HTTPS_BASE.source}|${LOOPBACK_BASE.source}`);
const REST_BASE_CORRECTION = 'give the base address of the administration interface, https, without a slash at the end';

const rest = z
  .strictObject({
    baseUrl: text(REST_BASE_CORRECTION, REST_BASE),
    // Default: false; then every address must be https, including webhooks and redirects.
    allowLoopbackHttp: flag('say true or false; true only for a platform that runs on the same machine').optional(),
    authorizePath: text('give the path of the authorization page below the base', URL_PATH),
    tokenPath: text('give the path of the token endpoint below the base', URL_PATH),
    trackingHeader: text('name the response header of the correlation id', HTTP_HEADER),
  })
  .superRefine((value, context) => {
    // As with the issuers, the pattern reports all other faults.
    if (value.allowLoopbackHttp === true || !LOOPBACK_BASE.test(value.baseUrl)) return;
    context.addIssue({ code: 'custom', path: ['baseUrl'], message: REST_BASE_CORRECTION, input: value.baseUrl });
  })
  .readonly();

// The media server's section comes first and is mandatory; the other sections belong to the administration module and
// are optional.
/** A platform profile; unknown keys are refused, so that a misspelt one is noticed. */
export const profileSchema = z
  .strictObject({
    name: text('give the name of the platform, for people'),
    proto: z
      .strictObject({
        mediaPackage: text('name the protobuf package of the media service, such as a.b.v1', PROTO_PACKAGE),
        mediaService: text('name the media service, such as VoiceAgent', PROTO_NAME),
        healthPackage: text('name the protobuf package of the health service, such as a.b.v1', PROTO_PACKAGE),
      })
      .readonly(),
    metadata: z
      .strictObject({
        authorization: text('name the gRPC metadata key of the token, in lower case', METADATA_KEY),
        trackingId: text('name the gRPC metadata key of the correlation id, in lower case', METADATA_KEY),
      })
      .readonly(),
    jws,
    schemas: z
      .strictObject({
        grpc: text('give the schema id of the gRPC interface, a lower-case UUID', UUID),
        websocket: text('give the schema id of the WebSocket interface, a lower-case UUID', UUID),
      })
      .readonly(),
    env: z.strictObject({ prefix: text('give the prefix of environment variables, such as ABC_', /^[A-Z][A-Z0-9]*_$/) }).readonly(),
    admin: z.strictObject({ consoleName: text("name the platform's administration page, for messages") }).readonly(),
    websocket: z
      .strictObject({
        voicePath: text('give the path of the voice channel', URL_PATH),
        listPath: text('give the path of the agent list channel', URL_PATH),
      })
      .readonly()
      .optional(),
    rest: rest.optional(),
    oauth: z
      .strictObject({
        integrationScopes: list('give the scopes of the integration', text('give one scope', /^\S+$/)),
        serviceAppScopes: list('give the scopes of the service app', text('give one scope', /^\S+$/)),
        // Default: true. Most platforms without PKCE ignore it; some refuse unknown parameters.
        pkce: flag('say true or false; false only for a platform that refuses PKCE').optional(),
      })
      .readonly()
      .optional(),
    ids: z
      .strictObject({ urnScheme: text('give the scheme of encoded ids, ending in ://', /^[a-z][a-z0-9+.-]*:\/\/$/) })
      .readonly()
      .optional(),
    webhook: z
      .strictObject({
        sha1SignatureHeader: text('name the header of the SHA-1 signature', HTTP_HEADER),
        sha2SignatureHeader: text('name the header of the SHA-256 or SHA-512 signature', HTTP_HEADER),
        appResource: text('name the resource of app authorizations', /^\w+$/),
        dataSourceResource: text('name the resource of data sources', /^\w+$/),
      })
      .readonly()
      .optional(),
    mtls: z
      .strictObject({
        rootCa: text('name the root certificate that signs the client certificates'),
        clientSubjects: list('give the subjects of client certificates', text('give one subject, such as CN=host, O=Owner')),
      })
      .readonly()
      .optional(),
    defaults: z
      .strictObject({
        audience: text('give the audience proposed for a new data source'),
        subject: text('give the subject proposed for a new data source'),
      })
      .readonly()
      .optional(),
  })
  .readonly();
