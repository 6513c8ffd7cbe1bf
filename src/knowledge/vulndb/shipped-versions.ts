/**
 * Upstream versions that releases of distributions ship for years and patch without a new version, of programs whose
 * banners do not name the builder. Only releases that are, or were until recently, supported; packages that a release
 * updates to newer upstream versions are not listed.
 */
export const shippedVersions: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  // On Debian and Ubuntu its banner names the build.
  'openbsd:openssh': {
    '7.4': ['Red Hat Enterprise Linux 7'],
    '8.0': ['Red Hat Enterprise Linux 8'],
    '8.7': ['Red Hat Enterprise Linux 9'],
  },
  'f5:nginx': {
    '1.14.0': ['Ubuntu 18.04'],
    '1.14.1': ['Red Hat Enterprise Linux 8'],
    '1.14.2': ['Debian 10'],
    '1.18.0': ['Debian 11', 'Ubuntu 20.04 and 22.04'],
    '1.20.1': ['Red Hat Enterprise Linux 9'],
    '1.22.1': ['Debian 12'],
    '1.24.0': ['Ubuntu 24.04'],
    '1.26.3': ['Debian 13'],
  },
  'squid-cache:squid': {
    '3.5.20': ['Red Hat Enterprise Linux 7'],
    '3.5.27': ['Ubuntu 18.04'],
    '4.6': ['Debian 10'],
    '4.10': ['Ubuntu 20.04'],
    '4.13': ['Debian 11'],
    '4.15': ['Red Hat Enterprise Linux 8'],
    '5.5': ['Red Hat Enterprise Linux 9'],
    '5.7': ['Debian 12'],
    '6.13': ['Debian 13'],
  },
  'redis:redis': {
    '4.0.9': ['Ubuntu 18.04'],
    '5.0.3': ['Red Hat Enterprise Linux 8'],
    '5.0.7': ['Ubuntu 20.04'],
    '5.0.14': ['Debian 10'],
    '6.0.16': ['Debian 11', 'Ubuntu 22.04'],
    '7.0.15': ['Debian 12', 'Ubuntu 24.04'],
  },
  'memcached:memcached': {
    '1.4.15': ['Red Hat Enterprise Linux 7'],
    '1.5.6': ['Debian 10', 'Ubuntu 18.04'],
    '1.5.22': ['Ubuntu 20.04', 'Red Hat Enterprise Linux 8'],
    '1.6.9': ['Debian 11', 'Red Hat Enterprise Linux 9'],
    '1.6.14': ['Ubuntu 22.04'],
    '1.6.18': ['Debian 12'],
    '1.6.24': ['Ubuntu 24.04'],
  },
  'vsftpd_project:vsftpd': {
    '3.0.2': ['Red Hat Enterprise Linux 7'],
    '3.0.3': ['Debian 10 to 12', 'Ubuntu 18.04 and 20.04', 'Red Hat Enterprise Linux 8'],
    '3.0.5': ['Debian 13', 'Ubuntu 22.04 and 24.04'],
  },
  'proftpd:proftpd': {
    '1.3.5e': ['Ubuntu 18.04'],
    '1.3.6': ['Debian 10'],
    '1.3.6c': ['Ubuntu 20.04'],
    '1.3.7a': ['Debian 11'],
    '1.3.7c': ['Ubuntu 22.04'],
    '1.3.8': ['Debian 12'],
    '1.3.8b': ['Ubuntu 24.04'],
  },
  'exim:exim': {
    '4.90.1': ['Ubuntu 18.04'],
    '4.92': ['Debian 10'],
    '4.93': ['Ubuntu 20.04'],
    '4.94.2': ['Debian 11'],
    '4.95': ['Ubuntu 22.04'],
    '4.96': ['Debian 12'],
    '4.97': ['Ubuntu 24.04'],
    '4.98.2': ['Debian 13'],
  },
  'dropbear_ssh_project:dropbear_ssh': {
    '2018.76': ['Debian 10'],
    '2019.78': ['Ubuntu 20.04'],
    '2020.81': ['Debian 11', 'Ubuntu 22.04'],
    '2022.83': ['Debian 12', 'Ubuntu 24.04'],
  },
  'eclipse:mosquitto': {
    '1.4.15': ['Ubuntu 18.04'],
    '1.5.7': ['Debian 10'],
    '1.6.9': ['Ubuntu 20.04'],
    '2.0.11': ['Debian 11 and 12', 'Ubuntu 22.04'],
    '2.0.18': ['Ubuntu 24.04'],
    '2.0.21': ['Debian 13'],
  },
  'nlnetlabs:unbound': {
    '1.9.0': ['Debian 10'],
    '1.9.4': ['Ubuntu 20.04'],
    '1.13.1': ['Debian 11', 'Ubuntu 22.04'],
    '1.16.2': ['Red Hat Enterprise Linux 8 and 9'],
    '1.17.1': ['Debian 12'],
    '1.19.2': ['Ubuntu 24.04'],
    '1.22.0': ['Debian 13'],
  },
  'thekelleys:dnsmasq': {
    '2.76': ['Red Hat Enterprise Linux 7'],
    '2.79': ['Ubuntu 18.04', 'Red Hat Enterprise Linux 8'],
    '2.80': ['Debian 10', 'Ubuntu 20.04'],
    '2.85': ['Debian 11', 'Red Hat Enterprise Linux 9'],
    '2.86': ['Ubuntu 22.04'],
    '2.90': ['Debian 12', 'Ubuntu 20.04 to 24.04'],
  },
  'powerdns:authoritative_server': {
    '4.1.6': ['Debian 10'],
    '4.2.1': ['Ubuntu 20.04'],
    '4.4.1': ['Debian 11'],
    '4.5.3': ['Ubuntu 22.04'],
    '4.7.3': ['Debian 12'],
  },
  'powerdns:recursor': {
    '4.1.11': ['Debian 10'],
    '4.4.2': ['Debian 11'],
  },
  'lighttpd:lighttpd': {
    '1.4.45': ['Ubuntu 18.04'],
    '1.4.53': ['Debian 10'],
    '1.4.55': ['Ubuntu 20.04'],
    '1.4.59': ['Debian 11'],
    '1.4.63': ['Ubuntu 22.04'],
    '1.4.69': ['Debian 12'],
    '1.4.74': ['Ubuntu 24.04'],
  },
  'haproxy:haproxy': {
    '1.8.19': ['Debian 10'],
    '2.2.9': ['Debian 11'],
    '2.6.12': ['Debian 12'],
  },
  'varnish-software:varnish_cache': {
    '6.1.1': ['Debian 10'],
    '6.2.1': ['Ubuntu 20.04'],
    '6.5.1': ['Debian 11'],
    '6.6.1': ['Ubuntu 22.04', 'Red Hat Enterprise Linux 9'],
    '7.1.1': ['Debian 12'],
  },
  'samba:samba': {
    '4.9.5': ['Debian 10'],
    '4.10.16': ['Red Hat Enterprise Linux 7'],
    '4.13.13': ['Debian 11'],
    '4.17.12': ['Debian 12'],
  },
  'dovecot:dovecot': {
    '2.2.36': ['Red Hat Enterprise Linux 7'],
    '2.3.4.1': ['Debian 10'],
    '2.3.13': ['Debian 11'],
    '2.3.16': ['Ubuntu 22.04', 'Red Hat Enterprise Linux 8 and 9'],
    '2.3.19.1': ['Debian 12'],
    '2.3.21': ['Ubuntu 24.04'],
  },
  'openldap:openldap': {
    '2.4.44': ['Red Hat Enterprise Linux 7'],
    '2.4.47': ['Debian 10'],
    '2.4.49': ['Ubuntu 20.04'],
    '2.4.57': ['Debian 11'],
    '2.5.13': ['Debian 12'],
  },
  'openprinting:cups': {
    '1.6.3': ['Red Hat Enterprise Linux 7'],
    '2.2.6': ['Red Hat Enterprise Linux 8'],
    '2.2.10': ['Debian 10'],
    '2.3.1': ['Ubuntu 20.04'],
    '2.3.3': ['Debian 11', 'Red Hat Enterprise Linux 9'],
    '2.4.1': ['Ubuntu 22.04'],
    '2.4.2': ['Debian 12'],
    '2.4.7': ['Ubuntu 24.04'],
  },
  'php:php': {
    '5.4.16': ['Red Hat Enterprise Linux 7'],
    '7.2.24': ['Ubuntu 18.04', 'Red Hat Enterprise Linux 8'],
    '7.4.3': ['Ubuntu 20.04'],
    '8.0.30': ['Red Hat Enterprise Linux 9'],
    '8.1.2': ['Ubuntu 22.04'],
    '8.3.6': ['Ubuntu 24.04'],
  },
  'influxdata:influxdb': {
    '1.6.4': ['Debian 11', 'Ubuntu 20.04'],
    '1.6.7': ['Debian 12', 'Ubuntu 22.04 and 24.04'],
  },
  'tinyproxy_project:tinyproxy': {
    '1.10.0': ['Debian 10 and 11', 'Ubuntu 20.04'],
    '1.11.0': ['Ubuntu 22.04'],
    '1.11.1': ['Debian 12', 'Ubuntu 24.04'],
  },
  'xiph:icecast': {
    '2.4.4': ['Debian 10 to 13', 'Ubuntu 20.04 to 24.04'],
  },
  'openssl:openssl': {
    '1.0.2k': ['Red Hat Enterprise Linux 7'],
    '1.1.1f': ['Ubuntu 20.04'],
    '1.1.1k': ['Red Hat Enterprise Linux 8'],
    '3.0.2': ['Ubuntu 22.04'],
    '3.0.7': ['Red Hat Enterprise Linux 9'],
    '3.0.13': ['Ubuntu 24.04'],
  },
};

/** Releases that ship and patch exactly this version, by their usual names; empty where none is known. */
export function releasesWith(product: string, upstream: string | null): readonly string[] {
  const versions = Object.hasOwn(shippedVersions, product) ? shippedVersions[product] : undefined;
  const version = upstream?.trim().toLowerCase() ?? '';
  return versions !== undefined && Object.hasOwn(versions, version) ? (versions[version] ?? []) : [];
}
