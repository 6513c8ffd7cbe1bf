import { rows } from './row.ts';
import type { Signature } from './signature.ts';

/** Icons are copied, and survive a redesign: certain enough to name a product, not to outweigh its own text. */
const row = rows('http', 'http.favicon.sha256', 0.7);

const icon = (id: string, product: string, maker: string | null, sha256: string): Signature =>
  row(`${id}.favicon`, product, maker, `^${sha256}$`, sha256);

/** Icons of web applications by the SHA-256 of the file in their Debian 12 packages. */
export const faviconSignatures: readonly Signature[] = [
  icon(
    'cgit',
    'cgit',
    'cgit_project:cgit',
    '231bd7f403ef5607d55cf819f6992f8236c9f5be2db9685abc36f0565ff85edd',
  ),
  icon(
    'dokuwiki',
    'DokuWiki',
    'dokuwiki:dokuwiki',
    '3ca2c21f1821782f2b2a29b814b7aa240862014a35fdee54d23a72575fc16ec1',
  ),
  icon(
    'ejabberd',
    'ejabberd',
    'process-one:ejabberd',
    '336d34d7fb386b15341ce7794b004cb43d4272c6432621e518f2c17849486151',
  ),
  icon('gerbera', 'Gerbera', 'gerbera', '633e8aa825ea34b7774015bbfc06aacab126a05755daf8c48c5e12d48b2927e8'),
  icon(
    'jupyter',
    'Jupyter',
    'jupyter:notebook',
    'c2638a89fde3633617ec624088730c1dbe4daf18d4f2e44729ece89df3e60176',
  ),
  icon('mopidy', 'Mopidy', 'mopidy', '866dc168e535815bdb89fc3a9979b41ac405bb2fe6f4df8980b6900a8c752db4'),
  icon(
    'nagios',
    'Nagios',
    'nagios:nagios',
    '57ff1068caf7d83d9c252ae26af5f833290b917945051a90cfc4b42e4e72ac13',
  ),
  icon(
    'netdata',
    'Netdata',
    'netdata:netdata',
    'e5fe54814abebb9787b45f2fd7b30aa931aea9c390b42da8882b888e1eef9fb6',
  ),
  icon(
    'phpmyadmin',
    'phpMyAdmin',
    'phpmyadmin:phpmyadmin',
    'e2905705920b2636309d785c2df3f155d6379b0aa9a44dc7831524505fa2defd',
  ),
  icon(
    'prometheus',
    'Prometheus',
    'prometheus:prometheus',
    'd72fc7b0bd1a4c1c4a016dfa4bfd594b2fb65a409575ec8f857864d4bdc658be',
  ),
  icon(
    'roundcube',
    'Roundcube',
    'roundcube:webmail',
    '7b30e499996ec4631848d3509d803d9311f5d71999212f2f4c1ca7af8f24eb69',
  ),
  icon('rspamd', 'Rspamd', 'rspamd', '65934be829b8d957cce772813fff62689ee965a15b4590372ec0e286a65b44e5'),
  icon(
    'tomcat',
    'Apache Tomcat',
    'apache:tomcat',
    '64a3170a912786e9eece7e347b58f36471cb9d0bc790697b216c61050e6b1f08',
  ),
  icon(
    'transmission',
    'Transmission',
    'transmissionbt:transmission',
    'b2cb6511abb0eda928c241fb3ea7c4606666d59bfc9fb5378c70f300cb3f7210',
  ),
  icon('znc', 'ZNC', 'znc:znc', 'a697d6a29e95108dca6f04d0a36f1c0153384b42c5aa70b51ece1aec62dc4ab7'),
];
