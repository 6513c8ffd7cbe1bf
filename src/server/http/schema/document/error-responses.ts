import { Type } from 'typebox';
import { type ErrorCode, errorCatalog } from '../../../../domain/errors.ts';
import {
  type ApiDocument,
  type ApiReference,
  type ApiResponse,
  isReference,
  operationsOf,
} from './api-document.ts';
import { sampleOf } from './sample-values.ts';

/** Errors that do not depend on the operation; every operation has them, as its `default` response. */
const commonCodes: readonly ErrorCode[] = [
  'tenant_forbidden',
  'forbidden_origin',
  'payload_too_large',
  'uri_too_long',
  'unsupported_media_type',
  'headers_too_large',
  'internal_error',
  'unavailable',
  'timeout',
  'insufficient_storage',
];

/** Marks the place of an error response until the document is completed. */
const codesMark = 'x-error-codes';

/** Codes that responses of the API have. */
const sentCodes = (Object.keys(errorCatalog) as ErrorCode[]).filter(
  (code) => errorCatalog[code].status !== null,
);

/** The error object of every 4xx and 5xx response. */
const errorSchema = Type.Object(
  {
    error: Type.Object({
      code: Type.Enum(sentCodes),
      message: Type.String({ description: 'human-readable message' }),
      details: Type.Object(
        {
          request_id: Type.Optional(Type.String({ description: 'as in X-Request-Id' })),
          fields: Type.Optional(
            Type.Array(Type.Object({ field: Type.String(), reason: Type.String() }), {
              description: 'every problem of an invalid request',
            }),
          ),
          index_share: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: 1,
              description: 'of a `timeout` while the index of a record is being built: the part that it has',
            }),
          ),
        },
        { additionalProperties: true },
      ),
    }),
  },
  { additionalProperties: true },
);

/** A response with one of these errors, completed by `shareErrors`. */
export function errorMark(codes: readonly ErrorCode[]): object {
  return { type: 'object', [codesMark]: [...new Set(codes)].sort() };
}

/** Gives the marked responses their content; equal ones stand once, in the components of the document. */
export function shareErrors(document: ApiDocument): void {
  const shared = new Map<string, ApiResponse>();
  for (const { responses } of operationsOf(document)) {
    for (const [status, response] of Object.entries(responses)) {
      const codes = codesOf(response);
      if (codes === null) continue;
      const name = codes.map(typeName).join('Or');
      shared.set(name, errorResponse(codes));
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
    responses['default'] = { $ref: '#/components/responses/OtherError' };
  }
  shared.set('OtherError', otherError());
  const { components } = document;
  components.responses = Object.fromEntries([...shared].sort(([one], [other]) => (one < other ? -1 : 1)));
  components.schemas = { ...components.schemas, Error: structuredClone<object>(errorSchema) };
}

function codesOf(response: ApiResponse | ApiReference): ErrorCode[] | null {
  if (isReference(response)) return null;
  const schema = response.content?.['application/json']?.schema as { [codesMark]?: ErrorCode[] } | undefined;
  return schema?.[codesMark] ?? null;
}

/** `not_found` as `NotFound`. */
function typeName(code: ErrorCode): string {
  return code.replace(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

/** Its description also names the common errors of the same status. */
function errorResponse(codes: readonly ErrorCode[]): ApiResponse {
  const [code = 'internal_error'] = codes;
  const { meaning: message } = errorCatalog[code];
  const example = { error: { code, message, details: { request_id: sampleOf('request_id') } } };
  return {
    description: [...codes, ...commonCodesBeside(codes)]
      .map((one) => `\`${one}\`: ${errorCatalog[one].meaning}`)
      .join(' '),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, example } },
  };
}

function commonCodesBeside(codes: readonly ErrorCode[]): ErrorCode[] {
  const statuses = codes.map((code) => errorCatalog[code].status);
  return commonCodes.filter((code) => statuses.includes(errorCatalog[code].status) && !codes.includes(code));
}

function otherError(): ApiResponse {
  const texts = commonCodes.map((code) => {
    const { status, meaning } = errorCatalog[code];
    return `${status} \`${code}\`: ${meaning}`;
  });
  return { ...errorResponse(['internal_error']), description: `Any other error. ${texts.join(' ')}` };
}
