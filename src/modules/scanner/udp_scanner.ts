import { defineModule } from '../../engine/module.ts';
import { scanOptions } from './scan-options.ts';
import { scanUdp } from './udp-scan.ts';

const { concurrency: _concurrency, ...sharedOptions } = scanOptions;

export default defineModule({
  name: 'udp_scanner',
  type: 'scanner',
  version: '1.0.0',
  description:
    'Finds open UDP ports with protocol payloads; needs no rights. An answer is open, an ICMP error closed or ' +
    'filtered. Silence is open|filtered: counted as filtered, and listed only for ports with a payload of their ' +
    'protocol on hosts that are known to live. A port with several payloads is asked with each of them. A host ' +
    'that limits its ICMP errors is probed slowly: once a second where a payload fits, in 3 minutes all other ports.',
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
      Description: 'Has no effect here: each host sets its own pace.',
    },
  },
  requires: ['discovered_hosts|targets'],
  provides: ['open_ports', 'port_counts'],
  async execute(ctx, data) {
    await scanUdp(ctx, data);
  },
});
