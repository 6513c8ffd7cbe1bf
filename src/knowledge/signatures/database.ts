import { products } from './product-names.ts';
import { onWindows, rows } from './row.ts';
import type { Signature } from './signature.ts';

const mysql = (certainty: number) => rows('mysql', 'mysql.greeting', certainty);
const mysqlError = (certainty: number) => rows('mysql', 'mysql.error', certainty);
const postgresqlAuth = (certainty: number) => rows('postgresql', 'postgresql.auth', certainty);
const redis = (certainty: number) => rows('redis', 'redis.info', certainty);
const redisReply = (certainty: number) => rows('redis', 'redis.reply', certainty);

/** Databases, key-value stores and message brokers. */
export const databaseSignatures: readonly Signature[] = [
  mysql(0.99)(
    'mysql.mariadb',
    ...products.mariadb,
    String.raw`^(?:5\.5\.5-)?(?P<version>\d+\.\d+\.\d+)(?:[-_+~.]?[A-Za-z0-9][\w.+~:-]*?)?-MariaDB(?:[-_ ](?P<revision>.+))?$`,
    [
      {
        text: '5.5.5-10.11.6-MariaDB-0+deb12u1',
        version: '10.11.6',
        revision: '0+deb12u1',
        cpe: 'cpe:2.3:a:mariadb:mariadb:10.11.6:*:*:*:*:*:*:*',
      },
      { text: '11.4.2-MariaDB-ubu2404', version: '11.4.2', revision: 'ubu2404' },
      { text: '5.5.5-10.11.4-MariaDB', version: '10.11.4', revision: null },
    ],
    null,
    { revision: '{revision}' },
  ),
  mysql(0.95)(
    'mysql.mysql',
    ...products.mysql,
    String.raw`^(?P<version>\d+\.\d+\.\d+)(?:-(?P<revision>(?:\d+ubuntu|\d+\+deb|log|debug|commercial|enterprise|cluster)[^ ]*))?$`,
    [
      { text: '8.0.36-0ubuntu0.22.04.1', version: '8.0.36', revision: '0ubuntu0.22.04.1' },
      { text: '8.4.0', version: '8.4.0', cpe: 'cpe:2.3:a:oracle:mysql:8.4.0:*:*:*:*:*:*:*' },
      { text: '5.7.44-log', version: '5.7.44' },
    ],
    null,
    { revision: '{revision}' },
  ),
  // Others append a number as well.
  mysql(0.7)(
    'mysql.percona',
    ...products.perconaServer,
    String.raw`^(?P<version>\d+\.\d+\.\d+-\d{1,3}(?:\.\d{1,3})?)(?:-\d{1,3}(?:\.\d{1,3})?)?(?:-log|-debug)?(?:[-_+~](?P<revision>[A-Za-z].*))?$`,
    [
      { text: '8.0.35-27', version: '8.0.35-27' },
      { text: '5.7.44-48-log', version: '5.7.44-48' },
      { text: '5.7.44-48-57-log', version: '5.7.44-48' },
      { text: '8.0.35-27-acme', version: '8.0.35-27', revision: 'acme' },
    ],
    null,
    { revision: '{revision}' },
  ),
  // Suffixes of those who build it for their customers; used only where no other rule knows the text.
  mysql(0.75)(
    'general.mysql',
    ...products.mysql,
    '^<v>(?:[ _+~-](?P<revision>\\S.*)|[a-z]\\S*)?$',
    [
      { text: '5.5.50-cll', version: '5.5.50', revision: 'cll' },
      { text: '5.7.44-cll-lve', version: '5.7.44', revision: 'cll-lve' },
      { text: '8.0.35-google', version: '8.0.35', revision: 'google' },
      { text: '8.0.36_custom build', version: '8.0.36', revision: 'custom build' },
    ],
    null,
    { revision: '{revision}' },
  ),
  mysqlError(0.97)(
    'mysql.mariadb-refusal',
    ...products.mariadb,
    'to this MariaDB server',
    "1130 Host '192.0.2.1' is not allowed to connect to this MariaDB server",
  ),
  mysqlError(0.97)(
    'mysql.mariadb-blocked',
    ...products.mariadb,
    "^1129 .*'mariadb-admin flush-hosts'",
    "1129 Host '192.0.2.9' is blocked because of many connection errors; unblock with 'mariadb-admin flush-hosts'",
  ),
  // MariaDB said the same before version 10.5.
  mysqlError(0.7)(
    'mysql.mysql-blocked',
    ...products.mysql,
    "^1129 .*'mysqladmin flush-hosts'",
    "1129 Host '192.0.2.9' is blocked because of many connection errors; unblock with 'mysqladmin flush-hosts'",
  ),
  mysqlError(0.9)(
    'mysql.mysql-refusal',
    ...products.mysql,
    'to this MySQL server',
    "1130 Host '192.0.2.1' is not allowed to connect to this MySQL server",
  ),
  rows('postgresql', 'postgresql.error')(
    'postgresql.error',
    ...products.postgresql,
    '^(?:(?:0A000|08P01|28000|28P01|3D000|57P03|53300) |FATAL:)',
    [
      {
        text: '28000 no pg_hba.conf entry for host "192.0.2.1", user "postgres", database "postgres", no encryption',
        version: null,
        cpe: 'cpe:2.3:a:postgresql:postgresql:*:*:*:*:*:*:*:*',
      },
      { text: '0A000 unsupported frontend protocol 65363.19778: server supports 3.0 to 3.0', version: null },
      { text: 'FATAL:  unsupported frontend protocol', version: null },
    ],
  ),
  // Poolers and other databases with this protocol send the same request.
  postgresqlAuth(0.75)(
    'postgresql.auth',
    ...products.postgresql,
    String.raw`^authentication request (?:[0-24-9]|1\d)$`,
    'authentication request 10',
  ),
  // Imitations request a cleartext password.
  postgresqlAuth(0.6).exact('postgresql.plain-auth', ...products.postgresql, 'authentication request 3'),
  redis(0.95)(
    'redis.redis',
    ...products.redis,
    String.raw`(?m)^redis_version:(?P<version>\d+\.\d+\.\d+)(?:(?s:.){1,600}?\nos:(?P<revision>Amazon ElastiCache|Windows))?`,
    [
      {
        text: '# Server\r\nredis_version:7.0.15\r\nredis_git_sha1:00000000\r\n',
        version: '7.0.15',
        cpe: 'cpe:2.3:a:redis:redis:7.0.15:*:*:*:*:*:*:*',
      },
      {
        text: '# Server\r\nredis_version:7.1.0\r\nredis_mode:standalone\r\nos:Amazon ElastiCache\r\n',
        version: '7.1.0',
        revision: 'Amazon ElastiCache',
      },
      {
        text: '# Server\r\nredis_version:3.2.100\r\nredis_mode:standalone\r\nos:Windows  \r\n',
        version: '3.2.100',
        revision: 'Windows',
      },
    ],
    null,
    { revision: '{revision}' },
  ),
  redis(0.99)(
    'redis.valkey',
    'Valkey',
    'lfprojects:valkey',
    String.raw`(?m)^valkey_version:(?P<version>\d+\.\d+\.\d+)`,
    '# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\n',
    '8.0.1',
  ),
  redis(0.99)(
    'redis.dragonfly',
    'Dragonfly',
    'dragonflydb:dragonfly',
    '(?m)^dragonfly_version:df-v<v>',
    '# Server\r\nredis_version:7.4.0\r\ndragonfly_version:df-v1.27.1\r\nredis_mode:standalone\r\n',
    '1.27.1',
  ),
  // Its version is that of the Redis protocol line; the section of its name is far behind.
  redis(0.99)(
    'redis.keydb',
    'KeyDB',
    'snap:keydb',
    String.raw`(?s)^(?:.*?\nredis_version:<v>)?.*?\n(?:# KeyDB\r?\n|(?:executable|config_file):[^\r\n]*keydb)`,
    [
      { text: '# Server\r\nredis_version:6.3.4\r\n# KeyDB\r\nmvcc_depth:0\r\n', version: '6.3.4' },
      {
        text: '# Server\r\nredis_version:6.2.2\r\nexecutable:/usr/bin/keydb-server\r\nconfig_file:\r\n',
        version: '6.2.2',
      },
    ],
  ),
  redis(0.99)(
    'redis.redict',
    'Redict',
    'redict:redict',
    '(?m)^redict_version:<v>',
    '# Server\r\nredis_version:7.2.4\r\nredict_version:7.3.0\r\n',
    '7.3.0',
  ),
  redis(0.99)(
    'redis.garnet',
    'Garnet',
    'microsoft:garnet',
    '(?m)^garnet_version:<v>',
    '# Server\r\nredis_version:7.2.5\r\ngarnet_version:1.0.39\r\n',
    '1.0.39',
  ),
  redis(0.99)(
    'redis.kvrocks',
    'Apache Kvrocks',
    'apache:kvrocks',
    '(?m)^(?:kvrocks_)?version:<v>',
    '# Server\r\nversion:2.8.0\r\nkvrocks_version:2.8.0\r\nredis_version:4.0.0\r\n',
    '2.8.0',
  ),
  redis(0.99)(
    'redis.memurai',
    'Memurai',
    'memurai:memurai',
    '(?m)^memurai_version:<v>',
    '# Server\r\nredis_version:7.2.5\r\nmemurai_version:4.1.4\r\n',
    '4.1.4',
    onWindows,
  ),
  redisReply(0.9)(
    'redis.protected',
    ...products.redis,
    '^-DENIED Redis is running in protected mode',
    '-DENIED Redis is running in protected mode because protected mode is enabled',
  ),
  redisReply(0.75)(
    'redis.noauth',
    ...products.redis,
    '^-NOAUTH Authentication required',
    '-NOAUTH Authentication required.',
  ),
  rows('memcached', 'memcached.version', 0.97)(
    'memcached.version',
    ...products.memcached,
    String.raw`^(?P<version>\d+\.\d+(?:\.\d+)*)(?:[-_+~ ]?(?P<revision>[^ .].*))?$`,
    [
      { text: '1.6.18', version: '1.6.18', cpe: 'cpe:2.3:a:memcached:memcached:1.6.18:*:*:*:*:*:*:*' },
      { text: '1.6.17_13_g1', version: '1.6.17' },
    ],
    null,
    { revision: '{revision}' },
  ),
  rows('mqtt', 'banner.raw', 0.97)(
    'mqtt.mosquitto',
    'Mosquitto',
    'eclipse:mosquitto',
    String.raw`mosquitto version (?P<version>\d+\.\d+(?:\.\d+)*)`,
    '\x20\x02\x00\x000)\x00\x14$SYS/broker/versionmosquitto version 2.0.11',
    '2.0.11',
  ),
  rows('mongodb', 'http.body')(
    'mongodb.http',
    ...products.mongodb,
    'It looks like you are trying to access MongoDB over HTTP on the native driver port',
    'It looks like you are trying to access MongoDB over HTTP on the native driver port.\r\n',
  ),
  rows('amqp', 'banner.raw', 0.97)(
    'amqp.rabbitmq',
    ...products.rabbitmq,
    String.raw`productS(?s:.){4}RabbitMQ(?s:.){1,40}versionS(?s:.){4}(?P<version>\d+\.\d+\.\d+)`,
    '\x01\x00\x00\x00\x00\x00\x80\x00\x0a\x00\x0aproductS\x00\x00\x00\x08RabbitMQ\x07versionS\x00\x00\x00\x063.12.1',
    '3.12.1',
  ),
];
