import { cve } from './entry.ts';

const bind = 'a:isc:bind';
const dnsmasq = 'a:thekelleys:dnsmasq';
const unbound = 'a:nlnetlabs:unbound';

/** Name servers. */
export const nameServerCves = [
  cve('CVE-2020-8616', 'NLNN/C/NNH', 'Referrals make a resolver ask a victim many times over (NXNSAttack)', {
    [bind]: ['>= 9.0.0, <= 9.11.18', '>= 9.12.0, <= 9.12.4', '>= 9.14.0, <= 9.14.11', '>= 9.16.0, <= 9.16.2'],
  }),
  cve('CVE-2020-8617', 'NHNN/U/NNH', 'A crafted TSIG message ends the server with an assertion', {
    [bind]: ['>= 9.0.0, <= 9.11.18', '>= 9.12.0, <= 9.12.4', '>= 9.14.0, <= 9.14.11', '>= 9.16.0, <= 9.16.2'],
  }),
  cve('CVE-2020-8625', 'NHNN/U/HHH', 'GSS-TSIG negotiation overflows a buffer and may run code', {
    [bind]: ['>= 9.5.0, < 9.11.28', '>= 9.12.0, < 9.16.12', '>= 9.17.0, < 9.17.10'],
  }),
  cve(
    'CVE-2021-25215',
    'NLNN/U/NNH',
    'A query that follows a crafted DNAME ends the server with an assertion',
    { [bind]: ['>= 9.0.0, < 9.11.31', '>= 9.12.0, < 9.16.15', '>= 9.17.0, < 9.17.12'] },
  ),
  cve('CVE-2021-25220', 'NLHN/C/NHN', 'A forwarder can place false records in the cache', {
    [bind]: ['>= 9.11.0, < 9.11.37', '>= 9.12.0, < 9.16.27', '>= 9.17.0, < 9.18.1'],
  }),
  cve('CVE-2022-3094', 'NLNN/U/NNH', 'Floods of dynamic updates use up the memory', {
    [bind]: ['>= 9.16.0, < 9.16.37', '>= 9.18.0, < 9.18.11', '>= 9.19.0, < 9.19.9'],
  }),
  cve('CVE-2023-2828', 'NLNN/U/NNH', 'Queries in a certain order let the cache grow beyond its limit', {
    [bind]: ['>= 9.11.0, < 9.16.42', '>= 9.18.0, < 9.18.16', '>= 9.19.0, < 9.19.14'],
  }),
  cve('CVE-2023-3341', 'NLNN/U/NNH', 'A crafted message to the control channel overflows the stack', {
    [bind]: ['>= 9.2.0, < 9.16.44', '>= 9.18.0, < 9.18.19', '>= 9.19.0, < 9.19.17'],
  }),
  cve(
    'CVE-2023-50387',
    'NLNN/U/NNH',
    'Zones with many keys and signatures keep a validating resolver busy (KeyTrap)',
    {
      [bind]: ['>= 9.0.0, < 9.16.48', '>= 9.18.0, < 9.18.24', '>= 9.19.0, < 9.19.21'],
      [unbound]: ['< 1.19.1'],
      [dnsmasq]: ['< 2.90'],
      'a:powerdns:recursor': ['>= 4.8.0, < 4.8.6', '>= 4.9.0, < 4.9.3', '>= 5.0.0, < 5.0.2'],
    },
  ),
  cve('CVE-2023-4408', 'NLNN/U/NNH', 'Messages with many names keep the parser busy', {
    [bind]: ['>= 9.0.0, < 9.16.48', '>= 9.18.0, < 9.18.24', '>= 9.19.0, < 9.19.21'],
  }),
  cve('CVE-2024-1737', 'NLNN/U/NNH', 'Very many records of one name slow the server down', {
    [bind]: ['>= 9.11.0, < 9.18.28', '>= 9.19.0, < 9.20.0'],
  }),
  cve('CVE-2024-1975', 'NLNN/U/NNH', 'SIG(0) messages use up the processor', {
    [bind]: ['>= 9.0.0, < 9.18.28', '>= 9.19.0, < 9.20.0'],
  }),
  cve(
    'CVE-2024-4076',
    'NLNN/U/NNH',
    'Stale data together with local authoritative zones ends the server with an assertion',
    { [bind]: ['>= 9.16.13, < 9.18.28', '>= 9.19.0, < 9.20.0'] },
  ),
  cve('CVE-2024-11187', 'NLNN/U/NNH', 'Zones with very many additional records use up the processor', {
    [bind]: ['>= 9.11.0, < 9.18.33', '>= 9.20.0, < 9.20.5'],
  }),
  cve('CVE-2024-12705', 'NLNN/U/NNH', 'Floods over DNS-over-HTTPS exhaust processor and memory', {
    [bind]: ['>= 9.18.0, < 9.18.33', '>= 9.20.0, < 9.20.5'],
  }),
  cve(
    'CVE-2025-40775',
    'NLNN/U/NNH',
    'A message with an invalid TSIG algorithm ends the server with an assertion',
    { [bind]: ['>= 9.20.0, < 9.20.9', '>= 9.21.0, < 9.21.8'] },
  ),
  cve('CVE-2025-40778', 'NLNN/C/NHN', 'Unasked records of an answer are taken into the cache', {
    [bind]: ['>= 9.11.0, < 9.18.41', '>= 9.20.0, < 9.20.15', '>= 9.21.0, < 9.21.14'],
  }),
  cve(
    'CVE-2025-40780',
    'NLNN/C/NHN',
    'Source ports and identifiers of queries can be predicted, so that the cache can be poisoned',
    { [bind]: ['>= 9.16.0, < 9.18.41', '>= 9.20.0, < 9.20.15', '>= 9.21.0, < 9.21.14'] },
  ),
  cve('CVE-2017-14491', 'NLNN/U/HHH', 'A DNS answer overflows the heap and runs code', {
    [dnsmasq]: ['< 2.78'],
  }),
  cve('CVE-2017-14493', 'NLNN/U/HHH', 'A DHCPv6 request overflows the stack and runs code', {
    [dnsmasq]: ['< 2.78'],
  }),
  cve('CVE-2020-25681', 'NHNN/U/HHH', 'Sorting of DNSSEC records overflows the heap (DNSpooq)', {
    [dnsmasq]: ['< 2.83'],
  }),
  cve('CVE-2020-25682', 'NHNN/U/HHH', 'Names in DNSSEC answers overflow a buffer (DNSpooq)', {
    [dnsmasq]: ['< 2.83'],
  }),
  cve('CVE-2020-12662', 'NLNN/U/NNH', 'Referrals make a resolver ask a victim many times over (NXNSAttack)', {
    [unbound]: ['< 1.10.1'],
  }),
  cve('CVE-2020-12663', 'NLNN/U/NNH', 'A malformed answer sends the resolver into an endless loop', {
    [unbound]: ['< 1.10.1'],
  }),
];
