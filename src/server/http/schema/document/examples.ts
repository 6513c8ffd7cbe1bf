import {
  type ApiDocument,
  type ApiMedia,
  type ApiOperation,
  type ApiSchema,
  isReference,
  operationsOf,
} from './api-document.ts';
import { mediaSamples, sampleOf } from './sample-values.ts';

/**
 * Gives bodies and responses without an example one that is made from their schema: its `examples` at any depth, else
 * typical values by field name. Requests show optional members, responses the required ones; a list within an item of a
 * list is empty, so that examples stay short.
 */
export function addExamples(document: ApiDocument): void {
  for (const operation of operationsOf(document)) {
    const bodies = new Examples(document, true);
    for (const media of Object.values(operation.requestBody?.content ?? {})) {
      if (!hasExample(media)) media.example = bodies.of(media.schema ?? {}, '');
    }
    const responses = new Examples(document, false);
    for (const [type, media] of responsesOf(operation)) {
      if (!hasExample(media)) media.example = mediaSamples[type] ?? responses.of(media.schema ?? {}, '');
    }
  }
}

/** Without the shared ones, which are errors. */
function responsesOf({ responses }: ApiOperation): [type: string, media: ApiMedia][] {
  return Object.values(responses).flatMap((response) =>
    isReference(response) ? [] : Object.entries(response.content ?? {}),
  );
}

function hasExample({ example, examples }: ApiMedia): boolean {
  return example !== undefined || examples !== undefined;
}

class Examples {
  readonly #document: ApiDocument;
  readonly #whole: boolean;
  #inList = false;

  /** @param whole with optional members */
  constructor(document: ApiDocument, whole: boolean) {
    this.#document = document;
    this.#whole = whole;
  }

  /** @param name of the field, empty at the top */
  of(schema: ApiSchema, name: string): unknown {
    if (schema.$ref !== undefined) return this.of(this.#named(schema.$ref), name);
    if (schema.examples?.length) return schema.examples[0];
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => this.of(part, name)));
    const choice = firstChoice(schema);
    if (choice) return this.of(choice, name);
    const sample = sampleOf(name);
    if (sample !== undefined && isAllowed(sample, schema)) return sample;
    if (schema.default !== undefined) return schema.default;
    if (schema.enum) return schema.enum[0];
    return this.#ofType(schema, name);
  }

  #named(reference: string): ApiSchema {
    return this.#document.components.schemas?.[reference.split('/').at(-1) as string] ?? {};
  }

  #ofType(schema: ApiSchema, name: string): unknown {
    switch (typeOf(schema)) {
      case 'object':
        return this.#object(schema);
      case 'array':
        return this.#array(schema, name);
      case 'string':
        return schema.format === 'date-time' ? sampleOf('timestamp') : name || 'text';
      case 'integer':
      case 'number':
        return schema.minimum ?? 0;
      case 'boolean':
        return false;
      case 'null':
        return null;
      default:
        return {};
    }
  }

  #array({ items, minItems = 0 }: ApiSchema, name: string): unknown[] {
    if (items === undefined || (this.#inList && minItems === 0)) return [];
    const outer = this.#inList;
    this.#inList = true;
    const item = this.of(items, name);
    this.#inList = outer;
    return [item];
  }

  #object({ properties = {}, required = [], additionalProperties }: ApiSchema): object {
    const members = Object.entries(properties).filter(([name]) => this.#whole || required.includes(name));
    const example = Object.fromEntries(members.map(([name, member]) => [name, this.of(member, name)]));
    if (Object.keys(properties).length > 0 || typeof additionalProperties !== 'object') return example;
    return { example: this.of(additionalProperties, 'example') };
  }
}

/** The first choice that is not null. */
function firstChoice({ anyOf, oneOf }: ApiSchema): ApiSchema | undefined {
  const choices = anyOf ?? oneOf ?? [];
  return choices.find(({ type }) => type !== 'null') ?? choices[0];
}

function typeOf({ type, properties }: ApiSchema): string | undefined {
  if (Array.isArray(type)) return type.find((one) => one !== 'null') ?? 'null';
  return type ?? (properties ? 'object' : undefined);
}

/** Whether a plain value fits a schema of a plain value. */
function isAllowed(value: unknown, schema: ApiSchema): boolean {
  if (schema.enum) return schema.enum.includes(value);
  const type = typeOf(schema);
  if (typeof value === 'string') return type === 'string' && isAllowedText(value, schema);
  if (typeof value !== 'number') return typeof value === type;
  const { minimum = -Infinity, maximum = Infinity } = schema;
  const ofType = type === 'number' || (type === 'integer' && Number.isInteger(value));
  return ofType && value >= minimum && value <= maximum;
}

function isAllowedText(
  text: string,
  { format, pattern, minLength = 0, maxLength = Infinity }: ApiSchema,
): boolean {
  if (format === 'date-time' && Number.isNaN(Date.parse(text))) return false;
  if (pattern !== undefined && !new RegExp(pattern).test(text)) return false;
  return text.length >= minLength && text.length <= maxLength;
}
