// `/openapi/v3`: the index, and a document for each group and version. Documents are made on first request.
import { openApiV3Document } from '../../crd/index.ts';
import { apiVersionOf } from '../../registry.ts';
import type { Registry } from '../../registry.ts';
import { json } from '../wire/represent.ts';

export class OpenApi {
  readonly #registry: Registry;
  readonly #documents = new Map<string, Buffer>();
  #generation = -1;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** The URLs of all documents. */
  index(): object {
    const names = new Set(this.#registry.all().map((resource) => documentName(resource)));
    // Hashing would require making every document. The stamp changes whenever any document may have changed.
    const stamp = `${process.pid}-${this.#registry.generation}`;
    const paths = [...names].map((name) => [name, { serverRelativeURL: `/openapi/v3/${name}?hash=${stamp}` }]);
    return { paths: Object.fromEntries(paths) };
  }

  /** The document of `api/v1` or `apis/{group}/{version}`; undefined for an unknown version. */
  document(name: string): Buffer | undefined {
    if (this.#generation !== this.#registry.generation) {
      this.#documents.clear();
      this.#generation = this.#registry.generation;
    }
    let document = this.#documents.get(name);
    if (document === undefined) {
      const resources = this.#registry.all().filter((resource) => documentName(resource) === name);
      const [first] = resources;
      if (first === undefined) return undefined;
      document = json(openApiV3Document(first.group, first.version, resources));
      this.#documents.set(name, document);
    }
    return document;
  }
}

function documentName(resource: { readonly group: string; readonly version: string }): string {
  return `${resource.group === '' ? 'api' : 'apis'}/${apiVersionOf(resource)}`;
}
