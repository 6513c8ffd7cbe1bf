import { cvesOf } from './entry.ts';

const exim = cvesOf('a:exim:exim');
const dovecot = cvesOf('a:dovecot:dovecot');
const opensmtpd = cvesOf('a:openbsd:opensmtpd');
const roundcube = cvesOf('a:roundcube:webmail');
const exchange = cvesOf('a:microsoft:exchange_server');
const proxyLogonBuilds = [
  '>= 15.0.1497.0, < 15.0.1497.12',
  '>= 15.1.2106.0, < 15.1.2106.13',
  '>= 15.1.2176.0, < 15.1.2176.9',
  '>= 15.2.721.0, < 15.2.721.13',
  '>= 15.2.792.0, < 15.2.792.10',
];
const proxyShellBuilds = [
  '>= 15.0.1497.0, < 15.0.1497.15',
  '>= 15.1.2176.0, < 15.1.2176.12',
  '>= 15.1.2242.0, < 15.1.2242.8',
  '>= 15.2.792.0, < 15.2.792.13',
  '>= 15.2.858.0, < 15.2.858.10',
];
const proxyNotShellBuilds = [
  '>= 15.0.1497.0, < 15.0.1497.44',
  '>= 15.1.2375.0, < 15.1.2375.37',
  '>= 15.1.2507.0, < 15.1.2507.16',
  '>= 15.2.986.0, < 15.2.986.36',
  '>= 15.2.1118.0, < 15.2.1118.20',
];

/** Mail transfer agents, mailbox servers and webmail. */
export const mailCves = [
  exim('CVE-2019-10149', 'NLNN/U/HHH', ['>= 4.87, <= 4.91'], {
    title: 'A recipient address runs commands as root',
  }),
  exim('CVE-2019-15846', 'NLNN/U/HHH', ['< 4.92.2'], {
    title: 'A backslash at the end of the TLS server name runs code as root',
  }),
  exim('CVE-2019-16928', 'NLNN/U/HHH', ['>= 4.92, < 4.92.3'], {
    title: 'A long EHLO name overflows the heap',
  }),
  exim('CVE-2019-13917', 'NLNN/U/HHH', ['>= 4.85, < 4.92.1'], {
    title: 'Sort expressions over data of a mail run commands in unusual configurations',
  }),
  exim('CVE-2018-6789', 'NLNN/U/HHH', ['< 4.90.1'], {
    title: 'Base64 of an authentication overflows a buffer by one byte and runs code',
  }),
  exim('CVE-2017-16943', 'NLNN/U/HHH', ['= 4.88', '= 4.89'], {
    title: 'BDAT commands make the server use freed memory and run code',
  }),
  exim('CVE-2017-16944', 'NLNN/U/NNH', ['= 4.88', '= 4.89'], {
    title: 'BDAT commands send the server into an endless loop',
  }),
  exim('CVE-2010-4344', 'NLNN/U/HHH', ['< 4.70'], {
    title: 'Long headers of a refused mail overflow the heap and run code',
  }),
  exim('CVE-2010-4345', 'LLLN/U/HHH', ['<= 4.72'], {
    title: 'The mail user gains root by a configuration file of its own',
  }),
  exim('CVE-2020-28017', 'NLNN/U/HHH', ['< 4.94.2'], {
    title: 'A mail to very many recipients overflows an integer and runs code (21Nails)',
  }),
  exim('CVE-2020-28018', 'NLNN/U/HHH', ['>= 4.90, < 4.94.2'], {
    title: 'Pipelined commands over TLS make the server use freed memory and run code (21Nails)',
  }),
  exim('CVE-2020-28020', 'NLNN/U/HHH', ['< 4.92'], {
    title: 'Long header lines overflow an integer and run code (21Nails)',
  }),
  exim('CVE-2020-28021', 'NLLN/U/HHH', ['< 4.94.2'], {
    title: 'Line ends in an AUTH parameter forge spool files and gain root (21Nails)',
  }),
  exim('CVE-2022-37452', 'NLNN/U/HHH', ['< 4.95'], {
    title: 'The alias list of a host name overflows the heap',
  }),
  exim('CVE-2023-42115', 'NLNN/U/HHH', ['< 4.96.1'], {
    title: 'EXTERNAL authentication writes outside its buffer and runs code',
    remedy: 'Only servers that offer EXTERNAL authentication are reachable by it.',
  }),
  exim('CVE-2023-51766', 'NLNN/U/NLN', ['< 4.97.1'], {
    title: 'Line ends that are no line ends smuggle a second mail past sender checks',
  }),
  cvesOf('a:postfix:postfix')(
    'CVE-2023-51764',
    'NLNN/U/NLN',
    ['< 3.5.23', '>= 3.6.0, < 3.6.13', '>= 3.7.0, < 3.7.9', '>= 3.8.0, < 3.8.4'],
    {
      title: 'Line ends that are no line ends smuggle a second mail past sender checks',
      remedy: 'Set smtpd_forbid_bare_newline = yes.',
    },
  ),
  cvesOf('a:sendmail:sendmail')('CVE-2023-51765', 'NLNN/U/NLN', ['<= 8.17.2'], {
    title: 'Line ends that are no line ends smuggle a second mail past sender checks',
  }),
  dovecot('CVE-2019-11500', 'NLNN/U/HHH', ['< 2.2.36.4', '>= 2.3.0, < 2.3.7.2'], {
    title: 'A null byte in a quoted string writes outside the heap before any login',
  }),
  dovecot('CVE-2020-12100', 'NLNN/U/NNH', ['< 2.3.11.3'], {
    title: 'A mail with deeply nested parts exhausts the server',
  }),
  dovecot('CVE-2020-12674', 'NLNN/U/NNH', ['< 2.3.11.3'], {
    title: 'An empty RPA message crashes the authentication',
  }),
  dovecot('CVE-2022-30550', 'NLLN/U/HHH', ['>= 2.2, < 2.3.20'], {
    title:
      'Two password databases with equal driver and arguments mix their settings and give users too much',
  }),
  opensmtpd('CVE-2020-7247', 'NLNN/U/HHH', ['= 6.6'], { title: 'A sender address runs commands as root' }),
  opensmtpd('CVE-2020-8794', 'NLNN/U/HHH', ['< 6.6.4'], {
    title: 'A multi-line reply of another server is read out of bounds and runs commands',
  }),
  roundcube('CVE-2020-12641', 'NLNN/U/HHH', ['< 1.2.10', '>= 1.3.0, < 1.3.11', '>= 1.4.0, < 1.4.4'], {
    title: 'Paths of image programs in the settings run commands',
  }),
  roundcube('CVE-2021-44026', 'NLNN/U/HHH', ['< 1.3.17', '>= 1.4.0, < 1.4.12'], {
    title: 'Search parameters of a session inject SQL',
  }),
  roundcube('CVE-2023-43770', 'NLNR/C/LLN', ['< 1.4.14', '>= 1.5.0, < 1.5.4', '>= 1.6.0, < 1.6.3'], {
    title: "A link in a plain text mail runs script in the reader's browser",
  }),
  roundcube('CVE-2024-37383', 'NLNR/C/LLN', ['< 1.5.7', '>= 1.6.0, < 1.6.7'], {
    title: "SVG animation in a mail runs script in the reader's browser",
  }),
  roundcube('CVE-2024-42009', 'NLNR/C/HHN', ['< 1.5.8', '>= 1.6.0, < 1.6.8'], {
    title: "A mail runs script in the reader's browser and can read and send his mails",
  }),
  roundcube('CVE-2020-13965', 'NLNR/C/LLN', ['< 1.3.12', '>= 1.4.0, < 1.4.5'], {
    title: "An XML attachment runs script in the reader's browser",
  }),
  roundcube('CVE-2020-35730', 'NLNR/C/LLN', ['< 1.2.13', '>= 1.3.0, < 1.3.16', '>= 1.4.0, < 1.4.10'], {
    title: "A link reference in a plain text mail runs script in the reader's browser",
  }),
  roundcube('CVE-2025-49113', 'NLLN/C/HHH', ['< 1.5.10', '>= 1.6.0, < 1.6.11'], {
    title: 'A parameter of the settings upload is deserialised and runs code of any user',
  }),
  exchange('CVE-2021-26855', 'NLNN/U/HHN', proxyLogonBuilds, {
    title: 'Requests make the server ask itself with its own rights (ProxyLogon)',
    remedy: 'Look for web shells: the flaw was used widely before the update.',
  }),
  exchange('CVE-2021-27065', 'LLNR/U/HHH', proxyLogonBuilds, {
    title: 'Administrators write files anywhere, after CVE-2021-26855 anybody (ProxyLogon)',
    remedy: 'Look for web shells: the flaw was used widely before the update.',
  }),
  exchange('CVE-2021-34523', 'LLNN/C/HHN', proxyShellBuilds, {
    title: 'The backend takes a mailbox from the request for the one that is logged in (ProxyShell)',
  }),
  exchange(
    'CVE-2021-31207',
    'NHHN/U/HHH',
    [
      '>= 15.0.1497.0, < 15.0.1497.18',
      '>= 15.1.2176.0, < 15.1.2176.14',
      '>= 15.1.2242.0, < 15.1.2242.10',
      '>= 15.2.792.0, < 15.2.792.15',
      '>= 15.2.858.0, < 15.2.858.12',
    ],
    { title: 'Exports of mailboxes write files anywhere (ProxyShell)' },
  ),
  exchange('CVE-2022-41082', 'NLLN/U/HHH', proxyNotShellBuilds, {
    title: 'Authenticated users run code by remote PowerShell (ProxyNotShell)',
  }),
  exchange('CVE-2021-34473', 'NLNN/U/HHN', proxyShellBuilds, {
    title: 'Requests reach the backend without a login (ProxyShell)',
  }),
  exchange('CVE-2022-41040', 'NLLN/U/HHH', proxyNotShellBuilds, {
    title: 'Authenticated users reach the backend with its rights (ProxyNotShell)',
  }),
  exchange(
    'CVE-2020-0688',
    'NLLN/U/HHH',
    [
      '>= 15.0.1497.0, < 15.0.1497.6',
      '>= 15.1.1847.0, < 15.1.1847.7',
      '>= 15.1.1913.0, < 15.1.1913.7',
      '>= 15.2.464.0, < 15.2.464.11',
      '>= 15.2.529.0, < 15.2.529.8',
    ],
    { title: 'All installations share one key, so that any user can run code as the system' },
  ),
  cvesOf('a:synacor:zimbra_collaboration_suite', 'a:zimbra:collaboration')(
    'CVE-2024-45519',
    'NLNN/U/HHH',
    ['< 8.8.15', '>= 10.0.0, < 10.0.9', '= 10.1.0'],
    { title: 'A recipient address runs commands where the journal service is on' },
  ),
];
