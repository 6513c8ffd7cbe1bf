import { Type } from 'typebox';
import { type ErrorCode, errorCatalog } from '../../../../domain/errors.ts';
import {
  type ApiDocument,
  type ApiReference,
  type ApiResponse,
  isReference,
  operationsOf,
} from './api-document.ts';

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
  }
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

function errorResponse(codes: readonly ErrorCode[]): ApiResponse {
  const [first = 'internal_error'] = codes;
  const these = { type: 'object', properties: { code: { type: 'string', enum: [...codes] } } };
  return {
    description: codes.map((code) => `${code}: ${errorCatalog[code].meaning}`).join(' '),
    content: {
      'application/json': {
        schema: {
          allOf: [{ $ref: '#/components/schemas/Error' }, { type: 'object', properties: { error: these } }],
        },
        example: {
          error: {
            code: first,
            message: errorCatalog[first].meaning,
            details: { request_id: '5c1f0d2e9a7b4c36' },
          },
        },
      },
    },
  };
}
