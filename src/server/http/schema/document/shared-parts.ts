import {
  type ApiDocument,
  type ApiMedia,
  type ApiParameter,
  type ApiReference,
  contentsOf,
  isReference,
  operationsOf,
} from './api-document.ts';

/** Examples shorter than this stay where they are, characters of JSON. */
const leastSharedLength = 300;

/** Parameters that several operations have stand once, in the components of the document. */
export function shareParameters(document: ApiDocument): void {
  const operations = operationsOf(document);
  const shared = sharedBy(
    operations.flatMap(({ parameters = [] }) => parameters.filter(isParameter)),
    (parameter) => typeName(parameter.name),
  );
  for (const operation of operations) {
    operation.parameters &&= operation.parameters.map((parameter) => {
      const name = shared.nameOf(parameter);
      return name === null ? parameter : { $ref: `#/components/parameters/${name}` };
    });
  }
  document.components.parameters = shared.parts as Record<string, ApiParameter>;
}

function isParameter(parameter: ApiParameter | ApiReference): parameter is ApiParameter {
  return !isReference(parameter);
}

/** Long examples that several operations have stand once. */
export function shareExamples(document: ApiDocument): void {
  const named = operationsOf(document).flatMap((operation) =>
    contentsOf(operation)
      .flatMap((content) => Object.values(content))
      .filter(({ example }) => (JSON.stringify(example)?.length ?? 0) >= leastSharedLength)
      .map((media) => ({ media, name: operation.operationId ?? 'example' })),
  );
  const names = new Map(named.toReversed().map(({ media, name }) => [JSON.stringify(media.example), name]));
  const shared = sharedBy(
    named.map(({ media }) => media.example),
    (example) => names.get(JSON.stringify(example)) ?? 'example',
  );
  for (const { media } of named) referTo(media, shared.nameOf(media.example));
  document.components.examples = Object.fromEntries(
    Object.entries(shared.parts).map(([name, value]) => [name, { value }]),
  );
}

function referTo(media: ApiMedia, name: string | null): void {
  if (name === null) return;
  delete media.example;
  media.examples = { example: { $ref: `#/components/examples/${name}` } };
}

interface SharedParts<T> {
  /** By name, in alphabetical order. */
  parts: Record<string, T>;
  /** Null for a part that is not shared. */
  nameOf(part: unknown): string | null;
}

/** The parts that occur more than once. Of different ones with the same name the most frequent has it. */
function sharedBy<T>(all: readonly T[], nameOf: (part: T) => string): SharedParts<T> {
  const groups = [...Map.groupBy(all, (part) => JSON.stringify(part))]
    .filter(([, equal]) => equal.length > 1)
    .sort(([, one], [, other]) => other.length - one.length);
  const byName = new Map<string, { text: string; part: T }>();
  for (const [text, [part]] of groups) {
    const name = nameOf(part as T);
    if (!byName.has(name)) byName.set(name, { text, part: part as T });
  }
  const names = new Map([...byName].map(([name, { text }]) => [text, name]));
  const sorted = [...byName].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    parts: Object.fromEntries(sorted.map(([name, { part }]) => [name, part])),
    nameOf: (part) => names.get(JSON.stringify(part)) ?? null,
  };
}

/** `last-event-id` as `LastEventId`. */
function typeName(name: string): string {
  return name.replace(/(?:^|[_-])(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
