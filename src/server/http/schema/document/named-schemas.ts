import { isDeepStrictEqual } from 'node:util';
import {
  type ApiDocument,
  type ApiOperation,
  type ApiSchema,
  contentsOf,
  isReference,
  operationsOf,
} from './api-document.ts';

/** A title that is a name: `Scan`, `SeverityCounts`. */
const schemaName = /^[A-Z][A-Za-z0-9]*$/;

/**
 * Moves schemas whose title is a name (`Type.Object({…}, { title: 'Scan' })`) into the components of the document, each
 * once. Only the document has references: validation and serialization compile the schemas of the routes.
 * @throws Error if two different schemas have the same name
 */
export function nameSchemas(document: ApiDocument): void {
  const names = new SchemaNames();
  for (const operation of operationsOf(document)) {
    dropRepeatedDescriptions(operation);
    for (const media of contentsOf(operation).flatMap((content) => Object.values(content))) {
      if (media.schema) media.schema = names.lift(media.schema);
    }
    for (const parameter of operation.parameters ?? []) {
      if (!isReference(parameter) && parameter.schema) parameter.schema = names.lift(parameter.schema);
    }
  }
  document.components.schemas = { ...document.components.schemas, ...names.schemas() };
}

/** The description of a response is made from that of its schema. */
function dropRepeatedDescriptions({ responses }: ApiOperation): void {
  for (const response of Object.values(responses)) {
    if (isReference(response)) continue;
    for (const { schema } of Object.values(response.content ?? {})) {
      if (schema?.description === response.description) delete schema.description;
    }
  }
}

class SchemaNames {
  readonly #known = new Map<string, ApiSchema>();

  /** The schema with references in place of the named ones. */
  lift(schema: ApiSchema): ApiSchema {
    const lifted = withNested(schema, (nested) => this.lift(nested));
    const { title } = lifted;
    if (title === undefined || !schemaName.test(title)) return lifted;
    this.#add(title, lifted);
    return { $ref: `#/components/schemas/${title}` };
  }

  #add(name: string, { title: _title, ...schema }: ApiSchema): void {
    const known = this.#known.get(name);
    if (known && !isDeepStrictEqual(withoutExamples(known), withoutExamples(schema)))
      throw new Error(`two different schemas are named ${name}`);
    // The examples of a body move to its media type: the same schema within another one still has them.
    if (!known?.examples) this.#known.set(name, schema);
  }

  schemas(): Record<string, ApiSchema> {
    return Object.fromEntries([...this.#known].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}

function withoutExamples({ examples: _examples, ...schema }: ApiSchema): ApiSchema {
  return schema;
}

function withNested(schema: ApiSchema, map: (nested: ApiSchema) => ApiSchema): ApiSchema {
  const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, nested]) => [name, map(nested)])),
    }),
    ...(items && { items: map(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: map(additionalProperties) }),
    ...(anyOf && { anyOf: anyOf.map(map) }),
    ...(oneOf && { oneOf: oneOf.map(map) }),
    ...(allOf && { allOf: allOf.map(map) }),
  };
}
