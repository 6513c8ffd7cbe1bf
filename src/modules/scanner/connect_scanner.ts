import { defineModule } from '../../engine/module.ts';
import { type ConnectState, sweepByConnect } from './connect-sweep.ts';
import { reportReachedRate } from './reached-rate.ts';
import { scanOptions } from './scan-options.ts';
import { scanUdp } from './udp-scan.ts';

export default defineModule({
  name: 'connect_scanner',
  type: 'scanner',
  version: '1.0.0',
  description:
    'Finds open TCP ports by full connections; requires no privileges and distinguishes refused, silent and unreachable. ' +
    'With protocol udp it runs udp_scanner.',
  options: scanOptions,
  requires: ['discovered_hosts|targets'],
  provides: ['open_ports', 'port_counts'],
  async execute(ctx, data) {
    if (ctx.options.protocol === 'udp') {
      ctx.method('UDP probes: protocol is udp');
      return await scanUdp(ctx, data);
    }
    const restored = ctx.restored as ConnectState | null;
    const keep = (state: () => ConnectState) => ctx.checkpoint(state);
    let connecting = '';
    await sweepByConnect(ctx, data, restored, keep, (way) => {
      connecting = way;
      ctx.method(way);
    });
    reportReachedRate(ctx, connecting);
  },
});
