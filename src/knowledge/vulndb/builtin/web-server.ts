import { cve, cvesOf } from './entry.ts';

const apache = cvesOf('a:apache:http_server');
const nginx = cvesOf('a:f5:nginx');
const lighttpd = cvesOf('a:lighttpd:lighttpd');
const haproxy = cvesOf('a:haproxy:haproxy');
const squid = cvesOf('a:squid-cache:squid');
const php = cvesOf('a:php:php');
const httpFileServer = cvesOf('a:rejetto:http_file_server');
const windows = 'o:microsoft:windows';

/** Web servers, proxies and the languages that they reveal. */
export const webServerCves = [
  apache('CVE-2021-41773', 'NLNN/U/HNN', ['= 2.4.49'], {
    title: 'Encoded dots in a path reach files outside the document root, and run commands where CGI is on',
  }),
  apache('CVE-2021-42013', 'NLNN/U/HHH', ['= 2.4.49', '= 2.4.50'], {
    title:
      'Doubly encoded dots in a path reach files outside the document root and run commands where CGI is on',
  }),
  apache('CVE-2021-40438', 'NHNN/C/HHH', ['<= 2.4.48'], {
    title: "A crafted path makes mod_proxy send requests to a server of the attacker's choice",
  }),
  apache('CVE-2021-44790', 'NLNN/U/HHH', ['<= 2.4.51'], {
    title: 'A multipart body overflows a buffer in mod_lua',
  }),
  apache('CVE-2021-44224', 'NLNN/U/NLH', ['>= 2.4.7, <= 2.4.51'], {
    title: 'A forward proxy can be crashed or made to reach a local socket',
  }),
  apache('CVE-2021-39275', 'NLNN/U/HHH', ['<= 2.4.48'], {
    title: 'ap_escape_quotes writes past its buffer when third-party modules pass hostile data',
  }),
  apache('CVE-2021-34798', 'NLNN/U/NNH', ['<= 2.4.48'], {
    title: 'A malformed request crashes the server by a null pointer',
  }),
  apache('CVE-2021-26691', 'NLNN/U/HHH', ['>= 2.4.0, <= 2.4.46'], {
    title: 'A crafted session header from an origin server overflows the heap in mod_session',
  }),
  apache('CVE-2021-26690', 'NLNN/U/NNH', ['>= 2.4.0, <= 2.4.46'], {
    title: 'A crafted cookie crashes a server with mod_session',
  }),
  apache('CVE-2021-33193', 'NLNN/U/NHN', ['>= 2.4.17, <= 2.4.48'], {
    title: 'A crafted method over HTTP/2 splits requests behind mod_proxy',
  }),
  apache('CVE-2020-11984', 'NLNN/U/HHH', ['>= 2.4.32, < 2.4.44'], {
    title: 'mod_proxy_uwsgi overflows a buffer and may leak data or run code',
  }),
  apache('CVE-2020-9490', 'NLNN/U/NNH', ['>= 2.4.20, < 2.4.44'], {
    title: 'A crafted Cache-Digest header crashes a server with HTTP/2',
  }),
  apache('CVE-2020-11993', 'NLNN/U/NNH', ['>= 2.4.20, < 2.4.44'], {
    title: 'HTTP/2 traces with certain log levels corrupt memory pools',
  }),
  apache('CVE-2020-1927', 'NLNR/C/LLN', ['>= 2.4.0, <= 2.4.41'], {
    title: 'Redirects of mod_rewrite can be led to other sites by encoded line ends',
  }),
  apache('CVE-2019-0211', 'LLLN/U/HHH', ['>= 2.4.17, <= 2.4.38'], {
    title: 'Code in a worker process gains root by the scoreboard (CARPE DIEM)',
  }),
  apache('CVE-2019-10082', 'NLNN/U/HNH', ['>= 2.4.18, <= 2.4.39'], {
    title: 'HTTP/2 sessions read freed memory while they shut down',
  }),
  apache('CVE-2019-10092', 'NLNR/C/LLN', ['>= 2.4.0, <= 2.4.39'], {
    title: "The error page of mod_proxy can be made to show a link of the attacker's choice",
  }),
  apache('CVE-2017-15715', 'NHNN/U/HHH', ['>= 2.4.0, <= 2.4.29'], {
    title: 'A file name that ends with a line end passes filters on file names',
  }),
  apache('CVE-2018-1312', 'NLNN/U/HHH', ['>= 2.2.0, <= 2.4.29'], {
    title:
      'Nonces of digest authentication are predictable, so that requests can be replayed across a cluster',
  }),
  apache('CVE-2017-9798', 'NLNN/U/HNN', ['<= 2.2.34', '>= 2.4.0, <= 2.4.27'], {
    title: "OPTIONS requests read pieces of the server's memory (Optionsbleed)",
  }),
  apache('CVE-2017-7679', 'NLNN/U/HHH', ['>= 2.2.0, < 2.2.33', '>= 2.4.0, < 2.4.26'], {
    title: 'mod_mime reads one byte past a buffer for a crafted Content-Type',
  }),
  apache('CVE-2017-3167', 'NLNN/U/HHH', ['>= 2.2.0, < 2.2.33', '>= 2.4.0, < 2.4.26'], {
    title: 'Third-party modules that read passwords too late let strangers pass the authentication',
  }),
  apache('CVE-2017-3169', 'NLNN/U/HHH', ['>= 2.2.0, < 2.2.33', '>= 2.4.0, < 2.4.26'], {
    title: 'Plain HTTP on a TLS port may crash mod_ssl by a null pointer',
  }),
  apache('CVE-2017-9788', 'NLNN/U/HNH', ['< 2.2.34', '>= 2.4.0, < 2.4.27'], {
    title: 'Digest authentication leaks stale memory or crashes',
  }),
  apache('CVE-2016-5387', 'NHNN/U/HHH', ['<= 2.4.23'], {
    title: 'A Proxy header becomes HTTP_PROXY in CGI programs (httpoxy)',
  }),
  apache('CVE-2022-22720', 'NLNN/U/HHH', ['<= 2.4.52'], {
    title: 'Connections that stay open after errors allow request smuggling',
  }),
  apache('CVE-2022-22721', 'NLNN/U/NHH', ['<= 2.4.52'], {
    title: 'A LimitXMLRequestBody beyond 350 MB overflows an integer on 32-bit systems',
  }),
  apache('CVE-2022-23943', 'NLNN/U/HHH', ['>= 2.4.0, <= 2.4.52'], {
    title: 'mod_sed writes past the heap with data of the attacker',
  }),
  apache('CVE-2022-31813', 'NLNN/U/HHH', ['<= 2.4.53'], {
    title: 'A client can have X-Forwarded headers dropped and so pass address checks of the origin server',
  }),
  apache('CVE-2022-28615', 'NLNN/U/HNH', ['<= 2.4.53'], {
    title: 'ap_strcmp_match reads beyond a very large buffer',
  }),
  apache('CVE-2022-26377', 'NLNN/U/NHN', ['>= 2.4.0, <= 2.4.53'], {
    title: 'mod_proxy_ajp lets requests be smuggled to the AJP server behind it',
  }),
  apache('CVE-2022-36760', 'NHNN/C/HHH', ['>= 2.4.0, <= 2.4.54'], {
    title: 'mod_proxy_ajp lets requests be smuggled to the AJP server behind it',
  }),
  apache('CVE-2006-20001', 'NLNN/U/NNH', ['>= 2.4.0, <= 2.4.54'], {
    title: 'A crafted If header of WebDAV crashes the process',
  }),
  apache('CVE-2023-25690', 'NLNN/U/HHH', ['>= 2.4.0, <= 2.4.55'], {
    title: 'Rewrite rules that copy user data into a proxied address allow request smuggling',
  }),
  apache('CVE-2023-27522', 'NLNN/U/NHN', ['>= 2.4.30, <= 2.4.55'], {
    title: 'mod_proxy_uwsgi lets the origin split or cut answers to a client',
  }),
  apache('CVE-2023-31122', 'NLNN/U/NNH', ['<= 2.4.57'], { title: 'mod_macro reads outside its buffer' }),
  apache('CVE-2024-27316', 'NLNN/U/NNH', ['>= 2.4.17, <= 2.4.58'], {
    title: 'Endless HTTP/2 continuation frames exhaust memory',
  }),
  apache('CVE-2024-38475', 'NLNN/U/HHN', ['>= 2.4.0, <= 2.4.59'], {
    title: 'Substitutions of mod_rewrite map requests to files that no address should reach',
  }),
  apache('CVE-2024-38474', 'NLNN/U/HHH', ['>= 2.4.0, <= 2.4.59'], {
    title: 'Encoded question marks let mod_rewrite run scripts that no address should reach',
  }),
  apache('CVE-2024-38476', 'NLNN/U/HHH', ['>= 2.4.0, <= 2.4.59'], {
    title: 'Headers of a backend application can run local handlers or leak data',
  }),
  apache('CVE-2024-38477', 'NLNN/U/NNH', ['>= 2.4.0, <= 2.4.59'], {
    title: 'A malicious request crashes mod_proxy by a null pointer',
  }),
  apache('CVE-2025-23048', 'NLNN/U/HHN', ['>= 2.4.35, <= 2.4.63'], {
    title: 'Resumed TLS 1.3 sessions pass client certificate checks of another virtual host',
  }),
  nginx('CVE-2021-23017', 'NHNN/U/HHL', ['>= 0.6.18, < 1.20.1'], {
    title: 'A forged DNS answer overwrites one byte in the resolver of nginx',
    remedy: 'Only servers with a resolver directive are reachable by it.',
  }),
  nginx('CVE-2017-7529', 'NLNN/U/HNN', ['>= 0.5.6, < 1.12.1', '>= 1.13.0, < 1.13.3'], {
    title: 'A crafted Range header reads cached data and memory of nginx',
  }),
  nginx('CVE-2018-16843', 'NLNN/U/NNH', ['>= 1.9.5, < 1.14.1', '>= 1.15.0, < 1.15.6'], {
    title: 'HTTP/2 requests use up the memory of nginx',
  }),
  nginx('CVE-2018-16844', 'NLNN/U/NNH', ['>= 1.9.5, < 1.14.1', '>= 1.15.0, < 1.15.6'], {
    title: 'HTTP/2 requests use up the processor of nginx',
  }),
  nginx('CVE-2019-9511', 'NLNN/U/NNH', ['>= 1.9.5, < 1.16.1', '>= 1.17.0, <= 1.17.2'], {
    title: 'Small HTTP/2 windows make the server queue data and burn its processor (data dribble)',
  }),
  nginx('CVE-2019-9513', 'NLNN/U/NNH', ['>= 1.9.5, < 1.16.1', '>= 1.17.0, <= 1.17.2'], {
    title: 'Constant HTTP/2 priority changes burn the processor (resource loop)',
  }),
  nginx('CVE-2019-20372', 'NLNN/U/NLN', ['< 1.17.7'], {
    title: 'Certain error_page settings allow request smuggling',
  }),
  nginx('CVE-2024-24990', 'NLNN/U/NNH', ['>= 1.25.0, <= 1.25.3'], {
    title: 'HTTP/3 requests crash a worker of nginx',
    remedy: 'Only builds with the HTTP/3 module switched on are affected.',
  }),
  nginx('CVE-2025-23419', 'NLLN/U/LNN', ['>= 1.11.4, < 1.26.3', '>= 1.27.0, < 1.27.4'], {
    title: 'Session resumption passes client certificate checks of another virtual host',
  }),
  cvesOf('a:kubernetes:ingress-nginx')('CVE-2025-1974', 'NLNN/U/HHH', ['< 1.11.5', '= 1.12.0'], {
    title: 'Anybody on the pod network can run code in the ingress controller (IngressNightmare)',
  }),
  cve(
    'CVE-2023-44487',
    'NLNN/U/NNH',
    {
      'a:f5:nginx': ['>= 1.9.5, <= 1.25.2'],
      'a:apache:tomcat': ['>= 8.5.0, <= 8.5.93', '>= 9.0.0, <= 9.0.80', '>= 10.1.0, <= 10.1.13'],
      'a:eclipse:jetty': ['< 9.4.53', '>= 10.0.0, < 10.0.17', '>= 11.0.0, < 11.0.17', '>= 12.0.0, < 12.0.2'],
      'a:traefik:traefik': ['< 2.10.5'],
      'a:caddyserver:caddy': ['< 2.7.5'],
    },
    {
      title: 'Streams that are opened and reset at once exhaust an HTTP/2 server (rapid reset)',
      remedy:
        'Where no update is at hand, lower the number of streams and requests per connection, or switch HTTP/2 off.',
    },
  ),
  lighttpd('CVE-2018-19052', 'NLNN/U/HNN', ['< 1.4.50'], {
    title: 'A path without a slash at its end climbs one folder above an alias',
  }),
  lighttpd('CVE-2019-11072', 'NLNN/U/HHH', ['< 1.4.54'], {
    title: 'Path normalisation overflows a signed integer',
  }),
  lighttpd('CVE-2022-22707', 'NHNN/U/NNH', ['>= 1.4.46, <= 1.4.63'], {
    title: 'mod_extforward overflows its stack on 32-bit systems',
  }),
  lighttpd('CVE-2022-41556', 'NLNN/U/NNH', ['>= 1.4.56, < 1.4.67'], {
    title: 'Half-closed connections are never given back and exhaust the server',
  }),
  haproxy(
    'CVE-2021-40346',
    'NLNN/U/NHN',
    ['>= 2.0.0, < 2.0.25', '>= 2.1.0, < 2.2.17', '>= 2.3.0, < 2.3.14', '>= 2.4.0, < 2.4.4'],
    { title: 'A header name of overlong length allows request smuggling past access rules' },
  ),
  haproxy(
    'CVE-2023-25725',
    'NLNN/U/NHH',
    [
      '< 2.0.31',
      '>= 2.1.0, < 2.2.29',
      '>= 2.3.0, < 2.4.22',
      '>= 2.5.0, < 2.5.12',
      '>= 2.6.0, < 2.6.9',
      '>= 2.7.0, < 2.7.3',
    ],
    { title: 'An empty header name drops other headers and allows request smuggling' },
  ),
  haproxy(
    'CVE-2020-11100',
    'NLLN/U/HHH',
    ['>= 1.8.0, < 1.8.25', '>= 1.9.0, < 1.9.15', '>= 2.0.0, < 2.0.14', '>= 2.1.0, < 2.1.4'],
    { title: 'Crafted HTTP/2 headers write to arbitrary memory' },
  ),
  squid('CVE-2020-11945', 'NLNN/U/HHH', ['< 4.11', '>= 5.0, < 5.0.2'], {
    title: 'A digest authentication nonce can be counted over, which allows replay and perhaps code',
  }),
  cvesOf('a:tinyproxy_project:tinyproxy')('CVE-2023-49606', 'NLNN/U/HHH', ['= 1.10.0', '= 1.11.1'], {
    title: 'A crafted Connection header makes Tinyproxy use freed memory',
  }),
  php('CVE-2024-4577', 'NLNN/U/HHH', ['< 8.1.29', '>= 8.2.0, < 8.2.20', '>= 8.3.0, < 8.3.8'], {
    title: 'PHP in CGI mode on Windows takes arguments from the query and runs code',
    on: windows,
  }),
  php('CVE-2019-11043', 'NLNN/U/HHH', ['>= 7.1.0, < 7.1.33', '>= 7.2.0, < 7.2.24', '>= 7.3.0, < 7.3.11'], {
    title: 'PHP-FPM behind certain nginx settings runs code of strangers',
    remedy:
      'Only nginx configurations with fastcgi_split_path_info and without a check that the file exists are reachable.',
  }),
  php('CVE-2012-1823', 'NLNN/U/HHH', ['< 5.3.12', '>= 5.4.0, < 5.4.2'], {
    title: 'PHP in CGI mode takes its arguments from the query and runs code',
  }),
  php('CVE-2022-31626', 'NLLN/U/HHH', ['>= 7.4.0, < 7.4.30', '>= 8.0.0, < 8.0.20', '>= 8.1.0, < 8.1.7'], {
    title: 'A long password to a hostile MySQL server overflows a buffer',
  }),
  php('CVE-2022-31625', 'NHNN/U/HHH', ['>= 7.4.0, < 7.4.30', '>= 8.0.0, < 8.0.20', '>= 8.1.0, < 8.1.7'], {
    title: 'Wrong parameters to the PostgreSQL extension free memory that was never set',
  }),
  php('CVE-2023-3824', 'NLNN/U/HHH', ['>= 8.0.0, < 8.0.30', '>= 8.1.0, < 8.1.22', '>= 8.2.0, < 8.2.9'], {
    title: 'A crafted PHAR archive overflows the stack',
  }),
  php('CVE-2019-9641', 'NLNN/U/HHH', ['< 7.1.27', '>= 7.2.0, < 7.2.16', '>= 7.3.0, < 7.3.3'], {
    title: 'Image metadata of a TIFF file is read from memory that was never set',
  }),
  cvesOf('a:microsoft:internet_information_services', 'a:microsoft:internet_information_server')(
    'CVE-2017-7269',
    'NLNN/U/HHH',
    ['= 6.0'],
    {
      title: 'A long If header of WebDAV runs code in IIS 6.0',
      remedy: 'IIS 6.0 is out of support: retire the system, or at least switch WebDAV off.',
    },
  ),
  cvesOf('a:embedthis:goahead')('CVE-2017-17562', 'NHNN/U/HHH', ['< 3.6.5'], {
    title: 'CGI parameters set the environment of the dynamic linker and run code',
  }),
  cvesOf('a:acme:mini_httpd')('CVE-2018-18778', 'NLLN/U/HNN', ['< 1.30'], {
    title: 'An empty Host header reads any file',
  }),
  cvesOf('a:gunicorn:gunicorn')('CVE-2024-1135', 'NLNN/U/NHN', ['< 22.0.0'], {
    title: 'Transfer-Encoding is not checked, which allows request smuggling',
  }),
  cvesOf('a:vercel:next.js')(
    'CVE-2025-29927',
    'NLNN/U/HHN',
    ['>= 11.1.4, < 12.3.5', '>= 13.0.0, < 13.5.9', '>= 14.0.0, < 14.2.25', '>= 15.0.0, < 15.2.3'],
    {
      title: 'A request header makes Next.js skip its middleware, and with it authorisation',
      remedy: 'Have the proxy in front drop the header x-middleware-subrequest.',
    },
  ),
  httpFileServer('CVE-2014-6287', 'NLNN/U/HHH', ['< 2.3c'], {
    title: 'A null byte in a search runs commands of HTTP File Server',
  }),
  httpFileServer('CVE-2024-23692', 'NLNN/U/HHH', ['<= 2.3m'], {
    title: 'A template in a request runs commands of HTTP File Server 2',
    remedy: 'Version 2 is out of support: move to HTTP File Server 3 or remove it.',
  }),
];
