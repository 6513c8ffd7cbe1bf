#!/usr/bin/env bash
# A fleet of real servers, each on a host of its own (a network namespace), and the truth about them.
#
#   fleet.sh up          start the fleet, wait until every port listens, print the path of the truth (JSON)
#   fleet.sh hold        the same, then keep it until standard input ends or a signal comes, then take it down
#   fleet.sh exec CMD... run CMD on the scanner's host, 10.79.0.1
#   fleet.sh down        end what `up` started and remove it
#
# Environment:
#   PORTOLAN_LAB_PREFIX  name of this fleet (default pltlab); fleets of different names do not meet
#   PORTOLAN_LAB_WAIT    seconds until every port must listen (default 60)
#   PORTOLAN_LAB_CACHE   folder of the unpacked packages, see ../setup.sh
#
# Needs root and the packages of packages.txt. No namespace has a default route, so nothing leaves this
# machine. Each server has PID, IPC, mount and host name spaces of its own, with private /run and /var/log;
# all its files are in one temporary folder.
set -euo pipefail
export PATH="$PATH:/usr/sbin:/sbin" LC_ALL=C

prefix=${PORTOLAN_LAB_PREFIX:-pltlab}
patience=${PORTOLAN_LAB_WAIT:-60}
cache=${PORTOLAN_LAB_CACHE:-/var/cache/portolan-lab}
net=10.79.0
folder=${TMPDIR:-/tmp}/$prefix
truth=$folder/truth.json
scanner=$prefix-scanner
keeper= # process that waits for the end of standard input while the fleet is held

fail() { echo "fleet: $*" >&2; exit 1; }

# ---- hosts ------------------------------------------------------------------------------------------

# make_scanner: the scanner's host, with the bridge that all the others hang on
make_scanner() {
  ip netns add "$scanner"
  ip -n "$scanner" -batch - <<BATCH
link set lo up
link add br0 type bridge
addr add $net.1/24 dev br0
link set br0 up
BATCH
}

# host NUMBER NAME: a new host $net.NUMBER; what follows (write, serve, listens) is about it
host() {
  name=$2 ip=$net.$1 dir=$folder/$2 ns=$prefix-$2
  mkdir "$dir"
  printf '%s\n' '127.0.0.1 localhost' "$ip $name.lab.test $name" "$net.1 scanner.lab.test scanner" >"$dir/hosts"
  ip netns add "$ns"
  ip link add "v$1" netns "$scanner" type veth peer name eth0 netns "$ns"
  ip -n "$scanner" link set "v$1" master br0 up
  ip -n "$ns" -batch - <<BATCH
link set lo up
addr add $ip/24 dev eth0
link set eth0 up
BATCH
}

# write FILE: standard input becomes a file in the host's folder; @DIR@, @IP@, @PKI@ are filled in
write() { sed -e "s#@DIR@#$dir#g; s#@IP@#$ip#g; s#@PKI@#$folder/pki#g" >"$dir/$1"; }

# serve: runs the script on standard input on the host, in the background. The shell that runs it is
# process 1 of a PID namespace: when it ends, the kernel ends every process the server has made.
serve() {
  { printf '%s\n' 'set -eu' 'mount -t tmpfs -o mode=755 tmpfs /run' 'mount -t tmpfs -o mode=755 tmpfs /var/log' \
    "mount --bind '$dir/hosts' /etc/hosts" "hostname '$name.lab.test'" "cd '$dir'" "DIR='$dir' PKI='$folder/pki' CACHE='$cache'"
    cat
  } >"$dir/start"
  setsid ip netns exec "$ns" unshare --mount --uts --ipc --pid --fork --kill-child --mount-proc \
    bash "$dir/start" >"$dir/log" 2>&1 </dev/null &
  echo "$! $(started_at "$!") $name" >>"$folder/pids"
  disown
}

# started_at PID: its start in clock ticks since boot; with the PID it names one process for good
started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

# ---- truth ------------------------------------------------------------------------------------------

# upstream PACKAGE: its version without epoch, Debian revision and repacking marks
upstream() {
  local version
  if [ -s "$cache/$1/.version" ]; then version=$(<"$cache/$1/.version"); else version=$(dpkg-query -W -f '${Version}' "$1"); fi
  sed -E 's/^[0-9]+://; s/-[^-]*$//; s/[+~.](dfsg|ds|repack|really).*$//' <<<"$version"
}

# listens PORT SERVICE PRODUCT PACKAGE exposed|hidden: what the host answers with there. "hidden": the
# server does not tell its version to a stranger.
listens() {
  local version exposed=false
  version=$(upstream "$4") && [ -n "$version" ] || fail "package $4 is not installed: npm run setup:test"
  [ "$5" = hidden ] || exposed=true
  echo "$ns $1 $name" >>"$folder/expected"
  printf '{"ip":"%s","port":%d,"protocol":"tcp","service":"%s","product":"%s","package":"%s","version":"%s","version_exposed":%s}\n' \
    "$ip" "$1" "$2" "$3" "$4" "$version" "$exposed" >>"$folder/services"
}

write_truth() {
  { printf '{"network":"%s.0/24","scanner":"%s.1","services":[\n' "$net" "$net"
    sed '$!s/$/,/' "$folder/services"
    echo ']}'
  } >"$truth"
}

# ---- servers ----------------------------------------------------------------------------------------

make_certificate() {
  mkdir "$folder/pki"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -sha256 -subj /CN=lab.test \
    -addext subjectAltName=DNS:lab.test -keyout "$folder/pki/key.pem" -out "$folder/pki/cert.pem" 2>"$folder/pki/log" ||
    fail "no certificate: $(tail -n 1 "$folder/pki/log")"
}

run_openssh() { # PORT
  serve <<SERVE
mkdir -m 755 /run/sshd
ssh-keygen -q -t ed25519 -N '' -f key
ssh-keygen -q -t ecdsa -N '' -f key2
/usr/sbin/sshd -D -e -f /dev/null -p $1 -h "\$DIR/key" -h "\$DIR/key2" -o PidFile=none
SERVE
  listens "$1" ssh OpenSSH openssh-server exposed
}

run_dropbear() {
  serve <<'SERVE'
dropbearkey -t ed25519 -f key
dropbear -F -E -r key -p 2022 -P pid
SERVE
  listens 2022 ssh Dropbear dropbear-bin exposed
}

run_nginx() { # PORT SERVICE LISTEN-OPTIONS exposed|hidden
  local tokens=on
  [ "$4" = exposed ] || tokens=off
  mkdir "$dir/www" && echo '<!doctype html><title>Welcome</title><p>lab' >"$dir/www/index.html"
  write nginx.conf <<CONF
user www-data;
worker_processes 1;
daemon off;
pid @DIR@/pid;
error_log stderr;
events { worker_connections 256; }
http {
  access_log off;
  server_tokens $tokens;
  client_body_temp_path @DIR@/body; proxy_temp_path @DIR@/proxy; fastcgi_temp_path @DIR@/fastcgi;
  uwsgi_temp_path @DIR@/uwsgi; scgi_temp_path @DIR@/scgi;
  ssl_certificate @PKI@/cert.pem;
  ssl_certificate_key @PKI@/key.pem;
  server { listen $1 $3; root @DIR@/www; }
}
CONF
  serve <<<'nginx -c "$DIR/nginx.conf" -e stderr'
  listens "$1" "$2" nginx nginx "$4"
}

run_apache() {
  mkdir "$dir/www" && echo '<!doctype html><title>It works</title>' >"$dir/www/index.html"
  write apache.conf <<'CONF'
ServerName web.lab.test
ServerTokens OS
DefaultRuntimeDir @DIR@
PidFile @DIR@/pid
ErrorLog @DIR@/error.log
User www-data
Group www-data
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
LoadModule ssl_module /usr/lib/apache2/modules/mod_ssl.so
DocumentRoot @DIR@/www
DirectoryIndex index.html
Listen 0.0.0.0:8081
Listen 0.0.0.0:443
<VirtualHost *:443>
  SSLEngine on
  SSLCertificateFile @PKI@/cert.pem
  SSLCertificateKeyFile @PKI@/key.pem
</VirtualHost>
CONF
  serve <<<'apache2 -f "$DIR/apache.conf" -DFOREGROUND'
  listens 8081 http 'Apache httpd' apache2 exposed
  listens 443 https 'Apache httpd' apache2 exposed
}

run_lighttpd() {
  mkdir "$dir/www" && echo '<!doctype html><title>light</title>' >"$dir/www/index.html"
  write lighttpd.conf <<'CONF'
server.document-root = "@DIR@/www"
server.port = 80
server.username = "www-data"
server.groupname = "www-data"
index-file.names = ("index.html")
mimetype.assign = (".html" => "text/html")
CONF
  serve <<<'lighttpd -D -f "$DIR/lighttpd.conf"'
  listens 80 http lighttpd lighttpd exposed
}

run_vsftpd() {
  mkdir "$dir/empty"
  write vsftpd.conf <<'CONF'
listen=YES
background=NO
anonymous_enable=NO
local_enable=YES
secure_chroot_dir=@DIR@/empty
CONF
  serve <<<'vsftpd "$DIR/vsftpd.conf"'
  listens 21 ftp vsftpd vsftpd exposed
}

run_proftpd() {
  write proftpd.conf <<CONF
ServerName "Debian"
ServerType standalone
DefaultServer on
UseIPv6 off
Port 2121
User nobody
Group nogroup
ModulePath $cache/proftpd-core/usr/lib/proftpd
AuthOrder mod_auth_unix.c
PidFile @DIR@/pid
ScoreboardFile @DIR@/scoreboard
DelayTable none
SystemLog @DIR@/system.log
WtmpLog off
CONF
  serve <<<'"$CACHE/proftpd-core/usr/sbin/proftpd" -n -c "$DIR/proftpd.conf"'
  listens 2121 ftp ProFTPD proftpd-core hidden
}

run_postfix() {
  mkdir "$dir/etc" "$dir/queue" "$dir/data"
  cp -r /etc/postfix/postfix-files* "$dir/etc"
  chown postfix: "$dir/data"
  # as shipped, but no service in a chroot: the queue folder here has no copies of /etc files
  sed -E 's/^([a-z]+ +(inet|unix) +[-yn]+ +[-yn]+ +)y/\1n/' /usr/share/postfix/master.cf.dist >"$dir/etc/master.cf"
  write etc/main.cf <<'CONF'
compatibility_level = 3.6
queue_directory = @DIR@/queue
data_directory = @DIR@/data
myhostname = mail.lab.test
mydestination = localhost
inet_protocols = ipv4
smtpd_banner = $myhostname ESMTP $mail_name (Debian/GNU)
maillog_file = /dev/stdout
alias_maps =
alias_database =
CONF
  serve <<'SERVE'
mount --bind etc /etc/postfix
postfix start-fg
SERVE
  listens 25 smtp Postfix postfix hidden
}

run_exim() {
  write exim.conf <<'CONF'
primary_hostname = mail.lab.test
daemon_smtp_ports = 2525
local_interfaces = 0.0.0.0
spool_directory = @DIR@/spool
log_file_path = @DIR@/spool/%slog
pid_file_path = @DIR@/pid
rfc1413_query_timeout = 0s
tls_advertise_hosts =
keep_environment =
CONF
  # Debian's Exim looks up its own user, which only an installed package would have made
  cp /etc/passwd /etc/group "$dir"
  echo 'Debian-exim:x:64990:64990::/nonexistent:/usr/sbin/nologin' >>"$dir/passwd"
  echo 'Debian-exim:x:64990:' >>"$dir/group"
  mkdir "$dir/spool" && chown 64990:64990 "$dir/spool"
  serve <<'SERVE'
mount --bind passwd /etc/passwd
mount --bind group /etc/group
"$CACHE/exim4-daemon-light/usr/sbin/exim4" -C "$DIR/exim.conf" -bdf
SERVE
  listens 2525 smtp Exim exim4-daemon-light exposed
}

run_dovecot() {
  write dovecot.conf <<'CONF'
protocols = imap pop3
base_dir = /run/dovecot
ssl = yes
ssl_cert = <@PKI@/cert.pem
ssl_key = <@PKI@/key.pem
log_path = /dev/stderr
mail_location = maildir:@DIR@/mail
passdb {
  driver = static
  args = nopassword=n password=lab
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=@DIR@
}
CONF
  serve <<<'dovecot -F -c "$DIR/dovecot.conf"'
  listens 143 imap Dovecot dovecot-imapd hidden
  listens 993 imaps Dovecot dovecot-imapd hidden
  listens 110 pop3 Dovecot dovecot-pop3d hidden
  listens 995 pop3s Dovecot dovecot-pop3d hidden
}

run_redis() {
  serve <<<'redis-server --port 6380 --bind 0.0.0.0 --protected-mode no --save "" --dir "$DIR"'
  listens 6380 redis Redis redis-server exposed
}

run_mariadb() {
  serve <<'SERVE'
mariadb-install-db --no-defaults --user=root --datadir="$DIR/data" --skip-test-db --auth-root-authentication-method=normal
mariadbd --no-defaults --user=root --datadir="$DIR/data" --tmpdir="$DIR" --socket="$DIR/socket" --pid-file="$DIR/pid" \
  --bind-address=0.0.0.0 --skip-grant-tables --skip-networking=0 --innodb-buffer-pool-size=16M
SERVE
  listens 3306 mysql MariaDB mariadb-server exposed
}

run_postgresql() {
  local bin major
  bin=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1)
  bin=${bin%/postgres} major=$(basename "${bin%/bin}")
  chown postgres: "$dir"
  serve <<SERVE
as_postgres() { setpriv --reuid=postgres --regid=postgres --clear-groups "\$@"; }
echo lab >password
as_postgres $bin/initdb -D data -A scram-sha-256 --pwfile=password --no-sync
echo 'host all all $net.0/24 scram-sha-256' >>data/pg_hba.conf
as_postgres $bin/postgres -D data -p 5433 -c listen_addresses='*' -c unix_socket_directories="\$DIR" -c shared_buffers=8MB
SERVE
  listens 5433 postgresql PostgreSQL "postgresql-$major" hidden
}

run_bind() {
  mkdir "$dir/state"
  write named.conf <<'CONF'
options {
  directory "@DIR@/state"; managed-keys-directory "@DIR@/state"; pid-file none; session-keyfile none;
  listen-on port 53 { any; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no;
};
controls { };
CONF
  serve <<<'named -g -n 1 -c "$DIR/named.conf"'
  listens 53 dns BIND bind9 exposed
}

run_unbound() {
  write unbound.conf <<CONF
server:
  interface: 0.0.0.0
  access-control: $net.0/24 allow
  directory: "@DIR@"
  chroot: ""
  username: ""
  pidfile: "@DIR@/pid"
  use-syslog: no
  module-config: "iterator"
remote-control:
  control-enable: no
CONF
  serve <<<'unbound -d -c "$DIR/unbound.conf"'
  listens 53 dns Unbound unbound exposed
}

run_memcached() {
  serve <<<'memcached -u nobody -l 0.0.0.0 -p 11211 -U 0 -m 8'
  listens 11211 memcached memcached memcached exposed
}

start_servers() {
  host 11 openssh; run_openssh 22
  host 12 openssh-odd; run_openssh 2222
  host 13 dropbear; run_dropbear
  host 14 nginx; run_nginx 80 http '' exposed
  host 15 nginx-tls; run_nginx 8443 https ssl exposed
  host 16 apache; run_apache
  host 17 lighttpd; run_lighttpd
  host 18 vsftpd; run_vsftpd
  host 19 proftpd; run_proftpd
  host 20 postfix; run_postfix
  host 21 exim; run_exim
  host 22 dovecot; run_dovecot
  host 23 redis; run_redis
  host 24 mariadb; run_mariadb
  host 25 postgresql; run_postgresql
  host 26 bind; run_bind
  host 27 unbound; run_unbound
  host 28 memcached; run_memcached
  # a service is known by its answer: this one sits where another is expected, and is silent about its version
  host 29 nginx-quiet; run_nginx 22 http '' hidden
}

# ---- life -------------------------------------------------------------------------------------------

# lost: the expected ports on which nothing listens yet, one "NAMESPACE PORT NAME" a line
lost() {
  local ns port name previous='' open=''
  while read -r ns port name; do
    [ "$ns" = "$previous" ] || { previous=$ns open=$(ip netns exec "$ns" ss -Hltn | awk '{ print $4 }'); }
    grep -qE "^(0\.0\.0\.0|\*|\[::\]|$net\.[0-9]+):$port\$" <<<"$open" || echo "$ns $port $name"
  done <"$folder/expected"
}

# dead: the names of servers whose process has ended
dead() {
  local pid start name
  while read -r pid start name; do [ "$(started_at "$pid")" = "$start" ] || echo "$name"; done <"$folder/pids"
}

await_servers() {
  local deadline=$((SECONDS + patience)) ended missing name
  while missing=$(lost) ended=$(dead) && [ -n "$missing" ] && [ -z "$ended" ] && [ "$SECONDS" -lt "$deadline" ]; do sleep 0.2; done
  [ -n "$missing$ended" ] || return 0
  for name in $(printf '%s\n' "$ended" "$(cut -d ' ' -f 3 <<<"$missing")" | sort -u); do
    echo "fleet: $name did not come up; the end of its log:" >&2
    tail -n 8 "$folder/$name/log" | sed 's/^/fleet:   /' >&2
  done
  fail "not listening: $(awk '{ printf "%s:%s ", $3, $2 }' <<<"$missing")"
}

up() {
  [ "$(id -u)" = 0 ] || fail "needs root"
  mkdir "$folder" 2>/dev/null || fail "$folder exists: another fleet of this name? (fleet.sh down)"
  chmod 755 "$folder"
  trap down EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  : >"$folder/pids"
  make_certificate
  make_scanner
  start_servers
  await_servers
  write_truth
  echo "$truth"
}

down() {
  trap - EXIT
  [ -z "$keeper" ] || kill "$keeper" 2>/dev/null || true
  [ -d "$folder" ] || return 0
  local pid start name ns
  exec 8<"$folder"
  flock 8 # `hold` that is ending and `down` may come together
  if [ -s "$folder/pids" ]; then
    while read -r pid start name; do
      if [ "$(started_at "$pid")" = "$start" ]; then kill -KILL "$pid" 2>/dev/null || true; fi
    done <"$folder/pids"
    await_end
  fi
  # a name ends where the prefix ends, so a fleet "a" does not remove the namespaces of a fleet "a-b"
  for ns in "$scanner" $(cut -d ' ' -f 3 "$folder/pids" 2>/dev/null | sed "s/^/$prefix-/"); do
    if [ -e "/run/netns/$ns" ]; then ip netns del "$ns"; fi
  done
  rm -rf "$folder"
}

# await_end: until the processes of all the servers are gone (the kernel ends them within moments)
await_end() {
  local tries=50 name
  for name in $(cut -d ' ' -f 3 "$folder/pids"); do
    while [ -n "$(ip netns pids "$prefix-$name" 2>/dev/null)" ] && [ "$tries" -gt 0 ]; do
      sleep 0.1
      tries=$((tries - 1))
    done
  done
}

# hold: `wait` is interrupted by a signal at once, a command in the foreground is not
hold() {
  up
  cat <&0 >/dev/null &
  keeper=$!
  wait "$keeper"
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
  up) up; trap - EXIT ;;
  hold) hold ;;
  # what is scanned must be found on the wire: the scanner is not told where the truth lies
  exec) exec env -u PORTOLAN_LAB_PREFIX ip netns exec "$scanner" "$@" ;;
  down) [ "$(id -u)" = 0 ] || fail "needs root"; down ;;
  *) fail "usage: fleet.sh up | hold | exec COMMAND... | down" ;;
esac
