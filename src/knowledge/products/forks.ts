/**
 * Products that began as another one, or speak in its name to its clients: where they show themselves, the name and
 * version of the other one beside it are theirs for compatibility. By the main CPE name of the other one.
 */
const forks: Readonly<Record<string, readonly string[]>> = {
  'redis:redis': ['Valkey', 'KeyDB', 'Dragonfly', 'Redict', 'Garnet', 'Apache Kvrocks', 'Pika', 'Memurai'],
  'f5:nginx': ['OpenResty', 'Tengine', 'Angie', 'freenginx'],
  'oracle:mysql': [
    'MariaDB',
    'Percona Server',
    'Percona XtraDB Cluster',
    'TiDB',
    'Vitess',
    'ProxySQL',
    'MaxScale',
  ],
  'apache:cassandra': ['ScyllaDB'],
  'openssl:openssl': ['LibreSSL', 'BoringSSL'],
};

const originals = new Map(
  Object.entries(forks).flatMap(([original, names]) => names.map((name) => [name, original] as const)),
);

/** Main CPE name of the product that this one imitates, or null. */
export function originalOf(product: string): string | null {
  return originals.get(product) ?? null;
}
