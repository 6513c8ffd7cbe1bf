import { Type } from 'typebox';
import { findingClasses, severities } from '../../../domain/finding.ts';
import { countSchema, nullableText, severityCounts } from './schemas.ts';

const score = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0, description });

/** What removes some findings. */
export const fixSchema = Type.Object(
  {
    key: Type.String({ description: 'equal for findings that one action removes' }),
    text: Type.String({ description: 'what to do, such as `Update nginx to 1.27.1`' }),
    update: Type.Boolean(),
    reason: Type.String({ description: 'why it has its place' }),
    severity: Type.Enum([...severities]),
    severity_counts: severityCounts,
    exploited: Type.Boolean({ description: 'one of the vulnerabilities is known to be exploited' }),
    epss: score('highest EPSS score'),
    cvss: score('highest CVSS score'),
    class: Type.Enum([...findingClasses], { description: 'class of the worst finding' }),
    findings: countSchema,
    hosts: countSchema,
    host_sample: Type.Array(Type.Object({ host: Type.String(), name: nullableText }), {
      description: 'the first hosts by address',
    }),
  },
  { title: 'Fix' },
);
