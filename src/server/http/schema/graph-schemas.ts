import { Type } from 'typebox';
import type { GraphVerdict } from '../../../actions/graphs/check-graph.ts';
import type { GraphDetail } from '../../../actions/graphs/show-graph.ts';
import type { ProfileDetail } from '../../../actions/graphs/show-profile.ts';
import { countSchema, nullableText } from './schemas.ts';

const names = Type.Array(Type.String());

const graphMembers = {
  name: Type.String(),
  description: Type.String(),
  nodes: Type.Array(
    Type.Object({
      instance_id: Type.String(),
      module_type: Type.String(),
      type: Type.Unsafe<string | null>({ ...nullableText, description: 'null for an unknown module' }),
      depends_on: names,
      options: Type.Object({}, { additionalProperties: true, description: 'as the file sets them' }),
      requires: Type.Array(Type.String(), { description: 'keys; `a|b` = one of them' }),
      provides: names,
    }),
  ),
  edges: Type.Array(
    Type.Object({
      from: Type.String(),
      to: Type.String(),
      key: Type.Unsafe<string | null>({ ...nullableText, description: 'null: orders only' }),
    }),
    { description: 'a dependency, once for each key that goes along it' },
  ),
};

const problem = Type.Object({
  severity: Type.Enum(['error', 'warning']),
  type: Type.String(),
  line: countSchema,
  column: countSchema,
  node: nullableText,
  field: nullableText,
  message: Type.String(),
  fix: Type.Optional(Type.String()),
});

export const verdictSchema = Type.Unsafe<GraphVerdict>(
  Type.Object({
    valid: Type.Boolean(),
    problems: Type.Array(problem, { description: 'in the order of the file' }),
    graph: Type.Union([Type.Null(), Type.Object(graphMembers)], {
      description: 'null if the file is malformed or too large to draw',
    }),
  }),
);

const jobs = Type.Array(Type.Object({ job_id: Type.String(), name: nullableText, schedule: nullableText }), {
  description: 'unfinished jobs that name it',
});

export const graphDetailSchema = Type.Unsafe<GraphDetail>(
  Type.Object({
    ...graphMembers,
    source: Type.String({ description: 'builtin, or the kind of folder it is in' }),
    editable: Type.Boolean({ description: 'whether PUT replaces it and DELETE deletes it' }),
    text: Type.String({ description: 'content of the file' }),
    used_by: Type.Object({ profiles: names, jobs }),
  }),
);

export const profileDetailSchema = Type.Unsafe<ProfileDetail>(
  Type.Object({
    name: Type.String(),
    description: Type.String(),
    source: Type.String({ description: 'builtin, or the kind of folder it is in' }),
    editable: Type.Boolean({ description: 'whether PUT replaces it and DELETE deletes it' }),
    aliases: names,
    dag: Type.String({ description: 'its graph' }),
    ports: nullableText,
    options: Type.Object({}, { additionalProperties: true, description: 'what the file sets' }),
    vuln: Type.Boolean(),
    text: Type.String({ description: 'content of the file' }),
    used_by: Type.Object({ jobs }),
  }),
);

export const nameParams = Type.Object({ name: Type.String({ description: 'e.g. `standard`' }) });

export const fileBody = Type.Object({ text: Type.String({ description: 'YAML or JSON' }) });

/** Of PUT and DELETE. */
export const versionHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({ maxLength: 200, description: 'ETag of the version that the client has read, or *' }),
  ),
});

export const deletedSchema = Type.Object({ name: Type.String(), deleted: Type.Literal(true) });
