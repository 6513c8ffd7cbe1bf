import { products } from './product-names.ts';
import { rows } from './row.ts';
import type { Signature } from './signature.ts';

const dns = rows('dns', 'dns.version', 0.97);

/** Name servers, by their response to the CHAOS query `version.bind`. */
export const nameServerSignatures: readonly Signature[] = [
  dns(
    'dns.bind',
    ...products.bind,
    String.raw`^(?:BIND )?(?:RedHat-)?(?P<version>9\.\d+(?:\.\d+)?(?:-S\d+)?)(?P<patch>-P\d+)?(?:[-_+~ ]?(?P<revision>[^ .].*))?$`,
    [
      {
        text: '9.18.28-1~deb12u2-Debian',
        version: '9.18.28',
        revision: '1~deb12u2-Debian',
        cpe: 'cpe:2.3:a:isc:bind:9.18.28:*:*:*:*:*:*:*',
      },
      { text: '9.11.5-P4-5.1+deb10u5-Debian', version: '9.11.5-P4', revision: '5.1+deb10u5-Debian' },
      { text: '9.16.1-Ubuntu', version: '9.16.1', revision: 'Ubuntu' },
    ],
    null,
    {
      version: '{version}{patch}',
      revision: '{revision}',
      cpe: { part: 'a', vendor: 'isc', product: 'bind', version: '{version}{patch}' },
    },
  ),
  dns('dns.unbound', 'Unbound', 'nlnetlabs:unbound', String.raw`^unbound (?P<version>\d+\.\d+(?:\.\d+)*)`, [
    { text: 'unbound 1.17.1', version: '1.17.1', cpe: 'cpe:2.3:a:nlnetlabs:unbound:1.17.1:*:*:*:*:*:*:*' },
  ]),
  dns(
    'dns.powerdns-authoritative',
    ...products.powerdnsAuthoritativeServer,
    String.raw`^PowerDNS Authoritative Server (?P<version>\d+\.\d+(?:\.\d+)*)`,
    [
      {
        text: 'PowerDNS Authoritative Server 4.7.3 (built Jan  4 2023 13:57:17 by root@localhost)',
        version: '4.7.3',
        cpe: 'cpe:2.3:a:powerdns:authoritative_server:4.7.3:*:*:*:*:*:*:*',
      },
    ],
  ),
  dns(
    'dns.powerdns-recursor',
    'PowerDNS Recursor',
    'powerdns:recursor',
    String.raw`^PowerDNS Recursor (?P<version>\d+\.\d+(?:\.\d+)*)`,
    'PowerDNS Recursor 4.8.4 (built Apr 2023)',
    '4.8.4',
  ),
  dns(
    'dns.powerdns-hidden',
    ...products.powerdnsAuthoritativeServer,
    String.raw`^Served by (?P<name>POWERDNS|PowerDNS)\b(?:.*?(?P<version>\d+\.\d+\.\d+))?`,
    [
      { text: 'Served by POWERDNS 3.4.11 $Id$', version: '3.4.11' },
      { text: 'Served by PowerDNS - https://www.powerdns.com/', version: null },
    ],
    null,
    { certainty: 0.9 },
  ),
  dns(
    'dns.dnsmasq',
    'dnsmasq',
    'thekelleys:dnsmasq',
    String.raw`^dnsmasq-(?:pi-hole-(?:v)?)?(?P<version>\d+\.\d+)`,
    [
      { text: 'dnsmasq-2.89', version: '2.89', cpe: 'cpe:2.3:a:thekelleys:dnsmasq:2.89:*:*:*:*:*:*:*' },
      { text: 'dnsmasq-pi-hole-v2.90', version: '2.90' },
    ],
  ),
  dns(
    'dns.knot',
    'Knot DNS',
    'knot-dns:knot_dns',
    String.raw`^Knot DNS (?P<version>\d+\.\d+(?:\.\d+)*)`,
    'Knot DNS 3.2.6',
    '3.2.6',
  ),
  dns(
    'dns.nsd',
    'NSD',
    'nlnetlabs:nsd',
    String.raw`^NSD (?P<version>\d+\.\d+(?:\.\d+)*)`,
    'NSD 4.6.1',
    '4.6.1',
  ),
];
