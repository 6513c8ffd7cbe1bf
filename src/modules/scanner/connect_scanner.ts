import { defineModule } from '../../engine/module.ts';
import { type ConnectState, sweepByConnect } from './connect-sweep.ts';
import { scanOptions } from './scan-options.ts';

export default defineModule({
  name: 'connect_scanner',
  type: 'scanner',
  version: '1.0.0',
  description:
    'Finds open TCP ports by full connections; needs no rights and tells refused, silent and unreachable apart.',
  options: scanOptions,
  requires: ['discovered_hosts|targets'],
  provides: ['open_ports', 'port_counts'],
  async execute(ctx, data) {
    if (ctx.options.protocol === 'udp') {
      throw new Error('connect_scanner scans TCP; UDP needs udp_scanner');
    }
    const restored = ctx.restored as ConnectState | null;
    const keep = (state: () => ConnectState) => ctx.checkpoint(state);
    await sweepByConnect(ctx, data, restored, keep, (way) => ctx.method(way));
  },
});
