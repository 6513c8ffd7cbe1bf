import { Type } from 'typebox';
import type { GraphVerdict } from '../../../actions/graphs/check-graph.ts';
import type { GraphDetail } from '../../../actions/graphs/show-graph.ts';
import type { ProfileDetail } from '../../../actions/graphs/show-profile.ts';
import { countSchema, nullableText } from './schemas.ts';

const names = Type.Array(Type.String());

const nodeSchema = Type.Object(
  {
    instance_id: Type.String(),
    module_type: Type.String(),
    type: Type.Unsafe<string | null>({ ...nullableText, description: 'null for an unknown module' }),
    depends_on: names,
    options: Type.Object({}, { additionalProperties: true, description: 'as the file sets them' }),
    requires: Type.Array(Type.String(), { description: 'keys; `a|b` = one of them' }),
    provides: names,
  },
  { title: 'GraphNode' },
);

const edgeSchema = Type.Object(
  {
    from: Type.String(),
    to: Type.String(),
    key: Type.Unsafe<string | null>({ ...nullableText, description: 'null: orders only' }),
  },
  { title: 'GraphEdge' },
);

const graphMembers = {
  name: Type.String(),
  description: Type.String(),
  nodes: Type.Array(nodeSchema),
  edges: Type.Array(edgeSchema, { description: 'a dependency, once for each key that goes along it' }),
};

const problemSchema = Type.Object(
  {
    severity: Type.Enum(['error', 'warning']),
    type: Type.String(),
    line: countSchema,
    column: countSchema,
    node: nullableText,
    field: nullableText,
    message: Type.String(),
    fix: Type.Optional(Type.String()),
  },
  { title: 'GraphProblem' },
);

export const verdictSchema = Type.Unsafe<GraphVerdict>(
  Type.Object(
    {
      valid: Type.Boolean(),
      problems: Type.Array(problemSchema, { description: 'in the order of the file' }),
      graph: Type.Union([Type.Null(), Type.Object(graphMembers)], {
        description: 'null if the file is malformed or too large to draw',
      }),
    },
    { title: 'GraphVerdict' },
  ),
);

const namingJobSchema = Type.Object(
  { job_id: Type.String(), name: nullableText, schedule: nullableText },
  { title: 'NamingJob' },
);
const jobs = Type.Array(namingJobSchema, { description: 'unfinished jobs that name it' });

const sourceSchema = Type.String({ description: 'builtin, or the kind of folder it is in' });
const editableSchema = Type.Boolean({ description: 'whether PUT replaces it and DELETE deletes it' });
const textSchema = Type.String({ description: 'content of the file' });
const versionSchema = Type.String({ description: 'of the file, as in ETag; for If-Match' });

export const graphDetailSchema = Type.Unsafe<GraphDetail>(
  Type.Object(
    {
      ...graphMembers,
      source: sourceSchema,
      editable: editableSchema,
      text: textSchema,
      version: versionSchema,
      used_by: Type.Object({ profiles: names, jobs }),
    },
    { title: 'GraphDetail' },
  ),
);

export const profileDetailSchema = Type.Unsafe<ProfileDetail>(
  Type.Object(
    {
      name: Type.String(),
      description: Type.String(),
      source: sourceSchema,
      editable: editableSchema,
      aliases: names,
      dag: Type.String({ description: 'its graph' }),
      ports: nullableText,
      options: Type.Object({}, { additionalProperties: true, description: 'what the file sets' }),
      vuln: Type.Boolean(),
      text: textSchema,
      version: versionSchema,
      used_by: Type.Object({ jobs }),
    },
    { title: 'ProfileDetail' },
  ),
);

export const nameParams = Type.Object({ name: Type.String({ description: 'e.g. `standard`' }) });

const fileExample =
  'nodes:\n' +
  '  - { instance_id: scan, module_type: connect_scanner, config: { ports: "22,443" } }\n' +
  '  - { instance_id: report, module_type: json_reporter, depends_on: [scan] }\n';

/** Of graphs. */
export const graphBody = Type.Object({
  text: Type.String({ description: 'YAML or JSON', examples: [fileExample] }),
});

/** Of profiles. */
export const profileBody = Type.Object({
  text: Type.String({
    description: 'YAML or JSON',
    examples: ['description: A few ports\nscanner: { rate: 200, ports: { custom: "22,443" } }\n'],
  }),
});

/** Of PUT and DELETE. */
export const versionHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({ maxLength: 200, description: 'ETag of the version that the client has read, or *' }),
  ),
});

export const deletedSchema = Type.Object({ name: Type.String(), deleted: Type.Literal(true) });
