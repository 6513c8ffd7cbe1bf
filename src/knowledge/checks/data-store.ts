import { parseKeyValueStore } from '../protocols/key-value-store.ts';
import { parseMongodb } from '../protocols/mongodb.ts';
import { type Check, type CheckResponse, evidence } from './check.ts';

/** Data stores that respond without authentication. */
export const dataStoreChecks: readonly Check[] = [
  {
    id: 'redis-no-auth',
    title: 'Redis is accessible without a password',
    severity: 'critical',
    confidence: 0.98,
    action: 'Require a password for Redis',
    remediation:
      'Bind Redis to the addresses that need it, set a password or ACL users (requirepass, ACL), keep protected-mode on.',
    references: ['https://redis.io/docs/latest/operate/oss_and_stack/management/security/'],
    prove: (response) => keyValue(response, 'redis', 'redis.info'),
  },
  {
    id: 'memcached-no-auth',
    title: 'Memcached is accessible without authentication',
    severity: 'high',
    confidence: 0.98,
    action: 'Limit memcached to the hosts that need it',
    remediation:
      'Make memcached listen on local or trusted addresses only (-l), filter its port, or require SASL (-S).',
    references: ['https://docs.memcached.org/features/sasl/'],
    prove: (response) => keyValue(response, 'memcached', 'memcached.version'),
  },
  {
    id: 'mongodb-no-auth',
    title: 'MongoDB lists its databases without a login',
    severity: 'critical',
    confidence: 0.98,
    action: 'Require a login for MongoDB',
    remediation:
      'Turn access control on (security.authorization: enabled) and bind to trusted addresses only.',
    references: ['https://www.mongodb.com/docs/manual/administration/security-checklist/'],
    prove(response) {
      const record = response.banner.protocol === 'tcp' ? parseMongodb(response.bytes) : null;
      return record?.databases ? evidence(`listDatabases: ${record.databases.join(', ')}`) : null;
    },
  },
  {
    id: 'elasticsearch-no-auth',
    title: 'Elasticsearch is accessible without a login',
    severity: 'critical',
    confidence: 0.95,
    action: 'Require a login for Elasticsearch',
    remediation:
      'Turn the security features on (xpack.security.enabled: true), require TLS, and filter the port.',
    references: ['https://www.elastic.co/guide/en/elasticsearch/reference/current/secure-cluster.html'],
    prove({ http, page }) {
      if (http?.facts.status !== 200 || !/"cluster_name"\s*:/.test(page)) return null;
      return /"lucene_version"\s*:/.test(page) ? evidence(page.replace(/\s+/g, ' ')) : null;
    },
  },
  {
    id: 'etcd-no-auth',
    title: 'etcd lets anyone read its keys',
    severity: 'critical',
    confidence: 0.97,
    action: 'Require authentication for etcd',
    remediation:
      'Require client certificates (--client-cert-auth) and turn authentication on (etcdctl auth enable).',
    references: ['https://etcd.io/docs/latest/op-guide/security/'],
    prove({ http, page, banner }) {
      if (banner.probe !== 'etcd-count' || http?.facts.status !== 200) return null;
      return /"cluster_id"\s*:/.test(page) && /"raft_term"\s*:/.test(page)
        ? evidence(`POST /v3/kv/range (count only): ${page.trim()}`)
        : null;
    },
  },
  {
    id: 'etcd-exposed',
    title: 'etcd is reachable',
    severity: 'medium',
    confidence: 0.95,
    action: 'Limit etcd to the members of its cluster',
    remediation: 'Make the ports of etcd reachable only for the members of the cluster and its clients.',
    references: ['https://etcd.io/docs/latest/op-guide/security/'],
    prove({ http, page }) {
      return http?.facts.status === 200 && /"etcdserver"\s*:/.test(page) ? evidence(page) : null;
    },
  },
];

function keyValue({ banner, bytes }: CheckResponse, service: string, key: string): string | null {
  if (banner.protocol !== 'tcp') return null;
  const record = parseKeyValueStore(bytes);
  if (record?.service !== service) return null;
  const text = record.evidence.find(([name]) => name === key)?.[1];
  if (text === undefined) return null;
  // INFO has dozens of lines: the version is enough evidence that the command ran.
  return evidence(/redis_version:[^\r\n]*/.exec(text)?.[0] ?? `VERSION ${text}`);
}
