"""One daemon of OpenStack Swift, or the rings of all, from a folder of its own: test/swift.ts starts it.

swift-daemon.py FOLDER rings PORT PORT PORT    makes the rings of account, container and object servers on these ports
swift-daemon.py FOLDER serve NAME              runs NAME.conf, e.g. proxy-server
"""

import os
import sys

from swift.common import utils

folder = sys.argv[1]
# Fixed to /etc otherwise; the storage policies are read from it at import.
utils.SWIFT_CONF_FILE = os.path.join(folder, "swift.conf")


def make_rings(ports):
    from swift.common.ring import RingBuilder

    for name, port in zip(("account", "container", "object"), ports):
        builder = RingBuilder(4, 1, 0)
        place = {"region": 1, "zone": 1, "ip": "127.0.0.1", "port": int(port)}
        builder.add_dev({**place, "device": "disk", "weight": 1, "meta": ""})
        builder.rebalance(seed=1)
        builder.get_ring().save(os.path.join(folder, name + ".ring.gz"))


def serve(name):
    from swift.common.wsgi import run_wsgi

    more = {}
    if name == "object-server":
        from swift.obj.server import global_conf_callback

        more = {"global_conf_callback": global_conf_callback}
    sys.exit(run_wsgi(os.path.join(folder, name + ".conf"), name, verbose=False, **more))


if sys.argv[2] == "rings":
    make_rings(sys.argv[3:])
else:
    serve(sys.argv[3])
