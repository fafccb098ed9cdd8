"""The foreign protobuf implementation of the contract tests: Debian's Python protobuf, with descriptors from protoc.

Reads one JSON request per line and answers with one JSON line; ends when its input ends. It shares nothing with our
code but the proto files. Usage: python-codec.py DESCRIPTOR_SET
"""

import base64
import json
import math
import struct
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor as Field

WELL_KNOWN = "google.protobuf"
SCALARS = {
    Field.TYPE_STRING: "string",
    Field.TYPE_BYTES: "bytes",
    Field.TYPE_BOOL: "bool",
    Field.TYPE_INT32: "int32",
    Field.TYPE_INT64: "int64",
    Field.TYPE_DOUBLE: "double",
    Field.TYPE_ENUM: "enum",
    Field.TYPE_MESSAGE: "message",
}


def pool_of(files):
    pool = descriptor_pool.DescriptorPool()
    for file in files:
        pool.Add(file)
    return pool


def classes_of(pool, files):
    """Full name -> class, for the messages at the top of each file."""
    factory = message_factory.MessageFactory(pool)
    classes = {}
    for file in files:
        for message in file.message_type:
            name = f"{file.package}.{message.name}"
            classes[name] = factory.GetPrototype(pool.FindMessageTypeByName(name))
    return classes


def name_of(field):
    # The loader's well-known types have their JSON names.
    return field.camelcase_name if field.file.package == WELL_KNOWN else field.name


def is_map(field):
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def describe(field):
    if is_map(field):
        entry = field.message_type.fields_by_name
        return {"number": field.number, "kind": "map", "name": name_of(field), "values": describe(entry["value"])}
    description = {
        "number": field.number,
        "name": name_of(field),
        "kind": SCALARS[field.type],
        "repeated": field.label == Field.LABEL_REPEATED,
        "presence": field.has_presence,
        "oneof": field.containing_oneof.name if field.containing_oneof else "",
    }
    if field.message_type is not None:
        description["type"] = field.message_type.full_name
    if field.enum_type is not None:
        description["type"] = field.enum_type.full_name
        description["numbers"] = {value.name: value.number for value in field.enum_type.values}
    return description


def schema(pool, classes, services):
    return {
        "messages": {name: [describe(field) for field in cls.DESCRIPTOR.fields] for name, cls in classes.items()},
        "methods": {
            method.full_name: [method.input_type.full_name, method.output_type.full_name]
            for service in services
            for method in pool.FindServiceByName(service).methods
        },
    }


def plain_value(field, value):
    if field.type == Field.TYPE_MESSAGE:
        return plain(value)
    if field.type == Field.TYPE_BYTES:
        return base64.b64encode(value).decode()
    if field.type == Field.TYPE_DOUBLE:
        return "nan" if math.isnan(value) else struct.pack(">d", value).hex()
    return value


def plain(message):
    """What the message says, without the values that proto3 does not distinguish from absent ones."""
    out = {}
    for field, value in message.ListFields():
        if is_map(field):
            of = field.message_type.fields_by_name["value"]
            content = {key: plain_value(of, value[key]) for key in value}
        elif field.label == Field.LABEL_REPEATED:
            content = [plain_value(field, item) for item in value]
        else:
            content = plain_value(field, value)
        out[name_of(field)] = content
    return out


def newer_files(files):
    """The same files as a later version of the platform might have them: more fields in every message of its own."""
    newer = []
    for file in files:
        copy = descriptor_pb2.FileDescriptorProto()
        copy.CopyFrom(file)
        newer.append(copy)
        if file.package == WELL_KNOWN:
            continue
        for message in copy.message_type:
            own = f".{file.package}.{message.name}"
            for number, name, kind in (
                (100, "later_text", Field.TYPE_STRING),
                (1000, "later_long", Field.TYPE_INT64),
                (1001, "later_double", Field.TYPE_DOUBLE),
                (1002, "later_fixed", Field.TYPE_FIXED32),
                (536870911, "later_self", Field.TYPE_MESSAGE),
            ):
                message.field.add(
                    name=name, number=number, type=kind, label=1, type_name=own if kind == Field.TYPE_MESSAGE else None
                )
    return newer


def grow(message):
    """Sets the later fields of a message and of all messages in it."""
    for field, value in list(message.ListFields()):
        if field.message_type is None or field.message_type.file.package == WELL_KNOWN or is_map(field):
            continue
        for item in value if field.label == Field.LABEL_REPEATED else [value]:
            grow(item)
    message.later_text = "later \u2713"
    message.later_long = -1
    message.later_double = 0.5
    message.later_fixed = 4294967295
    message.later_self.later_text = "inside"


def main():
    with open(sys.argv[1], "rb") as source:
        files = list(descriptor_pb2.FileDescriptorSet.FromString(source.read()).file)
    pool = pool_of(files)
    classes = classes_of(pool, files)
    services = [f"{file.package}.{service.name}" for file in files for service in file.service]
    changed = newer_files(files)
    newer = classes_of(pool_of(changed), changed)

    def round_trip(request):
        replies = []
        for text in request["messages"]:
            message = classes[request["type"]].FromString(base64.b64decode(text))
            replies.append({"plain": plain(message), "bytes": base64.b64encode(message.SerializeToString()).decode()})
        return replies

    def later(request):
        replies = []
        for text in request["messages"]:
            message = newer[request["type"]].FromString(base64.b64decode(text))
            grow(message)
            replies.append(base64.b64encode(message.SerializeToString()).decode())
        return replies

    def reflected(request):
        given = [descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(text)) for text in request["files"]]
        own = pool_of(given)
        return schema(own, classes_of(own, given), services)

    operations = {
        "schema": lambda _: schema(pool, classes, services),
        "round_trip": round_trip,
        "later": later,
        "reflected": reflected,
    }
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = {"value": operations[request["operation"]](request)}
        except Exception as error:  # pylint: disable=broad-except
            reply = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


main()
