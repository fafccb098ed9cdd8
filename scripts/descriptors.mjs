// Makes the file descriptors that server reflection publishes. Those of @grpc/proto-loader 0.8.1 cannot be used: they name
// no dependencies (grpc-node issue 2595), call map entries by the wrong name and have the fields of the well-known types
// in camel case, and strict clients refuse each of these. Delete this file when the loader gives right ones.
import { createRequire } from 'node:module';

/**
 * The parts of protobuf's descriptor messages that are mended here.
 * @typedef {{ name: string, number: number, typeName?: string }} FieldDescriptor
 * @typedef {{ name: string }} EnumDescriptor
 * @typedef {{ name: string, field: FieldDescriptor[], nestedType?: MessageDescriptor[], enumType?: EnumDescriptor[], options?: { mapEntry?: boolean } | null }} MessageDescriptor
 * @typedef {{ name: string, method: { inputType: string, outputType: string }[] }} ServiceDescriptor
 * @typedef {{ name: string, package: string, syntax: string, dependency?: string[], messageType?: MessageDescriptor[], enumType?: EnumDescriptor[], service?: ServiceDescriptor[] }} FileDescriptor
 */

/**
 * The parts of protobufjs that are used here.
 * @typedef {{ resolveAll(): void, toDescriptor(syntax: string): { file: FileDescriptor[] } }} Root
 * @typedef {{ Root: new () => { loadSync(files: string[], options: { keepCase: boolean }): Root } }} Protobuf
 * @typedef {{ FileDescriptorProto: { fromObject(file: FileDescriptor): object, encode(message: object): { finish(): Uint8Array } } }} Descriptors
 */

// The loader's own protobufjs, whichever version that is.
/** @type {(name: string) => unknown} */
const ofLoader = createRequire(createRequire(import.meta.url).resolve('@grpc/proto-loader'));
const { Root } = /** @type {Protobuf} */ (ofLoader('protobufjs'));
const { FileDescriptorProto } = /** @type {Descriptors} */ (ofLoader('protobufjs/ext/descriptor'));

const WELL_KNOWN_PACKAGE = 'google.protobuf';
/** @type {Readonly<Record<string, string>>} */
const WELL_KNOWN_FILES = {
  ListValue: 'google/protobuf/struct.proto',
  NullValue: 'google/protobuf/struct.proto',
  Struct: 'google/protobuf/struct.proto',
  Timestamp: 'google/protobuf/timestamp.proto',
  Value: 'google/protobuf/struct.proto',
};

/**
 * The descriptors of the protos and of all they import, one file per package, what is imported first.
 * @param {readonly string[]} protos - absolute paths
 * @returns {string[]} each in base64
 */
export function fileDescriptors(protos) {
  const root = new Root().loadSync([...protos], { keepCase: true });
  root.resolveAll();
  const files = root.toDescriptor('proto3').file.flatMap(splitWellKnown);
  const homes = symbolsOf(files);
  for (const file of files) mendFile(file, homes);
  return inImportOrder(files).map((file) => {
    const bytes = FileDescriptorProto.encode(FileDescriptorProto.fromObject(file)).finish();
    return Buffer.from(bytes).toString('base64');
  });
}

/**
 * The loader puts a whole package into one file, but clients bring the well-known types along under their own files.
 * @param {FileDescriptor} file
 */
function splitWellKnown(file) {
  if (file.package !== WELL_KNOWN_PACKAGE) return [file];
  /** @type {Map<string, FileDescriptor & { messageType: MessageDescriptor[], enumType: EnumDescriptor[] }>} */
  const parts = new Map();
  /** @param {string} symbol */
  const partOf = (symbol) => {
    const name = WELL_KNOWN_FILES[symbol];
    if (name === undefined) throw new Error(`give the file of ${WELL_KNOWN_PACKAGE}.${symbol} in scripts/descriptors.mjs`);
    const part = parts.get(name) ?? { name, package: file.package, syntax: file.syntax, messageType: [], enumType: [] };
    parts.set(name, part);
    return part;
  };
  for (const message of file.messageType ?? []) {
    for (const field of message.field) field.name = snakeCase(field.name);
    partOf(message.name).messageType.push(message);
  }
  for (const enumeration of file.enumType ?? []) partOf(enumeration.name).enumType.push(enumeration);
  return [...parts.values()];
}

/**
 * Full name of each message and enum → file that holds it.
 * @param {readonly FileDescriptor[]} files
 */
function symbolsOf(files) {
  /** @type {Map<string, string>} */
  const homes = new Map();
  /** @type {(file: string, scope: string, messages?: MessageDescriptor[], enums?: EnumDescriptor[]) => void} */
  const add = (file, scope, messages = [], enums = []) => {
    for (const enumeration of enums) homes.set(`${scope}.${enumeration.name}`, file);
    for (const message of messages) {
      homes.set(`${scope}.${message.name}`, file);
      add(file, `${scope}.${message.name}`, message.nestedType, message.enumType);
    }
  };
  for (const file of files) add(file.name, file.package, file.messageType, file.enumType);
  return homes;
}

/**
 * Gives a file absolute type names, map entries as protoc names them, and its dependencies.
 * @param {FileDescriptor} file
 * @param {ReadonlyMap<string, string>} homes
 */
function mendFile(file, homes) {
  /** @type {Set<string>} */
  const dependencies = new Set();
  /** @type {(name: string, scope: string) => string} */
  const absolute = (name, scope) => {
    if (name.startsWith('.')) return absolute(name.slice(1), '');
    // From the inside out, as protobuf looks names up; the last round looks for the name as it stands.
    for (let around = scope === '' ? '' : `${scope}.`; ; around = outer(around)) {
      const home = homes.get(around + name);
      if (home !== undefined) {
        if (home !== file.name) dependencies.add(home);
        return `.${around}${name}`;
      }
      if (around === '') throw new Error(`${file.name} uses ${name}, which no proto defines`);
    }
  };
  /** @type {(message: MessageDescriptor, scope: string) => void} */
  const mendMessage = (message, scope) => {
    const full = `${scope}.${message.name}`;
    for (const nested of message.nestedType ?? []) mendMessage(nested, full);
    for (const field of message.field) {
      if (field.typeName === undefined || field.typeName === '') continue;
      field.typeName = absolute(field.typeName, full);
      const entry = message.nestedType?.find(({ name, options }) => options?.mapEntry === true && field.typeName === `.${full}.${name}`);
      if (entry === undefined) continue;
      entry.name = `${pascalCase(field.name)}Entry`;
      field.typeName = `.${full}.${entry.name}`;
    }
  };
  for (const message of file.messageType ?? []) mendMessage(message, file.package);
  for (const method of (file.service ?? []).flatMap((service) => service.method)) {
    method.inputType = absolute(method.inputType, file.package);
    method.outputType = absolute(method.outputType, file.package);
  }
  file.dependency = [...dependencies].sort();
}

/**
 * @param {readonly FileDescriptor[]} files
 * @returns {FileDescriptor[]}
 */
function inImportOrder(files) {
  /** @type {FileDescriptor[]} */
  const ordered = [];
  /** @param {FileDescriptor} file */
  const visit = (file) => {
    if (ordered.includes(file)) return;
    for (const dependency of files.filter(({ name }) => file.dependency?.includes(name))) visit(dependency);
    ordered.push(file);
  };
  files.forEach(visit);
  return ordered;
}

/**
 * `a.b.` → `a.` → empty
 * @param {string} scope
 */
function outer(scope) {
  return scope.slice(0, scope.lastIndexOf('.', scope.length - 2) + 1);
}

/** @param {string} name */
function snakeCase(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** @param {string} name */
function pascalCase(name) {
  return name.replace(/(?:^|_)([a-z])/g, (_match, /** @type {string} */ letter) => letter.toUpperCase());
}
