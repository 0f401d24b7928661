// Node's HTTP module. An import statement would read every name that it exports, and some of them load a whole
// browser-like client, which would add tens of milliseconds to each start.
export const http = process.getBuiltinModule('node:http');
