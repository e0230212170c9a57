"""OpenStack Swift, which speaks S3, in one process: its four servers would each take as long to start as this does.

It takes a folder, user, secret and region, listens on free ports of loopback, and prints the one for S3.
"""

import os
import sys

import eventlet
from eventlet import wsgi
from swift.common import utils
from swift.common.ring import RingBuilder
from swift.common.utils import NullLogger
from swift.common.wsgi import SwiftHttpProtocol, loadapp

# A busy machine is no reason to give up on a part, or to put an object into the lists only later.
COMMON = """[DEFAULT]
swift_dir = {folder}
devices = {folder}
mount_check = false
conn_timeout = 10
node_timeout = 60
container_update_timeout = 60
error_suppression_limit = 1000000
"""

PART = """[pipeline:main]
pipeline = server
[app:server]
use = egg:swift#{part}
"""

# The cache is required, but need not be there. Lists come in short pages, so that a few objects need several.
PROXY = """[pipeline:main]
pipeline = cache s3api tempauth proxy-server
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = {region}
max_bucket_listing = 3
allow_multipart_uploads = false
[filter:tempauth]
use = egg:swift#tempauth
user_{user} = {secret} .admin
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
"""


def write_ring(folder, part, port):
    """Swift looks up in it which server keeps what."""
    builder = RingBuilder(part_power=1, replicas=1, min_part_hours=0)
    here = {"ip": "127.0.0.1", "port": port, "replication_ip": "127.0.0.1", "replication_port": port}
    builder.add_dev({"id": 0, "region": 1, "zone": 1, "weight": 1, "device": "disk", **here})
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, part + ".ring.gz"))


def serve(folder, part, text, listener):
    path = os.path.join(folder, part + ".conf")
    with open(path, "w") as file:
        file.write(COMMON.format(folder=folder) + text)
    options = {"protocol": SwiftHttpProtocol, "capitalize_response_headers": False}
    eventlet.spawn(wsgi.server, listener, loadapp(path), NullLogger(), **options)


def main(folder, user, secret, region):
    utils.eventlet_monkey_patch()
    os.mkdir(os.path.join(folder, "disk"))
    parts = {part: eventlet.listen(("127.0.0.1", 0)) for part in ("account", "container", "object")}
    for part, listener in parts.items():
        write_ring(folder, part, listener.getsockname()[1])
    for part, listener in parts.items():
        serve(folder, part, PART.format(part=part), listener)
    s3 = eventlet.listen(("127.0.0.1", 0))
    proxy = PROXY.format(user=user.replace(":", "_"), secret=secret, region=region)
    serve(folder, "proxy", proxy, s3)
    print(s3.getsockname()[1], flush=True)
    eventlet.event.Event().wait()


main(*sys.argv[1:])
