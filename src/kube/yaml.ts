// YAML, for modules that load it only when they need it. Imported as `yaml` itself, a bundle would have no names in it.
export { parse, stringify } from 'yaml';
