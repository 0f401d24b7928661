// Node's module for HTTP. An import statement would read every name that it exports, and some of them load a whole
// browser-like client: tens of milliseconds of each start, for nothing.
export const http = process.getBuiltinModule('node:http');
