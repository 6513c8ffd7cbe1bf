import { cve } from './entry.ts';

const exim = 'a:exim:exim';
const dovecot = 'a:dovecot:dovecot';
const opensmtpd = 'a:openbsd:opensmtpd';
const roundcube = 'a:roundcube:webmail';
const exchange = 'a:microsoft:exchange_server';
const zimbra = 'a:synacor:zimbra_collaboration_suite';

/** Mail transfer agents, mailbox servers and webmail. */
export const mailCves = [
  cve('CVE-2019-10149', 'NLNN/U/HHH', 'A recipient address runs commands as root', {
    [exim]: ['>= 4.87, <= 4.91'],
  }),
  cve('CVE-2019-15846', 'NLNN/U/HHH', 'A backslash at the end of the TLS server name runs code as root', {
    [exim]: ['< 4.92.2'],
  }),
  cve('CVE-2019-16928', 'NLNN/U/HHH', 'A long EHLO name overflows the heap', {
    [exim]: ['>= 4.92, < 4.92.3'],
  }),
  cve(
    'CVE-2019-13917',
    'NLNN/U/HHH',
    'Sort expressions over data of a mail run commands in unusual configurations',
    { [exim]: ['>= 4.85, < 4.92.1'] },
  ),
  cve(
    'CVE-2018-6789',
    'NLNN/U/HHH',
    'Base64 of an authentication overflows a buffer by one byte and runs code',
    { [exim]: ['< 4.90.1'] },
  ),
  cve('CVE-2017-16943', 'NLNN/U/HHH', 'BDAT commands make the server use freed memory and run code', {
    [exim]: ['= 4.88', '= 4.89'],
  }),
  cve('CVE-2017-16944', 'NLNN/U/NNH', 'BDAT commands send the server into an endless loop', {
    [exim]: ['= 4.88', '= 4.89'],
  }),
  cve('CVE-2010-4344', 'NLNN/U/HHH', 'Long headers of a refused mail overflow the heap and run code', {
    [exim]: ['< 4.70'],
  }),
  cve('CVE-2010-4345', 'LLLN/U/HHH', 'The mail user gains root by a configuration file of its own', {
    [exim]: ['<= 4.72'],
  }),
  cve(
    'CVE-2020-28017',
    'NLNN/U/HHH',
    'A mail to very many recipients overflows an integer and runs code (21Nails)',
    { [exim]: ['< 4.94.2'] },
  ),
  cve(
    'CVE-2020-28018',
    'NLNN/U/HHH',
    'Pipelined commands over TLS make the server use freed memory and run code (21Nails)',
    { [exim]: ['>= 4.90, < 4.94.2'] },
  ),
  cve('CVE-2020-28020', 'NLNN/U/HHH', 'Long header lines overflow an integer and run code (21Nails)', {
    [exim]: ['< 4.92'],
  }),
  cve(
    'CVE-2020-28021',
    'NLLN/U/HHH',
    'Line ends in an AUTH parameter forge spool files and gain root (21Nails)',
    { [exim]: ['< 4.94.2'] },
  ),
  cve('CVE-2022-37452', 'NLNN/U/HHH', 'The alias list of a host name overflows the heap', {
    [exim]: ['< 4.95'],
  }),
  cve(
    'CVE-2023-42115',
    'NLNN/U/HHH',
    'EXTERNAL authentication writes outside its buffer and runs code',
    { [exim]: ['< 4.96.1'] },
    { remedy: 'Only servers that offer EXTERNAL authentication are reachable by it.' },
  ),
  cve(
    'CVE-2023-51766',
    'NLNN/U/NLN',
    'Line ends that are no line ends smuggle a second mail past sender checks',
    { [exim]: ['< 4.97.1'] },
  ),
  cve(
    'CVE-2023-51764',
    'NLNN/U/NLN',
    'Line ends that are no line ends smuggle a second mail past sender checks',
    { 'a:postfix:postfix': ['< 3.5.23', '>= 3.6.0, < 3.6.13', '>= 3.7.0, < 3.7.9', '>= 3.8.0, < 3.8.4'] },
    { remedy: 'Set smtpd_forbid_bare_newline = yes.' },
  ),
  cve(
    'CVE-2023-51765',
    'NLNN/U/NLN',
    'Line ends that are no line ends smuggle a second mail past sender checks',
    { 'a:sendmail:sendmail': ['<= 8.17.2'] },
  ),
  cve(
    'CVE-2019-11500',
    'NLNN/U/HHH',
    'A null byte in a quoted string writes outside the heap before any login',
    { [dovecot]: ['< 2.2.36.4', '>= 2.3.0, < 2.3.7.2'] },
  ),
  cve('CVE-2020-12100', 'NLNN/U/NNH', 'A mail with deeply nested parts exhausts the server', {
    [dovecot]: ['< 2.3.11.3'],
  }),
  cve('CVE-2020-12674', 'NLNN/U/NNH', 'An empty RPA message crashes the authentication', {
    [dovecot]: ['< 2.3.11.3'],
  }),
  cve(
    'CVE-2022-30550',
    'NLLN/U/HHH',
    'Two password databases with equal driver and arguments mix their settings and give users too much',
    { [dovecot]: ['>= 2.2, < 2.3.20'] },
  ),
  cve('CVE-2020-7247', 'NLNN/U/HHH', 'A sender address runs commands as root', {
    [opensmtpd]: ['= 6.6'],
  }),
  cve(
    'CVE-2020-8794',
    'NLNN/U/HHH',
    'A multi-line reply of another server is read out of bounds and runs commands',
    { [opensmtpd]: ['< 6.6.4'] },
  ),
  cve('CVE-2020-12641', 'NLNN/U/HHH', 'Paths of image programs in the settings run commands', {
    [roundcube]: ['< 1.2.10', '>= 1.3.0, < 1.3.11', '>= 1.4.0, < 1.4.4'],
  }),
  cve('CVE-2021-44026', 'NLNN/U/HHH', 'Search parameters of a session inject SQL', {
    [roundcube]: ['< 1.3.17', '>= 1.4.0, < 1.4.12'],
  }),
  cve('CVE-2023-43770', 'NLNR/C/LLN', "A link in a plain text mail runs script in the reader's browser", {
    [roundcube]: ['< 1.4.14', '>= 1.5.0, < 1.5.4', '>= 1.6.0, < 1.6.3'],
  }),
  cve('CVE-2024-37383', 'NLNR/C/LLN', "SVG animation in a mail runs script in the reader's browser", {
    [roundcube]: ['< 1.5.7', '>= 1.6.0, < 1.6.7'],
  }),
  cve(
    'CVE-2024-42009',
    'NLNR/C/HHN',
    "A mail runs script in the reader's browser and can read and send his mails",
    { [roundcube]: ['< 1.5.8', '>= 1.6.0, < 1.6.8'] },
  ),
  cve('CVE-2020-13965', 'NLNR/C/LLN', "An XML attachment runs script in the reader's browser", {
    [roundcube]: ['< 1.3.12', '>= 1.4.0, < 1.4.5'],
  }),
  cve(
    'CVE-2020-35730',
    'NLNR/C/LLN',
    "A link reference in a plain text mail runs script in the reader's browser",
    { [roundcube]: ['< 1.2.13', '>= 1.3.0, < 1.3.16', '>= 1.4.0, < 1.4.10'] },
  ),
  cve(
    'CVE-2025-49113',
    'NLLN/C/HHH',
    'A parameter of the settings upload is deserialised and runs code of any user',
    { [roundcube]: ['< 1.5.10', '>= 1.6.0, < 1.6.11'] },
  ),
  cve(
    'CVE-2021-26855',
    'NLNN/U/HHN',
    'Requests make the server ask itself with its own rights (ProxyLogon)',
    {
      [exchange]: [
        '>= 15.0.1497.0, < 15.0.1497.12',
        '>= 15.1.2106.0, < 15.1.2106.13',
        '>= 15.1.2176.0, < 15.1.2176.9',
        '>= 15.2.721.0, < 15.2.721.13',
        '>= 15.2.792.0, < 15.2.792.10',
      ],
    },
    { remedy: 'Look for web shells: the flaw was used widely before the update.' },
  ),
  cve(
    'CVE-2021-27065',
    'LLNR/U/HHH',
    'Administrators write files anywhere, after CVE-2021-26855 anybody (ProxyLogon)',
    {
      [exchange]: [
        '>= 15.0.1497.0, < 15.0.1497.12',
        '>= 15.1.2106.0, < 15.1.2106.13',
        '>= 15.1.2176.0, < 15.1.2176.9',
        '>= 15.2.721.0, < 15.2.721.13',
        '>= 15.2.792.0, < 15.2.792.10',
      ],
    },
    { remedy: 'Look for web shells: the flaw was used widely before the update.' },
  ),
  cve(
    'CVE-2021-34523',
    'LLNN/C/HHN',
    'The backend takes a mailbox from the request for the one that is logged in (ProxyShell)',
    {
      [exchange]: [
        '>= 15.0.1497.0, < 15.0.1497.15',
        '>= 15.1.2176.0, < 15.1.2176.12',
        '>= 15.1.2242.0, < 15.1.2242.8',
        '>= 15.2.792.0, < 15.2.792.13',
        '>= 15.2.858.0, < 15.2.858.10',
      ],
    },
  ),
  cve('CVE-2021-31207', 'NHHN/U/HHH', 'Exports of mailboxes write files anywhere (ProxyShell)', {
    [exchange]: [
      '>= 15.0.1497.0, < 15.0.1497.18',
      '>= 15.1.2176.0, < 15.1.2176.14',
      '>= 15.1.2242.0, < 15.1.2242.10',
      '>= 15.2.792.0, < 15.2.792.15',
      '>= 15.2.858.0, < 15.2.858.12',
    ],
  }),
  cve('CVE-2022-41082', 'NLLN/U/HHH', 'Authenticated users run code by remote PowerShell (ProxyNotShell)', {
    [exchange]: [
      '>= 15.0.1497.0, < 15.0.1497.44',
      '>= 15.1.2375.0, < 15.1.2375.37',
      '>= 15.1.2507.0, < 15.1.2507.16',
      '>= 15.2.986.0, < 15.2.986.36',
      '>= 15.2.1118.0, < 15.2.1118.20',
    ],
  }),
  cve('CVE-2021-34473', 'NLNN/U/HHN', 'Requests reach the backend without a login (ProxyShell)', {
    [exchange]: [
      '>= 15.0.1497.0, < 15.0.1497.15',
      '>= 15.1.2176.0, < 15.1.2176.12',
      '>= 15.1.2242.0, < 15.1.2242.8',
      '>= 15.2.792.0, < 15.2.792.13',
      '>= 15.2.858.0, < 15.2.858.10',
    ],
  }),
  cve(
    'CVE-2022-41040',
    'NLLN/U/HHH',
    'Authenticated users reach the backend with its rights (ProxyNotShell)',
    {
      [exchange]: [
        '>= 15.0.1497.0, < 15.0.1497.44',
        '>= 15.1.2375.0, < 15.1.2375.37',
        '>= 15.1.2507.0, < 15.1.2507.16',
        '>= 15.2.986.0, < 15.2.986.36',
        '>= 15.2.1118.0, < 15.2.1118.20',
      ],
    },
  ),
  cve(
    'CVE-2020-0688',
    'NLLN/U/HHH',
    'All installations share one key, so that any user can run code as the system',
    {
      [exchange]: [
        '>= 15.0.1497.0, < 15.0.1497.6',
        '>= 15.1.1847.0, < 15.1.1847.7',
        '>= 15.1.1913.0, < 15.1.1913.7',
        '>= 15.2.464.0, < 15.2.464.11',
        '>= 15.2.529.0, < 15.2.529.8',
      ],
    },
  ),
  cve('CVE-2024-45519', 'NLNN/U/HHH', 'A recipient address runs commands where the journal service is on', {
    [zimbra]: ['< 8.8.15', '>= 10.0.0, < 10.0.9', '= 10.1.0'],
    'a:zimbra:collaboration': ['< 8.8.15', '>= 10.0.0, < 10.0.9', '= 10.1.0'],
  }),
];
