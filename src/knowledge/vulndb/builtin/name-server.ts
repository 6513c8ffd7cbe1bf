import { cve, cvesOf } from './entry.ts';

const bind = cvesOf('a:isc:bind');
const dnsmasq = cvesOf('a:thekelleys:dnsmasq');
const unbound = cvesOf('a:nlnetlabs:unbound');

/** Name servers. */
export const nameServerCves = [
  bind(
    'CVE-2020-8616',
    'NLNN/C/NNH',
    ['>= 9.0.0, <= 9.11.18', '>= 9.12.0, <= 9.12.4', '>= 9.14.0, <= 9.14.11', '>= 9.16.0, <= 9.16.2'],
    { title: 'Referrals make a resolver ask a victim many times over (NXNSAttack)' },
  ),
  bind(
    'CVE-2020-8617',
    'NHNN/U/NNH',
    ['>= 9.0.0, <= 9.11.18', '>= 9.12.0, <= 9.12.4', '>= 9.14.0, <= 9.14.11', '>= 9.16.0, <= 9.16.2'],
    { title: 'A crafted TSIG message ends the server with an assertion' },
  ),
  bind(
    'CVE-2020-8625',
    'NHNN/U/HHH',
    ['>= 9.5.0, < 9.11.28', '>= 9.12.0, < 9.16.12', '>= 9.17.0, < 9.17.10'],
    { title: 'GSS-TSIG negotiation overflows a buffer and may run code' },
  ),
  bind(
    'CVE-2021-25215',
    'NLNN/U/NNH',
    ['>= 9.0.0, < 9.11.31', '>= 9.12.0, < 9.16.15', '>= 9.17.0, < 9.17.12'],
    { title: 'A query that follows a crafted DNAME ends the server with an assertion' },
  ),
  bind(
    'CVE-2021-25220',
    'NLHN/C/NHN',
    ['>= 9.11.0, < 9.11.37', '>= 9.12.0, < 9.16.27', '>= 9.17.0, < 9.18.1'],
    { title: 'A forwarder can place false records in the cache' },
  ),
  bind(
    'CVE-2022-3094',
    'NLNN/U/NNH',
    ['>= 9.16.0, < 9.16.37', '>= 9.18.0, < 9.18.11', '>= 9.19.0, < 9.19.9'],
    { title: 'Floods of dynamic updates use up the memory' },
  ),
  bind(
    'CVE-2023-2828',
    'NLNN/U/NNH',
    ['>= 9.11.0, < 9.16.42', '>= 9.18.0, < 9.18.16', '>= 9.19.0, < 9.19.14'],
    { title: 'Queries in a certain order let the cache grow beyond its limit' },
  ),
  bind(
    'CVE-2023-3341',
    'NLNN/U/NNH',
    ['>= 9.2.0, < 9.16.44', '>= 9.18.0, < 9.18.19', '>= 9.19.0, < 9.19.17'],
    { title: 'A crafted message to the control channel overflows the stack' },
  ),
  cve(
    'CVE-2023-50387',
    'NLNN/U/NNH',
    {
      'a:isc:bind': ['>= 9.0.0, < 9.16.48', '>= 9.18.0, < 9.18.24', '>= 9.19.0, < 9.19.21'],
      'a:nlnetlabs:unbound': ['< 1.19.1'],
      'a:thekelleys:dnsmasq': ['< 2.90'],
      'a:powerdns:recursor': ['>= 4.8.0, < 4.8.6', '>= 4.9.0, < 4.9.3', '>= 5.0.0, < 5.0.2'],
    },
    { title: 'Zones with many keys and signatures keep a validating resolver busy (KeyTrap)' },
  ),
  bind(
    'CVE-2023-4408',
    'NLNN/U/NNH',
    ['>= 9.0.0, < 9.16.48', '>= 9.18.0, < 9.18.24', '>= 9.19.0, < 9.19.21'],
    { title: 'Messages with many names keep the parser busy' },
  ),
  bind('CVE-2024-1737', 'NLNN/U/NNH', ['>= 9.11.0, < 9.18.28', '>= 9.19.0, < 9.20.0'], {
    title: 'Very many records of one name slow the server down',
  }),
  bind('CVE-2024-1975', 'NLNN/U/NNH', ['>= 9.0.0, < 9.18.28', '>= 9.19.0, < 9.20.0'], {
    title: 'SIG(0) messages use up the processor',
  }),
  bind('CVE-2024-4076', 'NLNN/U/NNH', ['>= 9.16.13, < 9.18.28', '>= 9.19.0, < 9.20.0'], {
    title: 'Stale data together with local authoritative zones ends the server with an assertion',
  }),
  bind('CVE-2024-11187', 'NLNN/U/NNH', ['>= 9.11.0, < 9.18.33', '>= 9.20.0, < 9.20.5'], {
    title: 'Zones with very many additional records use up the processor',
  }),
  bind('CVE-2024-12705', 'NLNN/U/NNH', ['>= 9.18.0, < 9.18.33', '>= 9.20.0, < 9.20.5'], {
    title: 'Floods over DNS-over-HTTPS exhaust processor and memory',
  }),
  bind('CVE-2025-40775', 'NLNN/U/NNH', ['>= 9.20.0, < 9.20.9', '>= 9.21.0, < 9.21.8'], {
    title: 'A message with an invalid TSIG algorithm ends the server with an assertion',
  }),
  bind(
    'CVE-2025-40778',
    'NLNN/C/NHN',
    ['>= 9.11.0, < 9.18.41', '>= 9.20.0, < 9.20.15', '>= 9.21.0, < 9.21.14'],
    { title: 'Unasked records of an answer are taken into the cache' },
  ),
  bind(
    'CVE-2025-40780',
    'NLNN/C/NHN',
    ['>= 9.16.0, < 9.18.41', '>= 9.20.0, < 9.20.15', '>= 9.21.0, < 9.21.14'],
    { title: 'Source ports and identifiers of queries can be predicted, so that the cache can be poisoned' },
  ),
  dnsmasq('CVE-2017-14491', 'NLNN/U/HHH', ['< 2.78'], {
    title: 'A DNS answer overflows the heap and runs code',
  }),
  dnsmasq('CVE-2017-14493', 'NLNN/U/HHH', ['< 2.78'], {
    title: 'A DHCPv6 request overflows the stack and runs code',
  }),
  dnsmasq('CVE-2020-25681', 'NHNN/U/HHH', ['< 2.83'], {
    title: 'Sorting of DNSSEC records overflows the heap (DNSpooq)',
  }),
  dnsmasq('CVE-2020-25682', 'NHNN/U/HHH', ['< 2.83'], {
    title: 'Names in DNSSEC answers overflow a buffer (DNSpooq)',
  }),
  unbound('CVE-2020-12662', 'NLNN/U/NNH', ['< 1.10.1'], {
    title: 'Referrals make a resolver ask a victim many times over (NXNSAttack)',
  }),
  unbound('CVE-2020-12663', 'NLNN/U/NNH', ['< 1.10.1'], {
    title: 'A malformed answer sends the resolver into an endless loop',
  }),
];
