import {
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type MessageShape,
} from '@bufbuild/protobuf';

/** Normalizes a value to JSON: drops undefined members and makes text valid UTF-8. */
export function asJson(value: unknown): JsonValue {
  return wellFormed(JSON.parse(JSON.stringify(value ?? null)) as JsonValue);
}

function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name.toWellFormed(), wellFormed(item)]),
  );
}

/**
 * Converts a response of the REST API to a message. Field names are the same in both; unknown fields are dropped.
 * @param value data of a response, e.g. the detail of a scan
 */
export function messageOf<Desc extends DescMessage>(desc: Desc, value: unknown): MessageShape<Desc> {
  return fromJson(desc, asJson(value), { ignoreUnknownFields: true });
}

/** The JSON text of an object, for a field that is a Struct. */
export function structOf(text: string): JsonObject {
  return wellFormed(JSON.parse(text) as JsonValue) as JsonObject;
}
