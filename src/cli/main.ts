// The command line. Each command is thin: it parses, calls a room, prints.
export async function main(_argv: readonly string[]): Promise<void> {}
