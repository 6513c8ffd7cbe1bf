/** Package names of distributions, by the main name of a product's CPE. */
export interface PackageNames {
  /** Source packages of Debian and its derivatives; a product may have one for each of its lines. */
  deb: readonly string[];
  rpm: readonly string[];
  /** Epoch of the packages; no banner shows it. */
  debEpoch?: number;
  rpmEpoch?: number;
}

export const packages: Readonly<Record<string, PackageNames>> = {
  'openbsd:openssh': { deb: ['openssh'], debEpoch: 1, rpm: ['openssh'] },
  'apache:http_server': { deb: ['apache2'], rpm: ['httpd'] },
  'f5:nginx': { deb: ['nginx'], rpm: ['nginx'], rpmEpoch: 1 },
  'isc:bind': { deb: ['bind9'], debEpoch: 1, rpm: ['bind'], rpmEpoch: 32 },
  'mariadb:mariadb': {
    deb: ['mariadb', 'mariadb-10.6', 'mariadb-10.5', 'mariadb-10.3', 'mariadb-10.1'],
    debEpoch: 1,
    rpm: ['mariadb', 'mariadb10.11', 'mariadb11.8'],
    rpmEpoch: 3,
  },
  'oracle:mysql': {
    deb: ['mysql-8.4', 'mysql-8.0', 'mysql-5.7', 'mysql-5.6', 'mysql-5.5'],
    rpm: ['mysql', 'mysql8.4'],
  },
  'postgresql:postgresql': {
    deb: ['9.1', '9.3', '9.4', '9.5', '9.6', '10', '11', '12', '13', '14', '15', '16', '17'].map(
      (line) => `postgresql-${line}`,
    ),
    rpm: ['postgresql'],
  },
  'redis:redis': { deb: ['redis'], debEpoch: 5, rpm: ['redis'] },
  'lfprojects:valkey': { deb: ['valkey'], rpm: ['valkey'] },
  'memcached:memcached': { deb: ['memcached'], rpm: ['memcached'] },
  'exim:exim': { deb: ['exim4'], rpm: ['exim'] },
  'postfix:postfix': { deb: ['postfix'], rpm: ['postfix'], rpmEpoch: 2 },
  'sendmail:sendmail': { deb: ['sendmail'], rpm: ['sendmail'] },
  'openbsd:opensmtpd': { deb: ['opensmtpd'], rpm: ['opensmtpd'] },
  'dovecot:dovecot': { deb: ['dovecot'], debEpoch: 1, rpm: ['dovecot'], rpmEpoch: 1 },
  'cyrus:imap': { deb: ['cyrus-imapd'], rpm: ['cyrus-imapd'] },
  'courier-mta:courier-imap': { deb: ['courier'], rpm: ['courier-imap'] },
  'courier-mta:courier': { deb: ['courier'], rpm: ['courier'] },
  'samba:samba': { deb: ['samba'], debEpoch: 2, rpm: ['samba'] },
  'samba:rsync': { deb: ['rsync'], rpm: ['rsync'] },
  'squid-cache:squid': { deb: ['squid', 'squid3'], rpm: ['squid'], rpmEpoch: 7 },
  'haproxy:haproxy': { deb: ['haproxy'], rpm: ['haproxy'] },
  'varnish-software:varnish_cache': { deb: ['varnish'], rpm: ['varnish'] },
  'lighttpd:lighttpd': { deb: ['lighttpd'], rpm: ['lighttpd'] },
  'apache:tomcat': {
    deb: ['tomcat11', 'tomcat10', 'tomcat9', 'tomcat8', 'tomcat7'],
    rpm: ['tomcat', 'tomcat9'],
    rpmEpoch: 1,
  },
  'eclipse:jetty': { deb: ['jetty12', 'jetty9', 'jetty'], rpm: ['jetty'] },
  'php:php': {
    deb: ['php8.4', 'php8.3', 'php8.2', 'php8.1', 'php7.4', 'php7.3', 'php7.2', 'php7.0', 'php5'],
    rpm: ['php'],
  },
  'nodejs:node.js': { deb: ['nodejs'], rpm: ['nodejs'], rpmEpoch: 1 },
  'openssl:openssl': { deb: ['openssl'], rpm: ['openssl'], rpmEpoch: 1 },
  'proftpd:proftpd': { deb: ['proftpd-dfsg'], rpm: ['proftpd'] },
  'vsftpd_project:vsftpd': { deb: ['vsftpd'], rpm: ['vsftpd'] },
  'pureftpd:pure-ftpd': { deb: ['pure-ftpd'], rpm: ['pure-ftpd'] },
  'dropbear_ssh_project:dropbear_ssh': { deb: ['dropbear'], rpm: ['dropbear'] },
  'libssh:libssh': { deb: ['libssh'], rpm: ['libssh'] },
  'ntp:ntp': { deb: ['ntp'], debEpoch: 1, rpm: ['ntp'] },
  'nlnetlabs:unbound': { deb: ['unbound'], rpm: ['unbound'] },
  'nlnetlabs:nsd': { deb: ['nsd'], rpm: ['nsd'] },
  'thekelleys:dnsmasq': { deb: ['dnsmasq'], rpm: ['dnsmasq'] },
  'powerdns:authoritative_server': { deb: ['pdns'], rpm: ['pdns'] },
  'powerdns:recursor': { deb: ['pdns-recursor'], rpm: ['pdns-recursor'] },
  'openldap:openldap': { deb: ['openldap'], rpm: ['openldap'] },
  'net-snmp:net-snmp': { deb: ['net-snmp'], rpm: ['net-snmp'], rpmEpoch: 1 },
  'openprinting:cups': { deb: ['cups'], rpm: ['cups'], rpmEpoch: 1 },
  'vmware:rabbitmq': { deb: ['rabbitmq-server'], rpm: ['rabbitmq-server'] },
  'eclipse:mosquitto': { deb: ['mosquitto'], rpm: ['mosquitto'] },
  'openvpn:openvpn': { deb: ['openvpn'], rpm: ['openvpn'] },
  'digium:asterisk': { deb: ['asterisk'], debEpoch: 1, rpm: ['asterisk'] },
  'kamailio:kamailio': { deb: ['kamailio'], rpm: ['kamailio'] },
  'xiph:icecast': { deb: ['icecast2'], rpm: ['icecast'] },
  'influxdata:influxdb': { deb: ['influxdb'], rpm: ['influxdb'] },
  'tinyproxy_project:tinyproxy': { deb: ['tinyproxy'], rpm: ['tinyproxy'] },
  'erlang:erlang/otp': { deb: ['erlang'], debEpoch: 1, rpm: ['erlang'] },
};

/** Package names of a product in a distribution; null where it is not known to package it. */
export function packagesOf(product: string): PackageNames | null {
  return Object.hasOwn(packages, product) ? (packages[product] ?? null) : null;
}

/** Releases that a distribution shipped with one upstream version that no other of its releases has. */
const releases: Record<string, Record<string, Record<string, string>>> = {
  'openbsd:openssh': {
    debian: {
      '6.0p1': '7',
      '6.7p1': '8',
      '7.4p1': '9',
      '7.9p1': '10',
      '8.4p1': '11',
      '9.2p1': '12',
      '10.0p1': '13',
      '10.0p2': '13',
    },
    ubuntu: {
      '6.6.1p1': '14.04',
      '7.2p2': '16.04',
      '7.6p1': '18.04',
      '8.2p1': '20.04',
      '8.9p1': '22.04',
      '9.6p1': '24.04',
    },
  },
  'apache:http_server': {
    debian: { '2.2.22': '7', '2.4.10': '8', '2.4.25': '9', '2.4.38': '10' },
    ubuntu: {
      '2.4.7': '14.04',
      '2.4.18': '16.04',
      '2.4.29': '18.04',
      '2.4.41': '20.04',
      '2.4.52': '22.04',
      '2.4.58': '24.04',
    },
    rhel: { '2.2.15': '6', '2.4.6': '7', '2.4.37': '8', '2.4.57': '9', '2.4.62': '9' },
  },
  'f5:nginx': {
    ubuntu: { '1.4.6': '14.04', '1.10.3': '16.04', '1.14.0': '18.04', '1.24.0': '24.04' },
  },
  'isc:bind': {
    ubuntu: { '9.10.3-p4': '16.04', '9.11.3': '18.04', '9.16.1': '20.04' },
  },
};

/** The release that a distribution's build of this upstream version belongs to; null where that is not certain. */
export function releaseByVersion(product: string, distribution: string, upstream: string): string | null {
  const known = releases[product]?.[distribution] ?? {};
  const version = upstream.toLowerCase();
  return Object.hasOwn(known, version) ? (known[version] ?? null) : null;
}

/** Vendors that ship their products themselves: no distribution builds them. */
const vendorBuilt = new Set([
  '3cx',
  'adobe',
  'altn',
  'argosoft',
  'arista',
  'arubanetworks',
  'atlassian',
  'axigen',
  'barracuda',
  'beyondtrust',
  'bitvise',
  'cerberusftp',
  'checkpoint',
  'cisco',
  'citrix',
  'cleo',
  'communigate',
  'connectwise',
  'coreftp',
  'couchbase',
  'cpanel',
  'crushftp',
  'dell',
  'directadmin',
  'dlink',
  'dnnsoftware',
  'draytek',
  'f5',
  'fortinet',
  'fortra',
  'gitlab',
  'hcltech',
  'helpsystems',
  'hikvision',
  'hp',
  'huawei',
  'ibm',
  'icewarp',
  'ipswitch',
  'ivanti',
  'jenkins',
  'jetbrains',
  'jfrog',
  'juniper',
  'kerio',
  'liferay',
  'linksys',
  'mailenable',
  'microfocus',
  'microsoft',
  'mikrotik',
  'netgear',
  'paessler',
  'paloaltonetworks',
  'papercut',
  'plex',
  'progress',
  'pulsesecure',
  'qnap',
  'rejetto',
  'sangoma',
  'sap',
  'solarwinds',
  'sonatype',
  'sonicwall',
  'sophos',
  'southrivertech',
  'splunk',
  'synology',
  'tp-link',
  'trendmicro',
  'ubiquiti',
  'ui',
  'vandyke',
  'vbulletin',
  'veeam',
  'vmware',
  'watchguard',
  'wftpserver',
  'wowza',
  'wso2',
  'xiongmaitech',
  'xwiki',
  'zohocorp',
  'zyxel',
]);
const vendorBuiltProducts = new Set([
  'alibaba:nacos',
  'apache:airflow',
  'apache:apisix',
  'apache:druid',
  'apache:flink',
  'apache:ofbiz',
  'apache:rocketmq',
  'apache:solr',
  'apache:spark',
  'filezilla-project:filezilla_server',
  'oracle:weblogic_server',
  'oracle:database_server',
  'elastic:elasticsearch',
  'elastic:kibana',
  'geoserver:geoserver',
  'igniterealtime:openfire',
  'joomla:joomla!',
  'langflow:langflow',
  'metabase:metabase',
  'redhat:jboss_enterprise_application_platform',
  'synacor:zimbra_collaboration_suite',
  'webmin:webmin',
]);

/** Whether a product comes from its vendor alone, by its main name. */
export function isVendorBuilt(product: string): boolean {
  if (packagesOf(product)) return false;
  return vendorBuilt.has(product.slice(0, product.indexOf(':'))) || vendorBuiltProducts.has(product);
}
