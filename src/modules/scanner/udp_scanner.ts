import { defineModule } from '../../engine/module.ts';
import { scanOptions } from './scan-options.ts';
import { scanUdp } from './udp-scan.ts';

const { concurrency: _concurrency, ...sharedOptions } = scanOptions;

export default defineModule({
  name: 'udp_scanner',
  type: 'scanner',
  version: '1.0.0',
  description:
    'Finds open UDP ports with protocol payloads; requires no privileges. A response means open, an ICMP error closed or ' +
    'filtered. Silence is open|filtered: counted as filtered, and listed only for ports with a payload of their ' +
    'protocol on hosts that are known to be up. A port with several payloads gets each of them. A host ' +
    'that limits its ICMP errors is probed slowly: once a second where a payload fits, all other ports within 3 minutes.',
  options: {
    ...sharedOptions,
    ports: { ...scanOptions.ports, Description: 'UDP ports to scan: numbers, ranges, service names or all.' },
    protocol: {
      Type: 'string',
      Description: 'Transport protocol of the ports.',
      Default: 'udp',
      Enum: ['udp'],
    },
    concurrency: {
      ...scanOptions.concurrency,
      Min: 1,
      Description: 'Has no effect here: the rate adapts to each host.',
    },
  },
  requires: ['discovered_hosts|targets'],
  provides: ['open_ports', 'port_counts'],
  async execute(ctx, data) {
    await scanUdp(ctx, data);
  },
});
