import { cve, cvesOf } from './entry.ts';

const redis = cvesOf('a:redis:redis');
const postgresql = cvesOf('a:postgresql:postgresql');
const mariadb = cvesOf('a:mariadb:mariadb');
const memcached = cvesOf('a:memcached:memcached');
const elasticsearch = cvesOf('a:elastic:elasticsearch');
const couchdb = cvesOf('a:apache:couchdb');
const mongodb = cvesOf('a:mongodb:mongodb');

/** Databases, caches and search engines. */
export const databaseCves = [
  redis('CVE-2022-0543', 'NLNN/C/HHH', ['*'], {
    title: 'The Lua library of the Debian packages leaves its sandbox open to commands',
    on: 'o:debian:debian_linux',
    remedy: 'Only packages of Debian and Ubuntu before their fix of February 2022 are affected.',
  }),
  cve(
    'CVE-2025-49844',
    'NLLN/C/HHH',
    {
      'a:redis:redis': [
        '< 6.2.20',
        '>= 7.2.0, < 7.2.11',
        '>= 7.4.0, < 7.4.6',
        '>= 8.0.0, < 8.0.4',
        '>= 8.2.0, < 8.2.2',
      ],
      'a:lfprojects:valkey': ['< 7.2.11', '>= 8.0.0, < 8.0.6', '>= 8.1.0, < 8.1.4'],
    },
    {
      title: 'A Lua script makes the server use freed memory and leaves the sandbox (RediShell)',
      remedy: 'Until the update, forbid EVAL and EVALSHA by access control lists.',
    },
  ),
  redis('CVE-2025-21605', 'NLNN/U/NNH', ['>= 2.6, < 6.2.18', '>= 7.2.0, < 7.2.8', '>= 7.4.0, < 7.4.3'], {
    title: 'Output buffers of clients without a login grow until memory is used up',
  }),
  redis('CVE-2018-11218', 'NLNN/U/HHH', ['< 3.2.12', '>= 4.0, < 4.0.10'], {
    title: 'The cmsgpack library of Lua corrupts memory',
  }),
  redis('CVE-2018-11219', 'NLNN/U/HHH', ['< 3.2.12', '>= 4.0, < 4.0.10'], {
    title: 'The struct library of Lua overflows an integer',
  }),
  redis('CVE-2021-32625', 'NLLN/U/HHH', ['>= 6.0.0, < 6.0.14', '>= 6.2.0, < 6.2.4'], {
    title: 'STRALGO LCS overflows an integer and may run code',
  }),
  redis('CVE-2021-32761', 'NHLN/U/HHH', ['>= 2.2, < 5.0.13', '>= 6.0.0, < 6.0.15', '>= 6.2.0, < 6.2.5'], {
    title: 'BIT commands with a very large proto-max-bulk-len overflow on 32-bit systems',
  }),
  redis('CVE-2023-41056', 'NHNN/U/HHH', ['>= 7.0.9, < 7.0.15', '>= 7.2.0, < 7.2.4'], {
    title: 'Resizing of buffers overflows the heap and may run code',
  }),
  mongodb(
    'CVE-2025-14847',
    'NLNN/U/HNN',
    [
      '>= 3.6.0, < 4.4.30',
      '>= 5.0.0, < 5.0.32',
      '>= 6.0.0, < 6.0.27',
      '>= 7.0.0, < 7.0.28',
      '>= 8.0.0, < 8.0.17',
      '>= 8.2.0, < 8.2.3',
    ],
    {
      title: 'Compressed messages with a false length read memory of the server without a login (MongoBleed)',
      remedy: 'Until the update, take zlib out of net.compression.compressors.',
    },
  ),
  mongodb('CVE-2025-6709', 'NLNN/U/NNH', ['>= 7.0.0, < 7.0.17', '>= 8.0.0, < 8.0.5'], {
    title: 'A crafted date in an OpenID login crashes the server',
  }),
  cvesOf('a:mongo-express_project:mongo-express')('CVE-2019-10758', 'NLLN/C/HHH', ['< 0.54.0'], {
    title: 'Queries of the administration page leave their sandbox and run code',
  }),
  postgresql(
    'CVE-2018-1058',
    'NLLN/U/HHH',
    ['>= 9.3, < 9.3.22', '>= 9.4, < 9.4.17', '>= 9.5, < 9.5.12', '>= 9.6, < 9.6.8', '>= 10.0, < 10.3'],
    { title: 'Objects in the public schema run with the rights of whoever queries' },
  ),
  postgresql(
    'CVE-2021-32027',
    'NLLN/U/HHH',
    ['>= 9.6, < 9.6.22', '>= 10.0, < 10.17', '>= 11.0, < 11.12', '>= 12.0, < 12.7', '>= 13.0, < 13.3'],
    { title: 'Array subscripts overflow an integer and write to any memory' },
  ),
  postgresql(
    'CVE-2022-1552',
    'NLLN/U/HHH',
    ['>= 10.0, < 10.21', '>= 11.0, < 11.16', '>= 12.0, < 12.11', '>= 13.0, < 13.7', '>= 14.0, < 14.3'],
    { title: 'Maintenance commands run functions of users with the rights of the superuser' },
  ),
  postgresql(
    'CVE-2023-5869',
    'NLLN/U/HHH',
    [
      '>= 11.0, < 11.22',
      '>= 12.0, < 12.17',
      '>= 13.0, < 13.13',
      '>= 14.0, < 14.10',
      '>= 15.0, < 15.5',
      '= 16.0',
    ],
    { title: 'Array values overflow an integer and write to any memory' },
  ),
  postgresql(
    'CVE-2024-10979',
    'NLLN/U/HHH',
    [
      '>= 12.0, < 12.21',
      '>= 13.0, < 13.17',
      '>= 14.0, < 14.14',
      '>= 15.0, < 15.9',
      '>= 16.0, < 16.5',
      '= 17.0',
    ],
    { title: 'PL/Perl lets users set environment variables of the server and so run code' },
  ),
  postgresql(
    'CVE-2025-1094',
    'NHNN/U/HHH',
    ['>= 13.0, < 13.19', '>= 14.0, < 14.16', '>= 15.0, < 15.11', '>= 16.0, < 16.7', '>= 17.0, < 17.3'],
    { title: 'Quoting functions of the client library pass injected SQL in certain encodings' },
  ),
  cve(
    'CVE-2016-6662',
    'NLNN/U/HHH',
    {
      'a:oracle:mysql': ['>= 5.5.0, <= 5.5.52', '>= 5.6.0, <= 5.6.33', '>= 5.7.0, <= 5.7.15'],
      'a:mariadb:mariadb': ['>= 10.0.0, < 10.0.27', '>= 10.1.0, < 10.1.17'],
    },
    { title: 'Log settings write a configuration file that runs code as root at the next start' },
  ),
  mariadb(
    'CVE-2021-27928',
    'NLHN/U/HHH',
    ['>= 10.2.0, < 10.2.37', '>= 10.3.0, < 10.3.28', '>= 10.4.0, < 10.4.18', '>= 10.5.0, < 10.5.9'],
    { title: 'wsrep settings load a library and run code of an administrator of the database' },
  ),
  memcached('CVE-2016-8704', 'NLNN/U/HHH', ['<= 1.4.31'], {
    title: 'Append and prepend of the binary protocol overflow the heap',
  }),
  memcached('CVE-2016-8705', 'NLNN/U/HHH', ['<= 1.4.31'], {
    title: 'Updates of the binary protocol overflow the heap',
  }),
  memcached('CVE-2018-1000115', 'NLNN/U/NNH', ['<= 1.5.5'], {
    title: 'The UDP port answers strangers with many times what they sent, to whomever they name',
    remedy: 'Start it with -U 0, and let nobody but its users reach it.',
  }),
  memcached('CVE-2023-46853', 'NLNN/U/HHH', ['< 1.6.22'], {
    title: 'The proxy mode reads one byte too far when a line ends without a carriage return',
  }),
  elasticsearch('CVE-2015-1427', 'NLNN/U/HHH', ['< 1.3.8', '>= 1.4.0, < 1.4.3'], {
    title: 'Groovy scripts of a search leave their sandbox and run commands',
  }),
  elasticsearch('CVE-2023-31419', 'NLNN/U/NNH', ['>= 7.0.0, < 7.17.13', '>= 8.0.0, < 8.9.1'], {
    title: 'A deeply nested query string overflows the stack',
  }),
  cvesOf('a:elastic:kibana')('CVE-2018-17246', 'NLNN/U/HHH', ['< 5.6.13', '>= 6.0.0, < 6.4.3'], {
    title: 'The console plugin includes files of the host and runs them',
  }),
  couchdb('CVE-2022-24706', 'NLNN/U/HHH', ['< 3.2.2'], {
    title: 'The default cookie of Erlang opens the cluster port to strangers',
  }),
  couchdb('CVE-2017-12635', 'NLNN/U/HHH', ['< 1.7.0', '>= 2.0.0, < 2.1.1'], {
    title: 'A doubled key in JSON makes anybody an administrator',
  }),
  couchdb('CVE-2017-12636', 'NLHN/U/HHH', ['< 1.7.0', '>= 2.0.0, < 2.1.1'], {
    title: 'Administrators run commands by the configuration of query servers',
  }),
  cvesOf('a:influxdata:influxdb')('CVE-2019-20933', 'NLNN/U/HHH', ['< 1.7.6'], {
    title: 'A token signed with an empty secret logs in as any user',
  }),
  cvesOf('a:apache:cassandra')(
    'CVE-2021-44521',
    'NLHN/C/HHH',
    ['>= 3.0.0, < 3.0.26', '>= 3.11.0, < 3.11.12', '>= 4.0.0, < 4.0.2'],
    { title: 'Scripted functions leave their sandbox where they are allowed without threads' },
  ),
  cvesOf('a:apache:zookeeper')('CVE-2023-44981', 'NLNN/U/HHN', ['< 3.7.2', '>= 3.8.0, < 3.8.3', '= 3.9.0'], {
    title: 'A server without an instance name in its SASL identity joins the quorum',
  }),
  cvesOf('a:apache:druid')('CVE-2021-25646', 'NLLN/U/HHH', ['<= 0.20.0'], {
    title: 'JavaScript in a request runs even where it is switched off',
  }),
];
