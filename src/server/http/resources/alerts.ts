import { Type } from 'typebox';
import { alertStates } from '../../../alerts/alert-state.ts';
import { alertVariableNames, alertVariables, type ShownValues } from '../../../alerts/alert-values.ts';
import { isOperator } from '../../access/tenants.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { nullableText } from '../schema/schemas.ts';

const alertSchema = Type.Object(
  {
    name: Type.String(),
    state: Type.Enum([...alertStates], { description: 'pending: holds, but not yet for long enough' }),
    since: Type.Unsafe<string | null>({
      ...nullableText,
      description: 'time of entering the state; null before the first evaluation',
    }),
    condition: Type.String(),
    for_seconds: Type.Number({ description: 'how long the condition must hold before the alert fires' }),
    action: Type.String(),
    message: Type.String(),
    error: Type.Unsafe<string | null>({
      ...nullableText,
      description: 'why the condition cannot be evaluated',
    }),
    origin: Type.Unsafe<string | null>({
      ...nullableText,
      description: 'file:line of its rule; for tokens with `admin` only',
    }),
  },
  { title: 'Alert' },
);

const valueSchema = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], description });
const valuesSchema = Type.Unsafe<ShownValues>(
  Type.Object(
    Object.fromEntries(alertVariableNames.map((name) => [name, valueSchema(alertVariables[name])])),
    { description: 'values of the whole service now; null: unknown' },
  ),
);

const alertsSchema = Type.Object({ alerts: Type.Array(alertSchema), values: valuesSchema });

/** The rules of the operator and values of the whole service, of no tenant. */
export function alertRoutes(app: App, { alerts }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/alerts',
    config: { access: ['metrics:read'], wholeService: true },
    schema: { summary: 'List alerts and their states', response: { 200: enveloped(alertsSchema) } },
    handler: async (request) => {
      const seesFiles = isOperator(request.token);
      const listed = (await alerts.list()).map((alert) => ({
        ...alert,
        origin: seesFiles ? alert.origin : null,
      }));
      return envelope(request, { alerts: listed, values: await alerts.values() });
    },
  });
}
