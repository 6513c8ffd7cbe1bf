"""Serves a Portolan plugin over gRPC (service.module.v1, see ../module.proto).

Needs grpcio and protobuf only (Debian: python3-grpcio). The messages are described here, so that nothing has to be
generated; code that protoc makes from module.proto works just as well.
"""
import json
from concurrent.futures import ThreadPoolExecutor

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SERVICE = "service.module.v1.ModuleService"
# Requests are about 64 hosts: by default gRPC servers take no more than 4 MiB.
MAX_REQUEST = 64 * 1024 * 1024

_FIELD = descriptor_pb2.FieldDescriptorProto
_STRING, _BYTES, _MESSAGE = _FIELD.TYPE_STRING, _FIELD.TYPE_BYTES, _FIELD.TYPE_MESSAGE


def _messages():
    file = descriptor_pb2.FileDescriptorProto(name="portolan/module.proto", package="service.module.v1", syntax="proto3")

    def add(name, fields):
        message = file.message_type.add(name=name)
        for number, (field, kind, repeated) in enumerate(fields, 1):
            label = _FIELD.LABEL_REPEATED if repeated else _FIELD.LABEL_OPTIONAL
            one = message.field.add(name=field, number=number, type=kind, label=label)
            if kind == _MESSAGE:
                one.type_name = f".service.module.v1.{name}.ContextEntry"
                entry = message.nested_type.add(name="ContextEntry")
                entry.options.map_entry = True
                entry.field.add(name="key", number=1, type=_STRING, label=_FIELD.LABEL_OPTIONAL)
                entry.field.add(name="value", number=2, type=_BYTES, label=_FIELD.LABEL_OPTIONAL)

    add("Empty", [])
    add("ExecuteRequest", [("context", _MESSAGE, True), ("config", _BYTES, False)])
    add("ExecuteResponse", [("context", _MESSAGE, True), ("error", _STRING, False)])
    texts = [(name, _STRING, False) for name in ("name", "description", "version", "type")]
    keys = [(name, _STRING, True) for name in ("requires", "provides")]
    add("Metadata", texts + keys + [("config_schema", _BYTES, False)])
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    find = pool.FindMessageTypeByName
    names = ("Empty", "ExecuteRequest", "ExecuteResponse", "Metadata")
    return [factory.GetPrototype(find(f"service.module.v1.{name}")) for name in names]


Empty, ExecuteRequest, ExecuteResponse, Metadata = _messages()


class Plugin:
    """What a plugin is: override the fields and execute."""

    name = ""  # of the module type
    description = ""
    version = "1.0.0"
    type = "evaluation"  # discovery, scanner, parser, fingerprint, profiler, evaluation
    requires = []  # keys; "a|b" = at least one
    provides = []
    options = {}  # option name -> {Type, Description, Default, Required, Min, Max, Enum}

    def execute(self, context, config):
        """Gets lists of items by key, about up to 64 hosts, and returns such lists. An exception fails the node."""
        raise NotImplementedError


def serve(plugin, address, service=SERVICE):
    """Serves until the process ends. Calls run in 4 threads."""

    def get_metadata(_request, _context):
        texts = {name: getattr(plugin, name) for name in ("name", "description", "version", "type")}
        schema = json.dumps(plugin.options).encode()
        return Metadata(**texts, requires=plugin.requires, provides=plugin.provides, config_schema=schema)

    def execute(request, _context):
        try:
            inputs = {key: json.loads(items) for key, items in request.context.items()}
            outputs = plugin.execute(inputs, json.loads(request.config or b"{}"))
            return ExecuteResponse(context={key: json.dumps(items).encode() for key, items in outputs.items()})
        except Exception as error:  # the scan shows it; the plugin goes on
            return ExecuteResponse(error=f"{type(error).__name__}: {error}")

    def unary(function, request):
        return grpc.unary_unary_rpc_method_handler(
            function, request_deserializer=request.FromString, response_serializer=lambda message: message.SerializeToString()
        )

    methods = {"GetMetadata": unary(get_metadata, Empty), "Execute": unary(execute, ExecuteRequest)}
    server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.max_receive_message_length", MAX_REQUEST)])
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, methods)])
    host = address.rpartition(":")[0]
    port = server.add_insecure_port(address)
    server.start()
    print(f"{plugin.name} listens on {host}:{port}", flush=True)
    server.wait_for_termination()
