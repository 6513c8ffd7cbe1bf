/** What is used of JSON Schema in the OpenAPI document. */
export interface ApiSchema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  properties?: Record<string, ApiSchema>;
  required?: string[];
  items?: ApiSchema;
  additionalProperties?: boolean | ApiSchema;
  anyOf?: ApiSchema[];
  oneOf?: ApiSchema[];
  allOf?: ApiSchema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
}

export interface ApiMedia {
  schema?: ApiSchema;
  example?: unknown;
  examples?: Record<string, object>;
}

export interface ApiResponse {
  description: string;
  content?: Record<string, ApiMedia>;
}

export interface ApiReference {
  $ref: string;
}

export interface ApiParameter {
  name: string;
  in: string;
  schema?: ApiSchema;
}

export interface ApiOperation {
  operationId?: string;
  parameters?: (ApiParameter | ApiReference)[];
  requestBody?: { content: Record<string, ApiMedia> };
  responses: Record<string, ApiResponse | ApiReference>;
}

export interface ApiComponents {
  schemas?: Record<string, ApiSchema>;
  responses?: Record<string, ApiResponse>;
  parameters?: Record<string, ApiParameter>;
  examples?: Record<string, { value: unknown }>;
}

/** An OpenAPI 3.1 document, as far as it is completed here. */
export interface ApiDocument {
  paths: Record<string, Record<string, ApiOperation>>;
  components: ApiComponents;
}

export function operationsOf({ paths }: ApiDocument): ApiOperation[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

export function isReference(part: object): part is ApiReference {
  return '$ref' in part;
}

/** Bodies of requests and successes of an operation, by media type. */
export function contentsOf({ requestBody, responses }: ApiOperation): Record<string, ApiMedia>[] {
  const found = Object.values(responses).flatMap((response) =>
    isReference(response) || !response.content ? [] : [response.content],
  );
  return requestBody ? [requestBody.content, ...found] : found;
}
