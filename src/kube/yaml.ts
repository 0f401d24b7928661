// YAML, for modules that load it lazily. If they imported `yaml` itself, a bundle would lose its named exports.
export { parse, stringify } from 'yaml';
