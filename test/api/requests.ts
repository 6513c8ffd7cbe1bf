import fc from 'fast-check';

/** What is used of an OpenAPI 3.1 document. */
export interface ApiDocument {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
}

export interface Operation {
  parameters?: { name: string; in: 'query' | 'path' | 'header'; schema: Schema; required?: boolean }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description?: string; content?: Record<string, { schema?: Schema }> }>;
}

export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  pattern?: string;
  additionalProperties?: boolean;
}

export interface GeneratedRequest {
  method: string;
  /** Path of the document, e.g. `/api/v1/scans/{scan_id}`. */
  route: string;
  /** Path and query as sent. */
  url: string;
  headers: Record<string, string>;
  body: string | null;
}

/** Values by field name that mean something to the service, so that many requests get past validation. */
export type Vocabulary = Record<string, { good: readonly unknown[]; bad?: readonly unknown[] }>;

/** Any request to an operation: well-formed ones, nearly right ones, and nonsense. */
export function anyRequest(
  route: string,
  method: string,
  operation: Operation,
  words: Vocabulary,
): fc.Arbitrary<GeneratedRequest> {
  const parameters = operation.parameters ?? [];
  const body = operation.requestBody?.content['application/json']?.schema;
  return fc
    .record({
      path: fc.record(Object.fromEntries(inPlace('path').map((p) => [p.name, pathValue(p.name, words)]))),
      query: fc.array(queryPart(inPlace('query'), words), { maxLength: 4 }),
      headers: someHeaders(inPlace('header'), words),
      content: body ? anyBody(body, words) : fc.constant(null),
    })
    .map(({ path, query, headers, content }) => ({
      method,
      route,
      url: `${fill(route, path)}${query.length > 0 ? `?${query.join('&')}` : ''}`,
      headers: { ...headers, ...content?.headers },
      body: content?.text ?? null,
    }));

  function inPlace(place: string) {
    return parameters.filter((parameter) => parameter.in === place);
  }
}

function fill(route: string, path: Record<string, string>): string {
  return route.replace(/\{(\w+)\}/g, (_all, name: string) => path[name] ?? 'x');
}

const hostileIds = [
  '..',
  '%2e%2e%2f',
  '..%5c',
  '%00',
  '%2fetc%2fpasswd',
  'x'.repeat(5000),
  '%E0%A4%A',
  '*',
  '~',
];

function pathValue(name: string, words: Vocabulary): fc.Arbitrary<string> {
  const known = wordsOf(name, words)?.map(String) ?? fc.constant('x');
  return fc.oneof(
    { weight: 12, arbitrary: known },
    { weight: 2, arbitrary: fc.constantFrom(...hostileIds) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map(percent) },
  );
}

function queryPart(parameters: { name: string; schema: Schema }[], words: Vocabulary): fc.Arbitrary<string> {
  const name = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...parameters.map((p) => p.name), 'limit') },
    { weight: 1, arbitrary: fc.string({ maxLength: 20 }) },
  );
  return name.chain((chosen) => {
    const schema = parameters.find((parameter) => parameter.name === chosen)?.schema ?? {};
    const value = fc.oneof(
      { weight: 12, arbitrary: fitting(schema, chosen, words) },
      {
        weight: 3,
        arbitrary: fc.constantFrom('-1', '0', '1e9', '10;', '', 'null', '1001', '9'.repeat(30), '\u0661'),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
    );
    return value.map((one) => `${percent(chosen)}=${percent(String(one))}`);
  });
}

function someHeaders(
  declared: { name: string; schema: Schema }[],
  words: Vocabulary,
): fc.Arbitrary<Record<string, string>> {
  const visible = fc.stringMatching(/^[!-~]{1,300}$/);
  const own = declared.map(({ name, schema }) => [
    name,
    fc.option(
      fc.oneof(
        visible,
        fitting(schema, name, words).map((value) => String(value) || '0'),
      ),
      { nil: undefined },
    ),
  ]);
  const general = {
    accept: fc.constantFrom(
      '*/*',
      'application/json',
      'text/csv',
      'application/problem+json',
      'image/png',
      ';;,q=x',
    ),
    'x-request-id': visible,
    'x-tenant-id': visible,
    authorization: fc.oneof(visible, fc.constant('Bearer svc_abcdef_x'), fc.constant('Basic eDp5')),
    origin: fc.constantFrom('null', 'https://example.net'),
    'if-none-match': visible,
    'x-forwarded-for': visible,
  };
  return fc
    .record({ ...Object.fromEntries(own), ...general }, { requiredKeys: [] })
    .map((headers) => Object.fromEntries(Object.entries(headers).filter(([, value]) => printable(value))))
    .map((headers) => headers as Record<string, string>);
}

function printable(value: unknown): boolean {
  return typeof value === 'string' && /^[\t\x20-\x7e]+$/.test(value);
}

interface Content {
  text: string;
  headers: Record<string, string>;
}

const json = { 'content-type': 'application/json' };

function anyBody(schema: Schema, words: Vocabulary): fc.Arbitrary<Content | null> {
  const good = fitting(schema, '', words);
  return fc.oneof(
    { weight: 8, arbitrary: good.map((value) => ({ text: JSON.stringify(value), headers: json })) },
    { weight: 6, arbitrary: spoiled(good).map((value) => ({ text: JSON.stringify(value), headers: json })) },
    { weight: 2, arbitrary: fc.json().map((text) => ({ text, headers: json })) },
    { weight: 2, arbitrary: brokenText.map((text) => ({ text, headers: json })) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(
          'text/plain',
          'application/xml',
          'multipart/form-data; boundary=x',
          'application/json; a=b',
          'x',
        )
        .map((type) => ({ text: '{}', headers: { 'content-type': type } })),
    },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

const brokenText = fc.constantFrom(
  '',
  '{',
  '{"a":}',
  '{"targets":["127.0.0.1"]} trailing',
  '\ufeff{"targets":["127.0.0.1"]}',
  '{"__proto__":{"polluted":1},"targets":["127.0.0.1"]}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  `{"targets":["127.0.0.1"],"rate":1e999}`,
  `{"targets":["127.0.0.1"],"rate":9007199254740993}`,
  `{"targets":["127.0.0.1"],"targets":["10.0.0.300"]}`,
  '"\\ud800"',
  'null',
  '[]',
);

/** A good value with one member, at any depth, of another kind. */
function spoiled(good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const nonsense = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      -1,
      0,
      1.5,
      '',
      [],
      {},
      true,
      '\u0000',
      '<script>',
      "'; drop table scans; --",
      [[]],
    ),
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.double(),
  );
  return fc
    .tuple(good, nonsense, fc.nat(), fc.string({ maxLength: 12 }))
    .map(([value, bad, choice, name]) => {
      if (typeof value !== 'object' || value === null) return bad;
      const names = Object.keys(value);
      const chosen =
        choice % (names.length + 1) === names.length ? name : (names[choice % (names.length + 1)] as string);
      return Array.isArray(value) ? [...value, bad] : { ...value, [chosen]: bad };
    });
}

/** A value that the schema allows. */
export function fitting(schema: Schema, name: string, words: Vocabulary): fc.Arbitrary<unknown> {
  const known = schema.type === 'array' ? null : wordsOf(name, words);
  if (known) return known;
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => fitting(choice, name, words)));
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return object(schema, words);
    case 'array':
      return fc.array(fitting(schema.items ?? {}, name, words), {
        minLength: schema.minItems ?? 0,
        maxLength: 4,
      });
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 100_000, 2 ** 31 - 1) });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return text(schema);
  }
}

/** Mostly good ones: a request with ten fields should often be right in all of them. */
function wordsOf(name: string, words: Vocabulary): fc.Arbitrary<unknown> | null {
  const known = Object.hasOwn(words, name) ? words[name] : undefined;
  if (!known) return null;
  const good = fc.constantFrom(...known.good);
  if (!known.bad) return good;
  return fc.oneof({ weight: 40, arbitrary: good }, { weight: 1, arbitrary: fc.constantFrom(...known.bad) });
}

function object(schema: Schema, words: Vocabulary): fc.Arbitrary<unknown> {
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => [
    name,
    fitting(member, name, words),
  ]);
  return fc.record(Object.fromEntries(members), { requiredKeys: (schema.required ?? []) as never[] });
}

function text({ pattern, minLength, maxLength }: Schema): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ unit: 'grapheme', minLength: minLength ?? 0, maxLength: Math.min(maxLength ?? 40, 40) });
}

/** Percent-encodes so that node:http sends it; lone surrogates become the replacement character. */
function percent(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}
