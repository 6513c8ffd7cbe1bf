/**
 * Names that the CPE dictionary uses, or used, for one and the same product: companies were acquired, projects moved,
 * names changed. Other vendors' products of the same name are not listed (`oracle:http_server` is not Apache's).
 */
export const sameProduct: readonly (readonly string[])[] = [
  // Web
  ['f5:nginx', 'nginx:nginx', 'igor_sysoev:nginx', 'f5:nginx_open_source'],
  ['apache:http_server', 'apache:httpd', 'apache:apache_http_server'],
  [
    'apache:tomcat',
    'apache_software_foundation:tomcat',
    'apache:tomcat-catalina',
    'apache:tomcat-embed-core',
  ],
  ['eclipse:jetty', 'mortbay:jetty', 'mortbay_jetty:jetty', 'jetty:jetty', 'jetty:jetty_http_server'],
  ['microsoft:internet_information_services', 'microsoft:internet_information_server', 'microsoft:iis'],
  ['lighttpd:lighttpd', 'lighttpd_project:lighttpd'],
  ['litespeedtech:litespeed_web_server', 'litespeedtech:litespeed_webserver'],
  ['caddyserver:caddy', 'caddy:caddy'],
  ['traefik:traefik', 'containous:traefik'],
  ['haproxy:haproxy', 'haproxy_technologies:haproxy', 'haproxy-technologies:haproxy'],
  ['squid-cache:squid', 'squid:squid', 'national_science_foundation:squid', 'squid:squid_web_proxy'],
  [
    'varnish-software:varnish_cache',
    'varnish-cache:varnish',
    'varnish_cache_project:varnish_cache',
    'varnish-cache:varnish_cache',
    'varnish.projects.linpro:varnish',
  ],
  ['envoyproxy:envoy', 'envoy_project:envoy'],
  ['tinyproxy_project:tinyproxy', 'banu:tinyproxy'],
  ['privoxy:privoxy', 'privoxy_project:privoxy'],
  ['acme:mini_httpd', 'acme:mini-httpd', 'acme_labs:mini_httpd'],
  ['acme:thttpd', 'acme_labs:thttpd'],
  ['embedthis:goahead', 'goahead:goahead_webserver', 'goahead_software:goahead_webserver'],
  ['openjsf:express', 'expressjs:express'],
  ['vercel:next.js', 'zeit:next.js'],
  ['nodejs:node.js', 'joyent:node.js', 'nodejs:nodejs'],
  ['agendaless:waitress', 'pylonsproject:waitress'],
  ['palletsprojects:werkzeug', 'pocoo:werkzeug'],
  ['twisted:twisted', 'twistedmatrix:twisted'],
  ['python:python', 'python_software_foundation:python'],
  ['php:php', 'php_group:php'],
  ['ruby-lang:webrick', 'webrick_project:webrick'],
  ['xiph:icecast', 'icecast:icecast'],
  ['oracle:weblogic_server', 'bea:weblogic_server', 'bea_systems:weblogic_server'],
  [
    'redhat:jboss_enterprise_application_platform',
    'redhat:jboss_application_server',
    'jboss:jboss_application_server',
  ],
  ['redhat:wildfly', 'wildfly:wildfly', 'redhat:jboss_wildfly_application_server'],
  ['atlassian:confluence_server', 'atlassian:confluence', 'atlassian:confluence_data_center'],
  ['atlassian:jira_server', 'atlassian:jira', 'atlassian:jira_data_center', 'atlassian:jira_software'],
  ['jenkins:jenkins', 'cloudbees:jenkins', 'jenkins-ci:jenkins'],
  ['gitlab:gitlab', 'gitlab:gitlab_enterprise'],
  ['sonatype:nexus_repository_manager', 'sonatype:nexus'],
  ['geoserver:geoserver', 'osgeo:geoserver'],
  ['progress:moveit_transfer', 'ipswitch:moveit_transfer'],
  ['fortra:goanywhere_managed_file_transfer', 'helpsystems:goanywhere_managed_file_transfer'],
  ['drupal:drupal', 'drupal:drupal_core'],
  ['joomla:joomla!', 'joomla:joomla'],
  ['phpmyadmin:phpmyadmin', 'phpmyadmin_project:phpmyadmin'],
  ['synacor:zimbra_collaboration_suite', 'zimbra:collaboration', 'zimbra:zimbra_collaboration_suite'],
  ['grafana:grafana', 'grafana_labs:grafana'],
  ['prometheus:prometheus', 'prometheus_project:prometheus'],
  ['transmissionbt:transmission', 'transmission_project:transmission'],
  // Data
  ['redis:redis', 'redislabs:redis', 'pivotal_software:redis', 'pivotal:redis'],
  ['lfprojects:valkey', 'linuxfoundation:valkey', 'valkey-io:valkey'],
  ['oracle:mysql', 'mysql:mysql', 'sun:mysql', 'oracle:mysql_server', 'mysql:mysql_server'],
  ['mariadb:mariadb', 'mariadb_foundation:mariadb', 'monty_program:mariadb'],
  ['postgresql:postgresql', 'postgresql_global_development_group:postgresql'],
  ['elastic:elasticsearch', 'elasticsearch:elasticsearch', 'elasticsearch:elastic_search'],
  ['elastic:kibana', 'elasticsearch:kibana'],
  ['memcached:memcached', 'memcachedb:memcached', 'danga:memcached'],
  ['mongodb:mongodb', 'mongodb:mongodb_server', '10gen:mongodb'],
  ['vmware:rabbitmq', 'pivotal_software:rabbitmq', 'pivotal:rabbitmq', 'broadcom:rabbitmq_server'],
  ['eclipse:mosquitto', 'mosquitto:mosquitto'],
  ['etcd:etcd', 'redhat:etcd', 'coreos:etcd', 'etcd-io:etcd'],
  ['docker:docker', 'docker:engine', 'docker:docker_engine', 'mobyproject:moby'],
  // Mail
  ['exim:exim', 'university_of_cambridge:exim'],
  ['dovecot:dovecot', 'timo_sirainen:dovecot', 'open-xchange:dovecot', 'dovecot:dovecot_imap_server'],
  ['postfix:postfix', 'wietse_venema:postfix'],
  ['sendmail:sendmail', 'proofpoint:sendmail', 'sendmail_consortium:sendmail', 'eric_allman:sendmail'],
  [
    'cyrus:imap',
    'cyrusimap:cyrus_imap',
    'cmu:cyrus_imap_server',
    'carnegie_mellon_university:cyrus_imap_server',
    'cyrus:cyrus_imap',
  ],
  ['courier-mta:courier-imap', 'double_precision_incorporated:courier-imap', 'courier-mta:courier_imap'],
  ['courier-mta:courier', 'double_precision_incorporated:courier_mta', 'courier-mta:courier_mail_server'],
  ['openbsd:opensmtpd', 'opensmtpd:opensmtpd'],
  // Files
  ['proftpd:proftpd', 'proftpd_project:proftpd'],
  ['vsftpd_project:vsftpd', 'beasts:vsftpd', 'chris_evans:vsftpd'],
  ['pureftpd:pure-ftpd', 'pure-ftpd:pure-ftpd', 'pureftpd:pureftpd'],
  ['filezilla-project:filezilla_server', 'filezilla:filezilla_server'],
  ['solarwinds:serv-u', 'serv-u:serv-u', 'solarwinds:serv-u_file_server', 'rhinosoft:serv-u'],
  ['samba:rsync', 'rsync:rsync', 'andrew_tridgell:rsync'],
  ['pyftpdlib_project:pyftpdlib', 'g.rodola:pyftpdlib'],
  // Remote access
  ['openbsd:openssh', 'openssh:openssh'],
  [
    'dropbear_ssh_project:dropbear_ssh',
    'dropbear_ssh_project:dropbear',
    'matt_johnston:dropbear_ssh_server',
    'matt_johnston:dropbear_ssh',
  ],
  ['libssh:libssh', 'libssh_project:libssh'],
  ['apache:sshd', 'apache:mina_sshd'],
  ['erlang:erlang/otp', 'erlang:otp', 'erlang:erlang'],
  ['realvnc:vnc', 'realvnc:realvnc', 'realvnc:vnc_server'],
  // Names, time, management
  ['isc:bind', 'isc:bind_9', 'isc:bind9'],
  ['nlnetlabs:unbound', 'unbound:unbound'],
  ['nlnetlabs:nsd', 'nlnet_labs:nsd'],
  ['thekelleys:dnsmasq', 'dnsmasq:dnsmasq'],
  [
    'powerdns:authoritative_server',
    'powerdns:authoritative',
    'powerdns:powerdns_authoritative_server',
    'powerdns:powerdns',
  ],
  ['powerdns:recursor', 'powerdns:powerdns_recursor'],
  ['knot-dns:knot_dns', 'nic:knot_dns'],
  ['ntp:ntp', 'ntp:ntpd'],
  ['ntpsec:ntpsec', 'ntp:ntpsec'],
  ['net-snmp:net-snmp', 'net-snmp_project:net-snmp'],
  ['openprinting:cups', 'apple:cups', 'cups:cups', 'easy_software_products:cups'],
  ['openldap:openldap', 'openldap_foundation:openldap'],
  ['openvpn:openvpn', 'openvpn_technologies:openvpn'],
  ['openssl:openssl', 'openssl_project:openssl'],
  // Voice
  ['digium:asterisk', 'asterisk:asterisk', 'sangoma:asterisk', 'asterisk:open_source'],
  ['digium:certified_asterisk', 'asterisk:certified_asterisk', 'sangoma:certified_asterisk'],
  ['kamailio:kamailio', 'kamailio_project:kamailio'],
  // Systems
  ['munin-monitoring:munin', 'munin:munin'],
  ['proxmox:virtual_environment', 'proxmox:proxmox_virtual_environment', 'proxmox:proxmox'],
  ['ivanti:connect_secure', 'pulsesecure:pulse_connect_secure'],
  ['citrix:netscaler_application_delivery_controller', 'citrix:application_delivery_controller'],
  ['citrix:netscaler_gateway', 'citrix:gateway'],
  ['debian:debian_linux', 'debian:linux'],
  ['canonical:ubuntu_linux', 'ubuntu:ubuntu_linux'],
  ['redhat:enterprise_linux', 'redhat:enterprise_linux_server'],
  ['apple:macos', 'apple:mac_os_x', 'apple:mac_os', 'apple:mac_os_x_server'],
];

/** A product as CPE names write it. */
export interface ProductName {
  vendor: string;
  product: string;
}

const groups = new Map<string, readonly ProductName[]>();
for (const group of sameProduct) {
  const names = group.map(splitKey);
  for (const key of group) groups.set(key, names);
}

function splitKey(key: string): ProductName {
  const colon = key.indexOf(':');
  return { vendor: key.slice(0, colon), product: key.slice(colon + 1) };
}

/** Every name of a product, the given one first. Names are lower case and without escapes. */
export function aliasesOf(vendor: string, product: string): readonly ProductName[] {
  const own = { vendor, product };
  const group = groups.get(`${vendor}:${product}`);
  if (!group) return [own];
  return [own, ...group.filter((name) => name.vendor !== vendor || name.product !== product)];
}

/** The canonical name of a product: `f5:nginx` also for `nginx:nginx`. */
export function mainName(vendor: string, product: string): string {
  const first = groups.get(`${vendor}:${product}`)?.[0];
  return first ? `${first.vendor}:${first.product}` : `${vendor}:${product}`;
}
