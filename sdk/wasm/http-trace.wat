;; Finds web servers that respond to the method TRACE with the request itself (RFC 9110, section 9.3.8).
;; wat2wasm --enable-annotations http-trace.wat
(module
  (@custom "service.metadata"
    "{\"name\":\"http_trace\",\"type\":\"evaluation\",\"version\":\"1.0.0\","
    "\"description\":\"Reports web servers with the method TRACE enabled.\","
    "\"requires\":[\"open_ports\"],\"provides\":[\"vulnerabilities\"]}")

  (import "service" "get" (func $get (param i32 i32 i32 i32) (result i32)))
  (import "service" "append" (func $append (param i32 i32 i32 i32) (result i32)))
  (import "service" "connect" (func $connect (param i32 i32 i32) (result i32)))
  (import "service" "write" (func $write (param i32 i32 i32) (result i32)))
  (import "service" "read" (func $read (param i32 i32 i32) (result i32)))
  (import "service" "close" (func $close (param i32) (result i32)))

  ;; 0: texts. 4096: the open port. 8192: the finding. 12288: the response.
  (memory (export "memory") 1)
  (data (i32.const 0) "open_ports")
  (data (i32.const 16) "vulnerabilities")
  (data (i32.const 32) "\"protocol\":\"tcp\"")
  (data (i32.const 64) "\"state\":\"open\"")
  (data (i32.const 80) "\"host\":\"")
  (data (i32.const 96) "\"port\":")
  (data (i32.const 112) "TRACE / HTTP/1.0\0d\0aPortolan-Check: 5ca1ab1e\0d\0a\0d\0a")
  (data (i32.const 176) "HTTP/1.")
  (data (i32.const 192) " 200 ")
  (data (i32.const 208) "message/http")
  (data (i32.const 224) "Portolan-Check: 5ca1ab1e")
  (data (i32.const 256) "{\"host\":\"")
  (data (i32.const 272) "\",\"protocol\":\"tcp\",\"port\":")
  (data (i32.const 304)
    ",\"id\":\"http-trace\",\"title\":\"HTTP method TRACE is enabled\",\"severity\":\"low\",\"class\":\"certain\","
    "\"confidence\":1,\"evidence\":\"TRACE / returned the request with its headers.\","
    "\"remediation\":\"Disable the method TRACE.\",\"plugin\":\"http_trace\","
    "\"references\":[\"https://www.rfc-editor.org/rfc/rfc9110#section-9.3.8\"]}")

  (global $finding (mut i32) (i32.const 8192))

  (func (export "execute") (param $context i32) (result i32)
    (local $length i32) (local $host i32) (local $hostLength i32) (local $digits i32) (local $port i32)
    (local $connection i32) (local $count i32) (local $received i32)

    ;; With the permission "network" each call has one item.
    (local.set $length (call $get (i32.const 0) (i32.const 10) (i32.const 4096) (i32.const 4096)))
    (if (i32.gt_u (local.get $length) (i32.const 4096)) (then (return (i32.const 0))))
    (if (i32.eqz (call $find (i32.const 32) (i32.const 16) (i32.const 4096) (local.get $length)))
      (then (return (i32.const 0))))
    (if (i32.eqz (call $find (i32.const 64) (i32.const 14) (i32.const 4096) (local.get $length)))
      (then (return (i32.const 0))))

    ;; The address ends at its quote.
    (local.set $host (call $find (i32.const 80) (i32.const 8) (i32.const 4096) (local.get $length)))
    (loop $more
      (if (i32.ne (i32.load8_u (i32.add (local.get $host) (local.get $hostLength))) (i32.const 34))
        (then
          (local.set $hostLength (i32.add (local.get $hostLength) (i32.const 1)))
          (br $more))))

    ;; The port is a number.
    (local.set $digits (call $find (i32.const 96) (i32.const 7) (i32.const 4096) (local.get $length)))
    (loop $more
      (local.set $count (i32.sub (i32.load8_u (local.get $digits)) (i32.const 48)))
      (if (i32.lt_u (local.get $count) (i32.const 10))
        (then
          (local.set $port (i32.add (i32.mul (local.get $port) (i32.const 10)) (local.get $count)))
          (local.set $digits (i32.add (local.get $digits) (i32.const 1)))
          (br $more))))

    (local.set $connection (call $connect (local.get $host) (local.get $hostLength) (local.get $port)))
    (if (i32.lt_s (local.get $connection) (i32.const 0)) (then (return (i32.const 0))))
    (drop (call $write (local.get $connection) (i32.const 112) (i32.const 46)))
    (loop $more
      (local.set $count
        (call $read (local.get $connection) (i32.add (i32.const 12288) (local.get $received))
          (i32.sub (i32.const 8192) (local.get $received))))
      (if (i32.gt_s (local.get $count) (i32.const 0))
        (then
          (local.set $received (i32.add (local.get $received) (local.get $count)))
          (br $more))))
    (drop (call $close (local.get $connection)))

    ;; HTTP/1.x 200, the type of a TRACE response, and what was sent.
    (if (i32.ne (call $find (i32.const 176) (i32.const 7) (i32.const 12288) (i32.const 7)) (i32.const 12295))
      (then (return (i32.const 0))))
    (if (i32.eqz (call $find (i32.const 192) (i32.const 5) (i32.const 12296) (i32.const 5)))
      (then (return (i32.const 0))))
    (if (i32.eqz (call $find (i32.const 208) (i32.const 12) (i32.const 12288) (local.get $received)))
      (then (return (i32.const 0))))
    (if (i32.eqz (call $find (i32.const 224) (i32.const 24) (i32.const 12288) (local.get $received)))
      (then (return (i32.const 0))))

    (call $say (i32.const 256) (i32.const 9))
    (call $say (local.get $host) (local.get $hostLength))
    (call $say (i32.const 272) (i32.const 26))
    (call $sayNumber (local.get $port))
    (call $say (i32.const 304) (i32.const 302))
    (drop (call $append (i32.const 16) (i32.const 15) (i32.const 8192)
      (i32.sub (global.get $finding) (i32.const 8192))))
    (i32.const 0))

  ;; Where a text ends in another one, or 0.
  (func $find (param $text i32) (param $length i32) (param $in i32) (param $inLength i32) (result i32)
    (local $at i32) (local $last i32)
    (if (i32.gt_u (local.get $length) (local.get $inLength)) (then (return (i32.const 0))))
    (local.set $last (i32.sub (i32.add (local.get $in) (local.get $inLength)) (local.get $length)))
    (loop $next
      (local.set $at (i32.const 0))
      (loop $same
        (if (i32.eq (local.get $at) (local.get $length))
          (then (return (i32.add (local.get $in) (local.get $length)))))
        (if (i32.eq (i32.load8_u (i32.add (local.get $text) (local.get $at)))
              (i32.load8_u (i32.add (local.get $in) (local.get $at))))
          (then
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $same))))
      (local.set $in (i32.add (local.get $in) (i32.const 1)))
      (br_if $next (i32.le_u (local.get $in) (local.get $last))))
    (i32.const 0))

  ;; Adds a text to the finding.
  (func $say (param $text i32) (param $length i32)
    (memory.copy (global.get $finding) (local.get $text) (local.get $length))
    (global.set $finding (i32.add (global.get $finding) (local.get $length))))

  (func $sayNumber (param $number i32)
    (if (i32.ge_u (local.get $number) (i32.const 10))
      (then (call $sayNumber (i32.div_u (local.get $number) (i32.const 10)))))
    (i32.store8 (global.get $finding) (i32.add (i32.const 48) (i32.rem_u (local.get $number) (i32.const 10))))
    (global.set $finding (i32.add (global.get $finding) (i32.const 1)))))
