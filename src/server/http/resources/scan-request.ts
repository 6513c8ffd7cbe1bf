import { Type } from 'typebox';
import { type Repeated, showRequest } from '../../../actions/scans/show-request.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { scanIdParams, submissionSchema } from '../schema/schemas.ts';

export function scanRequestRoutes(app: App, { config }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/request',
    config: { access: ['scan:read'] },
    schema: {
      summary: 'Show the request of a scan',
      description:
        'Submitted as it is, it starts the same scan once more. What the profile and the configuration give by ' +
        'themselves is left out.',
      params: scanIdParams,
      response: { 200: enveloped(Type.Unsafe<Repeated>(submissionSchema)) },
    },
    handler: async (request) => {
      const { store, installed } = request.space;
      return envelope(request, await showRequest(store, request.params.scan_id, config, installed.library));
    },
  });
}
